//! What those who arrive do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::task::JoinSet;

use super::{
    idle::Idle,
    plan::{Errand, Plan},
    schedule::Arrival,
};
use crate::load::{
    chance::Chance,
    crowd::{Crowd, Stop},
    judge::At,
    questions::{Desk, Heard},
    run::everybody,
    script::{Patience, Script},
    tally::Stage,
    turn::Turn,
    visitor::Visitor,
};

/// What all errands of a run share.
pub(super) struct Run {
    pub(super) crowd: Arc<Crowd>,
    pub(super) plan: Plan,
    idle: Idle,
    /// How many have a place that has not ended.
    alive: AtomicUsize,
}

impl Run {
    pub(super) fn new(crowd: Arc<Crowd>, plan: Plan) -> Self {
        Self {
            crowd,
            plan,
            idle: Idle::new(),
            alive: AtomicUsize::new(0),
        }
    }

    /// Lets everybody join who is asked about later, on so many connections.
    pub(super) async fn gather(self: &Arc<Self>, connections: u16) {
        let next = Arc::new(AtomicUsize::new(0));
        let mut joining = JoinSet::new();
        for _ in 0..connections {
            let (run, next) = (Arc::clone(self), Arc::clone(&next));
            joining.spawn(async move {
                while run.crowd.stopped() == Stop::No {
                    let who = next.fetch_add(1, Ordering::Relaxed);
                    if who >= run.plan.visitors {
                        break;
                    }
                    run.join(who, Turn::now(&run.crowd)).await;
                }
            });
        }
        everybody(&mut joining).await;
        if self.joined() == 0 {
            self.crowd.stop(Stop::Enough);
        }
    }

    /// How many have a place that has not ended.
    pub(super) fn joined(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }

    pub(super) async fn errand(self: Arc<Self>, arrival: Arrival, origin: At) {
        let turn = Turn::scheduled(&self.crowd, origin + arrival.due, arrival.step);
        match self.plan.errand {
            Errand::Join => self.join(arrival.number, turn).await,
            Errand::Poll => self.poll(turn).await,
            Errand::Journey { inside, stay, seed } => {
                let mut chance = Chance::new(seed.wrapping_add(arrival.number as u64));
                let script = Script {
                    arrives: arrival.due,
                    patience: Patience::Waits,
                    inside,
                    stay: chance.between(stay),
                };
                let crowd = Arc::clone(&self.crowd);
                let visitor = Visitor::new(crowd, arrival.number, script, chance);
                visitor.visit(turn).await;
            }
        }
    }

    async fn join(&self, who: usize, turn: Turn) {
        let mut desk = Desk::new(Arc::clone(&self.crowd), who);
        if desk.join(turn).await.is_none() {
            desk.enter(Stage::Failed);
            return;
        }
        desk.enter(Stage::Waiting);
        self.alive.fetch_add(1, Ordering::Relaxed);
        self.idle.put(desk);
    }

    /// Asks for whoever has not asked for longest. With nobody left there is nothing more to ask.
    async fn poll(&self, turn: Turn) {
        let next = self.crowd.unless_stopped(self.idle.take()).await;
        let Some(mut desk) = next.flatten() else {
            return;
        };
        match desk.status(turn).await {
            Some(Heard::Ended) => {
                desk.enter(Stage::Gone);
                if self.alive.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.crowd.stop(Stop::Enough);
                }
            }
            Some(Heard::Place(_)) | None => self.idle.put(desk),
        }
    }

    /// Everybody who has a place gives it back. After a herd they look first whether it is still there.
    pub(super) fn dismiss(self: &Arc<Self>, connections: u16) -> JoinSet<()> {
        let mut leaving = JoinSet::new();
        for _ in 0..connections {
            let run = Arc::clone(self);
            leaving.spawn(async move {
                while let Some(mut desk) = run.idle.try_take() {
                    if run.plan.errand == Errand::Join {
                        desk.status(Turn::now(&run.crowd)).await;
                    }
                    desk.hand_back().await;
                }
            });
        }
        leaving
    }
}
