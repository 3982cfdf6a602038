//! Confirmations by the Sentinels, and how old they may be.

use super::{Fence, Repair};
use crate::fleet::{
    network::{Named, Network},
    schedule::Millis,
};

/// How old the last confirmation by the Sentinels may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// For joins, departures and operators.
    Acknowledge,
    /// For the gate, for settling and for looking.
    Lease,
}

/// The last confirmation by the Sentinels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vouch {
    pub(super) named: Named,
    pub(super) asked_at: Millis,
}

/// There is no answer that counts, or no room.
#[derive(Debug)]
pub(super) struct Failed;

impl Freshness {
    fn age_max(self) -> Millis {
        match self {
            Self::Acknowledge => 500,
            Self::Lease => 2_000,
        }
    }
}

impl Fence {
    /// Asks the Sentinels, as is done several times a second.
    pub(super) fn review(&mut self, network: &Network) {
        if let Some(named) = network.ask_sentinels(self.number) {
            self.vouch = Some(Vouch {
                named,
                asked_at: network.now,
            });
        }
    }

    /// The server that may be called, if its confirmation is fresh enough.
    pub(super) fn reach(&mut self, fresh: Freshness, network: &Network) -> Result<usize, Failed> {
        let reaches = |vouch: Option<Vouch>| {
            vouch.is_some_and(|vouch| network.reaches(self.number, vouch.named.server))
        };
        if !self.is_vouched(fresh, network.now) || !reaches(self.vouch) {
            self.review(network);
        }
        let vouch = self.vouch.ok_or(Failed)?;
        let usable =
            self.is_vouched(fresh, network.now) && network.reaches(self.number, vouch.named.server);
        usable.then_some(vouch.named.server).ok_or(Failed)
    }

    pub(super) fn is_vouched(&self, fresh: Freshness, now: Millis) -> bool {
        let repair = match fresh {
            Freshness::Acknowledge => Repair::FreshVouch,
            Freshness::Lease => Repair::Lease,
        };
        let young = |vouch: Vouch| now <= vouch.asked_at + fresh.age_max();
        self.vouch
            .is_some_and(|vouch| young(vouch) || !self.rule.has(repair))
    }

    pub(super) fn term(&self) -> u64 {
        let vouch = self.vouch.filter(|_| self.rule.has(Repair::Term));
        vouch.map_or(0, |vouch| vouch.named.term)
    }
}
