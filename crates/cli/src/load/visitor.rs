//! One visitor, from arriving to leaving.

use std::{sync::Arc, time::Duration};

use super::{
    chance::Chance,
    crowd::{Crowd, Stop},
    estimates::Wait,
    judge::At,
    place::{Estimate, Place, Standing},
    questions::{Desk, Heard},
    script::{Inside, Patience, Script},
    shop::Purchase,
    tally::Stage,
    turn::Turn,
};

/// One in so many polls of those who wait is followed by a try at the gate.
const TRIES_GATE: f64 = 0.03;
/// Passes that last longer than this are not slept through.
const IDLE_MAX: Duration = Duration::from_secs(15);
/// A pass is told in whole seconds, rounded up, and ends when somebody looks.
const IDLE_MARGIN: Duration = Duration::from_millis(1_500);
/// When somebody who was told no wait loses patience.
const UNTOLD_WAIT: Duration = Duration::from_secs(10);
/// Pages that a buyer asks for, and somebody who only looks.
const PAGES: (u32, u32) = (4, 2);

pub(crate) struct Visitor {
    desk: Desk,
    script: Script,
    chance: Chance,
}

/// What a visitor was told when joining.
struct Told {
    place: Place,
    at: At,
}

impl Visitor {
    pub(crate) fn new(crowd: Arc<Crowd>, who: usize, script: Script, chance: Chance) -> Self {
        Self {
            desk: Desk::new(crowd, who),
            script,
            chance,
        }
    }

    /// The whole visit, at the time that the script says.
    pub(crate) async fn arrive(self) {
        if self.rest(self.script.arrives).await.is_none() {
            self.desk.enter(Stage::Dismissed);
            return;
        }
        let turn = Turn::now(self.desk.crowd());
        self.visit(turn).await;
    }

    /// The whole visit. Whoever still has a place when the run is stopped gives it back.
    pub(crate) async fn visit(mut self, turn: Turn) {
        let stage = match self.story(turn).await {
            Some(stage) => stage,
            None if self.desk.crowd().stopped() == Stop::No => Stage::Failed,
            None => {
                self.desk.hand_back().await;
                Stage::Dismissed
            }
        };
        self.desk.enter(stage);
    }

    /// How the visit ends; `None` if it is cut short.
    async fn story(&mut self, mut turn: Turn) -> Option<Stage> {
        if self.script.inside == Inside::BuysSeat {
            self.desk.log_in(turn).await?;
            turn = Turn::now(self.desk.crowd());
        }
        let place = self.desk.join(turn).await?;
        let told = Told {
            at: self.desk.crowd().now(),
            place: place.clone(),
        };
        if !place.is_inside() {
            self.desk.enter(Stage::Waiting);
            if let Some(end) = self.wait(&told).await? {
                return Some(end);
            }
        }
        self.desk.enter(Stage::Inside);
        self.be_inside().await
    }

    /// Waits for the turn; `Some(None)` if it came, else how the visit ended.
    async fn wait(&mut self, told: &Told) -> Option<Option<Stage>> {
        let mut place = told.place.clone();
        let mut patience = self.script.patience;
        loop {
            let act_at = told.at + patience_span(patience, &told.place);
            let now = self.desk.crowd().now();
            if patience != Patience::Waits && act_at <= now + place.poll_after {
                self.rest(act_at.saturating_sub(now)).await?;
                match patience {
                    Patience::Leaves { .. } => return Some(Some(self.leave().await?)),
                    Patience::Closes { back: None, .. } => return Some(Some(Stage::Gone)),
                    Patience::Closes {
                        back: Some(away), ..
                    } => self.be_away(away).await?,
                    Patience::Waits => {}
                }
                patience = Patience::Waits;
            } else {
                self.rest(place.poll_after).await?;
                if self.chance.happens(TRIES_GATE) {
                    self.desk.try_gate().await?;
                }
            }
            let turn = Turn::now(self.desk.crowd());
            match self.desk.status(turn).await? {
                Heard::Place(next) => place = next,
                Heard::Ended => return Some(Some(Stage::Gone)),
            }
            if let Standing::Inside { since } = place.standing {
                if self.script.patience == Patience::Waits {
                    self.note_wait(told, since);
                }
                return Some(None);
            }
        }
    }

    async fn be_away(&mut self, away: Duration) -> Option<()> {
        self.desk.crowd().judge().closed_the_tab(self.desk.who());
        self.desk.enter(Stage::Away);
        self.rest(away).await?;
        self.desk.enter(Stage::Waiting);
        Some(())
    }

    fn note_wait(&self, told: &Told, since: jiff::Timestamp) {
        let crowd = self.desk.crowd();
        let real = since.duration_since(told.place.as_of).as_secs_f64();
        let mut tally = crowd.tally();
        let seen = crowd.now().saturating_sub(told.at);
        tally.seen_waits.push(seen.as_secs_f64());
        if let Standing::Waiting(Some(estimate)) = told.place.standing {
            tally.waits.push(Wait {
                told: estimate,
                real_s: real.max(0.0),
            });
        }
    }

    async fn leave(&mut self) -> Option<Stage> {
        self.desk.leave().await?;
        self.desk.expect_refusal().await?;
        Some(Stage::Left)
    }

    /// Asks for pages, each of which passes the gate, and finishes.
    async fn be_inside(&mut self) -> Option<Stage> {
        let life = self.desk.pass_life();
        if self.script.inside == Inside::Idles && life <= IDLE_MAX {
            self.rest(life + IDLE_MARGIN).await?;
            self.desk.crowd().judge().ended(self.desk.who());
            self.desk.expect_refusal().await?;
            return Some(Stage::Through);
        }
        let pages = match self.script.inside {
            Inside::BuysSeat => return self.buy(life).await,
            Inside::Buys => PAGES.0,
            Inside::Looks | Inside::Idles => PAGES.1,
        };
        // A page at once, the last one just before going, and no pass runs out between two of them.
        let pause = (self.script.stay / (pages - 1)).min(life / 2);
        self.desk.try_gate().await?;
        for _ in 1..pages {
            self.rest(pause).await?;
            self.desk.try_gate().await?;
        }
        self.desk.leave().await?;
        self.desk.expect_refusal().await?;
        Some(Stage::Through)
    }

    /// Looks around for a while and buys a seat. Who finds none goes without.
    async fn buy(&mut self, life: Duration) -> Option<Stage> {
        self.desk.try_gate().await?;
        self.rest(self.script.stay.min(life / 2)).await?;
        match self.desk.buy_seat(&mut self.chance).await? {
            Purchase::Seat => self.desk.expect_finish().await?,
            Purchase::SoldOut => {
                self.desk.crowd().tally().sold_out += 1;
                self.desk.leave().await?;
                self.desk.expect_refusal().await?;
            }
        }
        Some(Stage::Through)
    }

    async fn rest(&self, span: Duration) -> Option<()> {
        self.desk.crowd().rest(span).await.then_some(())
    }
}

/// How long after joining somebody loses patience.
fn patience_span(patience: Patience, told: &Place) -> Duration {
    let wait = match told.standing {
        // The turn hardly comes before this, so that as many lose patience as are meant to.
        Standing::Waiting(Some(Estimate { low, .. })) => low,
        Standing::Waiting(None) | Standing::Inside { .. } => UNTOLD_WAIT,
    };
    match patience {
        Patience::Waits => Duration::ZERO,
        Patience::Leaves { at } | Patience::Closes { at, .. } => wait.mul_f64(at),
    }
}
