//! What the gate does while the store is away.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use ropeline_core::{Ordinal, RoomId, Timestamp, View};
use ropeline_store::{Health, Store, StoreError};

use crate::config::{GateRule, OutageSettings};

/// How the gate answers about somebody whom the store could not be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not known, and therefore no.
    Refuse,
    /// Yes, whoever it is.
    LetThrough,
    /// Yes, since they may have been inside when the store was last heard of.
    Leased {
        /// As long as that counts, by the node's clock.
        until: Timestamp,
    },
}

/// The operator's rule for outages, and the one that is under way.
#[derive(Debug)]
pub(crate) struct Outage {
    settings: OutageSettings,
    under_way: AtomicBool,
    /// How many were let in unchecked since it began.
    unchecked: AtomicU64,
}

impl Outage {
    pub(crate) fn new(settings: OutageSettings) -> Self {
        Self {
            settings,
            under_way: AtomicBool::new(false),
            unchecked: AtomicU64::new(0),
        }
    }

    /// The rule, as the operator wrote it.
    pub(crate) fn rule(&self) -> GateRule {
        self.settings.gate
    }

    /// Whether the gate stands open to everybody just now.
    pub(crate) fn opens_gate(&self, health: &Health) -> bool {
        self.rule() == GateRule::Open && *health != Health::Up
    }

    /// What to do with somebody about whom the store answered this.
    pub(crate) fn verdict(&self, error: &StoreError, lease: Option<Timestamp>) -> Verdict {
        match (self.rule(), error) {
            (GateRule::Open, StoreError::Unavailable(_)) => Verdict::LetThrough,
            (GateRule::Lease, StoreError::Unavailable(_) | StoreError::Overloaded) => {
                lease.map_or(Verdict::Refuse, |until| Verdict::Leased { until })
            }
            // Nor does a rush open the gate to those who make it.
            _ => Verdict::Refuse,
        }
    }

    /// Up to when a place counts as inside by what this node last heard, if it still does.
    pub(crate) fn lease(
        &self,
        store: &dyn Store,
        (room, ordinal): (&RoomId, Ordinal),
        view: &View,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let heard = store.leased(room, ordinal)?;
        self.lease_from(heard, view.header.policy.pass_ttl, now)
    }

    fn lease_from(
        &self,
        heard: Timestamp,
        pass_ttl: Duration,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let until = heard + self.settings.lease_max.unwrap_or(pass_ttl);
        (now < until && self.rule() == GateRule::Lease).then_some(until)
    }

    /// Takes note of one who was let in unchecked.
    pub(crate) fn count(&self, health: &Health) {
        self.unchecked.fetch_add(1, Ordering::Relaxed);
        if *health != Health::Up {
            self.observe(health);
        }
    }

    /// Takes note of how the store is, and says once for each outage what that means for the gate.
    pub(crate) fn observe(&self, health: &Health) {
        let away = *health != Health::Up;
        if self.under_way.swap(away, Ordering::Relaxed) == away {
            return;
        }
        match (self.rule(), health) {
            (GateRule::Closed, _) => {}
            (GateRule::Open, Health::Down(reason)) => tracing::error!(
                %reason,
                "the store is away, and on_store_error is \"open\": EVERYBODY IS LET THROUGH THE GATE until it is back"
            ),
            (GateRule::Lease, Health::Down(reason)) => tracing::warn!(
                %reason,
                "the store is away: the gate goes by what it last heard, for a while, and lets nobody new in"
            ),
            (_, Health::Up) => {
                let unchecked = self.unchecked.swap(0, Ordering::Relaxed);
                tracing::warn!(
                    unchecked,
                    "the store is back: the gate checks everybody again"
                );
            }
        }
    }

    /// What an operator should know of the gate while the store is away.
    pub(crate) fn said_of_gate(&self) -> Option<&'static str> {
        match self.rule() {
            GateRule::Closed => None,
            GateRule::Open => Some("everybody is let through (on_store_error is \"open\")"),
            GateRule::Lease => Some(
                "who may have been inside is let through for a while (on_store_error is \"lease\")",
            ),
        }
    }
}

#[cfg(test)]
mod cut;
#[cfg(test)]
mod served;
#[cfg(test)]
mod tests;
