//! The stories, judged: for every topic there is a store that breaks its promise and is caught by a story of it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use ropeline_core::{
    Departure, Holder, ImportRow, Imported, Joined, Joiner, Ordinal, Policy, RoomId, Saved,
    Standing, Timestamp, UserId, View, Visitor,
};
use ropeline_store::{
    Found, Freeze, Health, Operation, Over, Seen, Store, StoreError,
    conformance::{self, Fixture},
};

use super::fixtures::OnFiles;

/// What a store does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    ListsRoomsBackwards,
    ShowsTheFirstPicture,
    LetsInOneMore,
    GivesEverybodyTheFirstPlace,
    ForgetsKeys,
    DoesNotRenew,
    KeepsNothing,
    NeverLetsGo,
    RenewsForWhoAsks,
    HearsNoMarks,
    ForgetsWhoLeft,
    PutsOutForOldTokens,
    MarksWhoIsLookedFor,
    HearsNoOperator,
    OverwritesPolicies,
    HearsNoMemory,
    HearsOfNoStock,
    NeverStopsTelling,
    TakesOverTwice,
    DoesNotFreeze,
    CountsJoinsTwice,
    StaysOpen,
    ForgetsEverythingInACrash,
    SharesNothing,
}

/// An honest store, and what is done wrong with it.
#[derive(Debug)]
struct Liar {
    store: Arc<dyn Store>,
    lie: Lie,
    aliases: AtomicU64,
    first_picture: OnceLock<Seen>,
}

impl Liar {
    /// A visitor whom nobody has seen before.
    fn alias(&self) -> Visitor {
        let n = self.aliases.fetch_add(1, Ordering::Relaxed);
        Visitor::stated(&UserId::parse(&format!("alias-{n}")).unwrap())
    }
}

#[async_trait]
impl Store for Liar {
    fn rooms(&self) -> Vec<RoomId> {
        let mut rooms = self.store.rooms();
        if self.lie == Lie::ListsRoomsBackwards {
            rooms.reverse();
        }
        rooms
    }

    fn view(&self, room: &RoomId) -> Option<Seen> {
        let seen = self.store.view(room)?;
        if self.lie == Lie::ShowsTheFirstPicture {
            return Some(self.first_picture.get_or_init(|| seen).clone());
        }
        Some(seen)
    }

    async fn refresh(&self, room: &RoomId) {
        self.store.refresh(room).await;
    }

    fn health(&self) -> Health {
        self.store.health()
    }

    async fn create(
        &self,
        room: &RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
    ) -> Result<bool, StoreError> {
        let mut policy = Policy::clone(&policy);
        if self.lie == Lie::LetsInOneMore {
            policy.active_max = policy.active_max.map(|cap| cap + 1);
        }
        self.store.create(room, Arc::new(policy), digest).await
    }

    async fn join(
        &self,
        room: &RoomId,
        mut joiner: Joiner,
    ) -> Result<(Joined, Standing), StoreError> {
        match self.lie {
            Lie::ForgetsKeys => joiner.key = None,
            Lie::CountsJoinsTwice => joiner.visitor = self.alias(),
            _ => {}
        }
        let (mut joined, standing) = self.store.join(room, joiner).await?;
        if self.lie == Lie::GivesEverybodyTheFirstPlace {
            joined = Joined::New(Ordinal(1));
        }
        Ok((joined, standing))
    }

    async fn renew(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        match self.lie {
            Lie::DoesNotRenew => self.store.ask(room, holder).await,
            _ => self.store.renew(room, holder).await,
        }
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: Holder,
        business: Duration,
    ) -> Result<Standing, StoreError> {
        match self.lie {
            Lie::KeepsNothing => self.store.ask(room, holder).await,
            Lie::NeverLetsGo if business.is_zero() => self.store.ask(room, holder).await,
            _ => self.store.keep(room, holder, business).await,
        }
    }

    async fn ask(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        match self.lie {
            Lie::RenewsForWhoAsks => self.store.renew(room, holder).await,
            _ => self.store.ask(room, holder).await,
        }
    }

    fn mark(&self, room: &RoomId, ordinal: Ordinal) {
        if self.lie != Lie::HearsNoMarks {
            self.store.mark(room, ordinal);
        }
    }

    async fn leave(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        match self.lie {
            Lie::ForgetsWhoLeft => Ok(Departure::Left),
            Lie::PutsOutForOldTokens => {
                self.store.revoke(room, holder.visitor).await?;
                Ok(Departure::Nothing)
            }
            _ => self.store.leave(room, holder).await,
        }
    }

    async fn finish(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.store.finish(room, holder).await
    }

    async fn find(&self, room: &RoomId, visitor: &Visitor) -> Result<Option<Found>, StoreError> {
        let found = self.store.find(room, visitor).await?;
        if let (Some(found), Lie::MarksWhoIsLookedFor) = (&found, self.lie) {
            self.store.mark(room, found.ordinal);
        }
        Ok(found)
    }

    async fn revoke(&self, room: &RoomId, visitor: Visitor) -> Result<Option<Ordinal>, StoreError> {
        self.store.revoke(room, visitor).await
    }

    async fn operate(&self, room: &RoomId, operation: Operation) -> Result<(), StoreError> {
        match self.lie {
            Lie::HearsNoOperator => Ok(()),
            _ => self.store.operate(room, operation).await,
        }
    }

    async fn change_policy(
        &self,
        room: &RoomId,
        from: Arc<Policy>,
        to: Arc<Policy>,
    ) -> Result<bool, StoreError> {
        if self.lie != Lie::OverwritesPolicies {
            return self.store.change_policy(room, from, to).await;
        }
        let (policy, digest) = (to, None);
        let set = Operation::SetPolicy { policy, digest };
        self.store.operate(room, set).await.map(|()| true)
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), StoreError> {
        match self.lie {
            Lie::HearsOfNoStock => Ok(()),
            Lie::NeverStopsTelling if left.is_none() => Ok(()),
            _ => self.store.stock(room, left).await,
        }
    }

    async fn merge(&self, room: &RoomId, memory: Arc<View>) -> Result<(), StoreError> {
        match self.lie {
            Lie::HearsNoMemory => Ok(()),
            _ => self.store.merge(room, memory).await,
        }
    }

    async fn import(
        &self,
        room: &RoomId,
        mut rows: Vec<ImportRow>,
        grace: Duration,
    ) -> Result<Vec<Imported>, StoreError> {
        if self.lie == Lie::TakesOverTwice {
            for row in &mut rows {
                row.visitor = self.alias();
            }
        }
        self.store.import(room, rows, grace).await
    }

    async fn freeze(&self, room: &RoomId, why: Freeze) -> Result<(), StoreError> {
        match self.lie {
            Lie::DoesNotFreeze => Ok(()),
            _ => self.store.freeze(room, why).await,
        }
    }

    async fn frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError> {
        self.store.frozen(room).await
    }

    async fn thaw(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.store.thaw(room).await
    }

    async fn export(&self, room: &RoomId) -> Result<Saved, StoreError> {
        self.store.export(room).await
    }

    async fn adopt(
        &self,
        room: &RoomId,
        saved: Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError> {
        self.store.adopt(room, saved, from, over).await
    }

    async fn discard(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.store.discard(room).await
    }

    async fn settle(&self, room: &RoomId) -> Result<(), StoreError> {
        self.store.settle(room).await
    }

    async fn close(&self) {
        if self.lie != Lie::StaysOpen {
            self.store.close().await;
        }
    }
}

/// An honest fixture, and the lie that is told about its store.
struct Lying {
    honest: OnFiles,
    lie: Lie,
    store: Arc<dyn Store>,
}

impl Lying {
    fn start(lie: Lie) -> Self {
        Self::about(OnFiles::start(), lie)
    }

    fn about(honest: OnFiles, lie: Lie) -> Self {
        let store = Arc::new(Liar {
            store: honest.store(),
            lie,
            aliases: AtomicU64::new(0),
            first_picture: OnceLock::new(),
        });
        Self { honest, lie, store }
    }
}

#[async_trait]
impl Fixture for Lying {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    async fn another_node(&mut self) -> Arc<dyn Store> {
        match self.lie {
            Lie::SharesNothing => OnFiles::start().store(),
            _ => self.store(),
        }
    }

    fn now(&self) -> Timestamp {
        self.honest.now()
    }

    fn advance(&self, by: Duration) {
        self.honest.advance(by);
    }

    async fn crash(&mut self) {
        if self.lie == Lie::ForgetsEverythingInACrash {
            *self = Self::start(self.lie);
        } else {
            self.honest.crash().await;
            self.store = self.honest.store();
        }
    }
}

/// Tests that lies are caught by stories, which an honest store passes.
macro_rules! caught {
    ($($lie:ident: $topic:ident::$story:ident),+ $(,)?) => {
        $(#[tokio::test]
        #[should_panic]
        #[expect(clippy::should_panic_without_expect, reason = "a story fails in its own words")]
        async fn $story() {
            let mut fixture = Lying::start(Lie::$lie);
            conformance::$topic::$story(&mut fixture).await;
        })+
    };
}

caught! {
    ListsRoomsBackwards: rooms::rooms_are_listed_by_name,
    ShowsTheFirstPicture: picture::every_change_has_a_version_of_its_own,
    LetsInOneMore: admission::never_more_are_inside_than_the_cap,
    LetsInOneMore: concurrency::settling_at_once_never_goes_above_the_cap,
    GivesEverybodyTheFirstPlace: join::ordinals_are_given_in_order,
    CountsJoinsTwice: concurrency::who_joins_a_thousand_times_at_once_has_one_place,
    ForgetsKeys: keys::a_key_is_not_used_for_another_request,
    DoesNotRenew: pass::a_used_pass_lasts_from_its_last_use,
    RenewsForWhoAsks: pass::asking_does_not_renew,
    KeepsNothing: pass::a_pass_is_kept_for_business,
    NeverLetsGo: pass::business_that_is_over_keeps_no_pass,
    HearsNoMarks: presence::of_a_thousand_in_line_those_who_are_there_are_let_in,
    ForgetsWhoLeft: departure::who_leaves_the_line_is_gone,
    PutsOutForOldTokens: departure::an_old_token_does_not_act_for_a_new_place,
    MarksWhoIsLookedFor: find::looking_for_a_visitor_marks_nobody,
    HearsNoOperator: operation::a_paused_room_lets_nobody_in,
    HearsNoOperator: deletion::a_deleted_room_is_not_there,
    OverwritesPolicies: policy::who_has_seen_another_policy_changes_nothing,
    HearsNoMemory: healing::what_a_node_saw_end_has_ended,
    HearsNoMemory: stock::what_a_node_heard_last_is_so,
    HearsOfNoStock: stock::a_room_shows_what_is_left,
    NeverStopsTelling: stock::what_is_told_no_more_is_not_shown,
    SharesNothing: stock::what_one_node_was_told_the_other_shows,
    ForgetsEverythingInACrash: stock::what_is_left_outlives_a_crash,
    TakesOverTwice: import::a_row_is_taken_over_once,
    DoesNotFreeze: freezing::a_frozen_room_takes_no_change,
    SharesNothing: nodes::who_joined_on_one_node_is_known_on_the_other,
    ForgetsEverythingInACrash: crash::everybody_is_at_the_same_place,
    StaysOpen: closing::a_closed_store_refuses,
}
