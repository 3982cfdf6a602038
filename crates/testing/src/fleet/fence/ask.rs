//! What a node answers to those who have a token.

use ropeline_core::{
    Command, Ending, Header, Holder, Live, Located, Ordinal, Reply, RoomState, Standing, View,
};

use super::{
    Fence, Repair,
    vouch::{Failed, Freshness, Vouch},
};
use crate::fleet::{
    network::{Network, clock},
    node::{Asking, Shown},
};

/// Whether a live pass is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Renew,
    Ask,
}

impl Fence {
    fn shown_view(&self) -> Option<&View> {
        self.shown.as_ref().map(|shown| &shown.view)
    }

    /// Whether the server that this node calls may have been replaced, perhaps by one that the
    /// client has seen.
    pub(super) fn may_be_replaced(&self, asking: &Asking, network: &Network) -> bool {
        let confirmed = |vouch: Vouch| vouch.asked_at == network.now;
        let newer = self.shows_older(asking) && !self.vouch.is_some_and(confirmed);
        let leased = self.is_vouched(Freshness::Lease, network.now);
        (newer || !leased) && self.rule.has(Repair::NothingFinal)
    }

    fn shows_older(&self, asking: &Asking) -> bool {
        let version = self.shown_view().map_or(0, |view| view.header.version);
        version < asking.version
    }

    /// A picture at least as new as what the client has seen, for a token that is not void.
    pub(super) fn claims(&mut self, asking: &Asking, network: &mut Network) -> Result<(), Shown> {
        if self.shows_older(asking) {
            self.review(network);
            if self.is_merging(network) {
                return Err(Shown::Nothing);
            }
            if self.follow(network).is_err() && self.shows_older(asking) {
                return Err(Shown::Nothing);
            }
        }
        let newest = self
            .header()
            .filter(|_| self.rule.has(Repair::NoDeletedView));
        let shown = self.shown_view().map(|view| &view.header);
        let header = newest.or(shown).ok_or(Shown::Nothing)?;
        match header.state {
            _ if header.voids(asking.epoch) => Err(Shown::Void),
            _ if header.epoch != asking.epoch && !self.rule.has(Repair::AnyEpoch) => {
                Err(Shown::Void)
            }
            RoomState::Deleted => Err(Shown::Nothing),
            _ => Ok(()),
        }
    }

    /// Whether joins are held, as far as this node knows.
    fn is_merging(&self, network: &Network) -> bool {
        let held = |view: &View| view.now(clock(network.now)) < view.header.joins_held_until;
        let view = self.picture.as_ref().map(|picture| &picture.view);
        view.is_some_and(held) && self.rule.has(Repair::OldViewWhileMerging)
    }

    /// Where a holder is, who may have to be asked for.
    pub(super) fn place(&mut self, asking: &Asking, how: How, network: &mut Network) -> Shown {
        let ordinal = asking.holder.ordinal;
        let Some(view) = self.shown_view() else {
            return Shown::Nothing;
        };
        let version = view.header.version;
        let may_be_lost = view.header.lost.is_some_and(|lost| ordinal > lost.after);
        match view.locate(ordinal) {
            Located::InLine { ahead, .. } if !may_be_lost => {
                return self.clamped(asking, ahead, version);
            }
            _ if self.may_be_replaced(asking, network) => return Shown::Nothing,
            Located::Ended(ending) => return Shown::Ended(ending),
            Located::Unknown if self.heed_signed(ordinal, network).is_err() => {
                return Shown::Nothing;
            }
            Located::InLine { .. } | Located::PassedBy | Located::Unknown => {}
        }
        match self.hear(asking, how, network) {
            Some(standing) => self.standing(asking, standing),
            None => Shown::Nothing,
        }
    }

    /// The room may not have given this ordinal, but it was signed: then it counts as given.
    pub(super) fn heed_signed(
        &mut self,
        ordinal: Ordinal,
        network: &mut Network,
    ) -> Result<(), Failed> {
        let issued = self.memory().ok_or(Failed)?.header.issued;
        if ordinal <= issued || !self.rule.has(Repair::SeenSigned) {
            return Ok(());
        }
        self.acknowledged = ordinal;
        self.merge(self.memory().ok_or(Failed)?, network)?;
        self.follow(network)
    }

    /// Asks the store. A genuine token is proof; another visitor who has the place may never have
    /// received it.
    fn hear(&mut self, asking: &Asking, how: How, network: &mut Network) -> Option<Standing> {
        let standing = self.hear_once(&asking.holder, how, network)?;
        if !self.is_disputed(asking.holder.ordinal, standing) {
            return Some(standing);
        }
        let retell = Command::Retell(vec![asking.holder.clone()]);
        self.perform(&retell, Freshness::Acknowledge, network)
            .ok()?;
        self.hear_once(&asking.holder, how, network)
    }

    fn hear_once(&mut self, holder: &Holder, how: How, network: &mut Network) -> Option<Standing> {
        let holders = vec![holder.clone()];
        let command = match how {
            How::Renew => Command::Renew(holders),
            How::Ask => Command::Restore(holders),
        };
        let lost = |header: &Header| header.lost.is_some() || holder.ordinal <= header.head;
        let may_be_lost = self.header().is_some_and(lost) && self.rule.has(Repair::PutBackIsRecent);
        let done = self.perform(&command, Freshness::Lease, network).ok()?;
        let Reply::Standing(standings) = done.reply else {
            return None;
        };
        let standing = standings[0].1;
        if may_be_lost && matches!(standing, Standing::Live(_)) {
            self.confirm(holder, network.now);
        }
        Some(standing)
    }

    fn is_disputed(&self, ordinal: Ordinal, standing: Standing) -> bool {
        let Some(picture) = self.picture.as_ref() else {
            return false;
        };
        let view = &picture.view;
        self.rule.has(Repair::Dispute)
            && view.header.lost.is_some()
            && matches!(standing, Standing::Ended(_))
            && !matches!(view.locate(ordinal), Located::Ended(_))
    }

    fn standing(&self, asking: &Asking, standing: Standing) -> Shown {
        let Some(view) = self.shown_view() else {
            return Shown::Nothing;
        };
        let version = view.header.version;
        match standing {
            Standing::Live(Live::Inside(_)) => Shown::Inside { version },
            Standing::Live(Live::AtDoor { .. } | Live::Aside(_)) => Shown::AtDoor { version },
            Standing::Live(Live::InLine) => match view.locate(asking.holder.ordinal) {
                Located::InLine { ahead, .. } => self.clamped(asking, ahead, version),
                _ => Shown::AtDoor { version },
            },
            Standing::Ended(ending) => Shown::Ended(ending),
            Standing::Lost | Standing::Unknown => Shown::Ended(Ending::Gone),
        }
    }

    fn clamped(&self, asking: &Asking, ahead: u64, version: u64) -> Shown {
        let most = asking.ahead.filter(|_| self.rule.has(Repair::Clamp));
        let ahead = most.map_or(ahead, |most| ahead.min(most));
        Shown::InLine { ahead, version }
    }
}
