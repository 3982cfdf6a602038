//! Whether there is a room, which one it is, which policy it has, and what is said to be left.

use std::sync::Arc;

use ropeline_core::{Command, Reply, RoomState, Standing};

use super::{Epoch, Existence, Judge, Observation, Violation, ensure};

impl Judge {
    /// A deleted room answers nobody until it is made again, and that is the only thing that makes one.
    pub(super) fn heard_of_the_room(
        &mut self,
        command: &Command,
        reply: &Reply,
    ) -> Result<(), Violation> {
        let deleted = self.existence == Existence::Deleted;
        let right = match command {
            Command::Create { .. } => *reply == Reply::Created(deleted),
            // Whether a deleted room hears of what a node knows is its store's affair.
            Command::Merge(_) => true,
            _ => (*reply == Reply::NoRoom) == deleted,
        };
        ensure(right, "a deleted room answers nobody", || {
            format!("{command:?}: {reply:?}, {:?}", self.existence)
        })?;
        match (command, reply) {
            (Command::Delete, Reply::Done) => self.existence = Existence::Deleted,
            (Command::Create { .. }, Reply::Created(true)) => self.begin_again(),
            (Command::Stock(left), Reply::Done) => self.stock = *left,
            _ => {}
        }
        self.heard_of_the_policy(command, reply)
    }

    /// Nobody's token of before is good for a room that begins again.
    fn begin_again(&mut self) {
        let epoch = match self.epoch {
            Epoch::Is(epoch) => Epoch::After(epoch),
            epoch => epoch,
        };
        *self = Self {
            version: self.version,
            looked_at: self.looked_at,
            epoch,
            ..Self::default()
        };
    }

    fn heard_of_the_policy(&mut self, command: &Command, reply: &Reply) -> Result<(), Violation> {
        if let Command::ChangePolicy { from, .. } = command
            && let Some(ordered) = &self.ordered
        {
            let right = match reply {
                Reply::Done => from == ordered,
                Reply::Stale => from != ordered,
                _ => true,
            };
            ensure(right, "only who has seen a policy changes it", || {
                format!("{reply:?}: from {from:?}, it is {ordered:?}")
            })?;
        }
        if !matches!(reply, Reply::Done | Reply::Created(true)) {
            return Ok(());
        }
        if let Command::SetPolicy { policy, .. }
        | Command::ChangePolicy { to: policy, .. }
        | Command::Create { policy, .. } = command
        {
            self.ordered = Some(Arc::clone(policy));
        }
        Ok(())
    }

    /// The room that is seen is the one that is there, under the policy that was set.
    pub(super) fn one_room(&mut self, seen: &Observation) -> Result<(), Violation> {
        let header = &seen.view.header;
        let deleted = self.existence == Existence::Deleted;
        ensure(
            (header.state == RoomState::Deleted) == deleted,
            "a room is there until it is deleted, and not again before it is made",
            || format!("{:?}, it is {:?}", header.state, self.existence),
        )?;
        let right = match self.epoch {
            Epoch::Unseen => true,
            Epoch::Is(epoch) => header.epoch == epoch,
            Epoch::After(epoch) => header.epoch > epoch,
        };
        ensure(right, "only a new beginning has another epoch", || {
            format!("{:?}, it was {:?}", header.epoch, self.epoch)
        })?;
        self.epoch = Epoch::Is(header.epoch);
        if deleted {
            return nobody(seen);
        }
        ensure(
            header.stock == self.stock,
            "the stock is the one that was last told",
            || format!("{:?}, told was {:?}", header.stock, self.stock),
        )?;
        let ordered = self
            .ordered
            .get_or_insert_with(|| Arc::clone(&header.policy));
        ensure(
            *ordered == header.policy,
            "the policy is the one that was last set",
            || format!("{:?}, set was {ordered:?}", header.policy),
        )
    }
}

fn nobody(seen: &Observation) -> Result<(), Violation> {
    let view = &seen.view;
    let counts = (view.inside, view.aside, view.door, view.waiting());
    let live = seen
        .standings
        .iter()
        .find(|standing| matches!(standing, Standing::Live(_)));
    ensure(
        counts == (0, 0, 0, 0) && live.is_none(),
        "nobody has a place in a deleted room",
        || format!("{counts:?}, {live:?}"),
    )
}
