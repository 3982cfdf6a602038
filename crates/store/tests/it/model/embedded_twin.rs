//! The embedded store beside core: one request after the other, through the methods that the server uses.

use std::time::Duration;

use ropeline_core::{Command, Header, Outcome, Policy, Reply, ServerId, View};
use ropeline_store::{Operation, Store, StoreError};
use ropeline_testing::line::Violation;
use tokio::runtime::Runtime;

use super::{
    compared::{Loss, Reference, Settling, Twin},
    facts::{difference, durable_facts},
};
use crate::given::Given;

/// A store in files of its own.
pub(super) struct EmbeddedTwin<'a> {
    runtime: &'a Runtime,
    given: Given,
}

impl<'a> EmbeddedTwin<'a> {
    pub(super) fn new(runtime: &'a Runtime, policy: Policy) -> Self {
        let given = runtime.block_on(Given::room(policy));
        Self { runtime, given }
    }

    /// The room's header: as the store shows it, or of a deleted room as it is kept.
    fn header(&self) -> Header {
        let Given { store, room, .. } = &self.given;
        match store.view(room) {
            Some(seen) => seen.view.header.clone(),
            None => store.room(room).unwrap().header().clone(),
        }
    }

    async fn reply(&self, command: Command) -> Result<Reply, StoreError> {
        let Given { store, room, .. } = &self.given;
        Ok(match command {
            Command::Join(joiners) => {
                let (joined, _) = store.join(room, joiners[0].clone()).await?;
                Reply::Joined(vec![joined])
            }
            Command::Renew(holders) => {
                let standing = store.renew(room, holders[0].clone()).await?;
                Reply::Standing(vec![(holders[0].clone(), standing)])
            }
            Command::Restore(holders) => {
                let standing = store.ask(room, holders[0].clone()).await?;
                // That they were there has only been noted down.
                store.settle(room).await?;
                Reply::Standing(vec![(holders[0].clone(), standing)])
            }
            Command::Mark(ordinals) => {
                store.mark(room, ordinals[0]);
                store.settle(room).await.map(|()| Reply::Done)?
            }
            Command::Keep { holder, business } => {
                let standing = store.keep(room, holder.clone(), business).await?;
                Reply::Standing(vec![(holder, standing)])
            }
            Command::Leave(holder) => Reply::Departed(store.leave(room, holder).await?),
            Command::Finish(holder) => Reply::Departed(store.finish(room, holder).await?),
            Command::Revoke(visitor) => Reply::Revoked(store.revoke(room, visitor).await?),
            Command::Import { rows, grace } => {
                Reply::Imported(store.import(room, rows, grace).await?)
            }
            Command::Settle => store.settle(room).await.map(|()| Reply::Done)?,
            Command::Merge(memory) => store.merge(room, memory).await.map(|()| Reply::Done)?,
            Command::ChangePolicy { from, to } => {
                let changed = store.change_policy(room, from, to).await?;
                if changed { Reply::Done } else { Reply::Stale }
            }
            Command::Create { policy, digest } => {
                Reply::Created(store.create(room, policy, digest).await?)
            }
            Command::Stock(left) => store.stock(room, left).await.map(|()| Reply::Done)?,
            command => {
                store.operate(room, operation(command)).await?;
                Reply::Done
            }
        })
    }
}

fn operation(command: Command) -> Operation {
    match command {
        Command::Admit(count) => Operation::Admit(count),
        Command::Pause => Operation::Pause,
        Command::Resume => Operation::Resume,
        Command::Open => Operation::Open,
        Command::Close => Operation::Close,
        Command::Drain => Operation::Drain,
        Command::Reset => Operation::Reset,
        Command::Delete => Operation::Delete,
        Command::SetPolicy { policy, digest } => Operation::SetPolicy { policy, digest },
        command => panic!("{command:?} is not an operator's"),
    }
}

impl Twin for EmbeddedTwin<'_> {
    type Copy = ();

    fn settling(&self) -> Settling {
        Settling::Whole
    }

    /// Whoever asks the store asks for one place.
    fn parts(&self, command: Command) -> Vec<Command> {
        fn each<T>(all: Vec<T>, command: fn(Vec<T>) -> Command) -> Vec<Command> {
            all.into_iter().map(|one| command(vec![one])).collect()
        }
        match command {
            Command::Join(joiners) => each(joiners, Command::Join),
            Command::Renew(holders) => each(holders, Command::Renew),
            Command::Restore(holders) => each(holders, Command::Restore),
            Command::Mark(ordinals) => each(ordinals, Command::Mark),
            // One process has all that it has acknowledged, so this only shows that they are there.
            Command::Retell(holders) => {
                let ordinals = holders.into_iter().map(|holder| holder.ordinal);
                each(ordinals.collect(), Command::Mark)
            }
            // There is no such room, and so nothing to merge into.
            Command::Merge(_) if self.given.store.view(&self.given.room).is_none() => {
                vec![Command::Settle]
            }
            command => vec![command],
        }
    }

    fn apply(&mut self, part: Command) -> Outcome {
        let missing = StoreError::NoSuchRoom(self.given.room.clone());
        let reply = match self.runtime.block_on(self.reply(part)) {
            Err(error) if error == missing => Reply::NoRoom,
            reply => reply.unwrap(),
        };
        let header = self.header();
        Outcome {
            reply,
            more: false,
            version: header.version,
            head: header.head,
            issued: header.issued,
        }
    }

    fn picture(&mut self) -> Option<View> {
        let seen = self.given.store.view(&self.given.room)?;
        Some(View::clone(&seen.view))
    }

    fn server(&mut self) -> ServerId {
        self.header().server
    }

    fn copy(&mut self) {}

    fn advance(&mut self, by: Duration) {
        self.given.clock.advance(by);
    }

    /// Renewals and presence may be a second behind after a crash, and room time with them; what was
    /// acknowledged may not. The reference goes on from what the files say.
    fn suffer(&mut self, _: u64, reference: &mut Reference<()>) -> Result<Loss, Violation> {
        self.given = self.given.crash_of();
        let expected = durable_facts(&reference.view());
        reference.room = self.given.store.room(&self.given.room).unwrap();
        match difference(&durable_facts(&reference.view()), &expected) {
            None => Ok(Loss::Nothing),
            Some(seen) => Err(Violation {
                promise: "what was acknowledged is there after a crash",
                seen,
            }),
        }
    }
}
