//! What a visitor asks of the box office.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use ropeline_core::RoomId;
use serde_json::{Value, json};

use super::{
    chance::Chance,
    judge::{Gate, Rule, Sale},
    questions::Desk,
    tally::Question,
    turn::Turn,
};
use crate::{failure::Failure, http::Http};

/// Whoever was beaten to so many seats gives up.
const TRIES_MAX: usize = 20;
/// A payment finishes the pass at once, or a little later if the room is busy.
const FINISH_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How shopping ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purchase {
    Seat,
    /// There was no seat left, or others were always quicker.
    SoldOut,
}

/// Says what to do where there is no box office, or one of another room.
pub(crate) async fn is_open(http: &Http, room: &RoomId) -> Result<(), Failure> {
    let answer = http.send(http.get("/concert/dates")).await?;
    let joins_at = answer.json().unwrap_or_default();
    let joins_at = joins_at["joinAt"].as_str().unwrap_or_default();
    match joins_at.rsplit_once("/wait/") {
        Some((_, behind)) if behind == room.as_str() => Ok(()),
        Some((_, behind)) => Err(Failure::Crowd(format!(
            "the box office at {} is behind the room {behind}: give --room {behind}",
            http.base()
        ))),
        None => Err(Failure::Crowd(format!(
            "there is no box office at {}: write [boxoffice] into the settings of `ropeline serve`, and on Redis \
             with --database; or leave out --buy",
            http.base()
        ))),
    }
}

/// A seat that is held, and what it costs.
struct Hold {
    reservation: u64,
    seat: u64,
    price: i64,
}

impl Desk {
    /// Becomes a user of the box office, so that the place is one that may buy.
    pub(crate) async fn log_in(&mut self, turn: Turn) -> Option<()> {
        let name = json!({"name": format!("load {}", self.who())});
        let ask = || self.request(Method::POST, "/user").json(&name);
        let user = self.asked(Question::Login, &turn, 201, ask).await?;
        let id = self.number(&user, "userId")?;
        let Some(login) = user["accessToken"].as_str() else {
            self.wrong(Rule::AnswerKnown, "login: no accessToken");
            return None;
        };
        self.be_user(id, login.to_owned());
        Some(())
    }

    /// Chooses a seat, holds it and pays for it.
    pub(crate) async fn buy_seat(&mut self, chance: &mut Chance) -> Option<Purchase> {
        let dates = self.shown(Question::Dates, "/concert/dates").await?;
        for _ in 0..TRIES_MAX {
            let on_sale = |date: &&Value| date["seatsLeft"].as_u64() > Some(0);
            let Some(date) = any(&dates["dates"], on_sale, chance) else {
                break;
            };
            let date = self.number(date, "concertDateId")?;
            let path = format!("/concert/{date}/seats");
            let seats = self.shown(Question::Seats, &path).await?;
            let is_free = |seat: &&Value| seat["state"] == "FREE";
            let Some(seat) = any(&seats["seats"], is_free, chance) else {
                continue;
            };
            let seat = self.number(seat, "seatId")?;
            if let Some(hold) = self.reserve(seat).await? {
                self.pay(hold).await?;
                return Some(Purchase::Seat);
            }
        }
        Some(Purchase::SoldOut)
    }

    /// `Some(None)` if somebody else was quicker.
    async fn reserve(&self, seat: u64) -> Option<Option<Hold>> {
        let path = format!("/concert/{seat}/reservation");
        let ask = || self.with_token(Method::POST, &path);
        let turn = Turn::now(self.crowd());
        let (answer, _) = self.insist(Question::Reserve, &turn, ask).await?;
        let code = answer.problem().map(|problem| problem.code);
        match (answer.status.as_u16(), code.as_deref()) {
            (409, Some("SEAT_TAKEN")) => Some(None),
            (200 | 201, _) => {
                let hold = answer.json().unwrap_or_default();
                Some(Some(Hold {
                    reservation: self.number(&hold, "reservationId")?,
                    seat,
                    price: self.number(&hold, "price")?.cast_signed(),
                }))
            }
            _ => {
                self.unknown(Question::Reserve, &answer);
                None
            }
        }
    }

    /// Charges what is missing, and pays.
    async fn pay(&self, hold: Hold) -> Option<()> {
        let user = self.user();
        let (path, amount) = (
            format!("/user/charge/{user}/point"),
            json!({"amount": hold.price}),
        );
        let ask = || self.logged_in(Method::PATCH, &path).json(&amount);
        let turn = Turn::now(self.crowd());
        let charged = self.asked(Question::Charge, &turn, 200, ask).await?;
        drop(turn);
        let path = format!("/user-concert/payment/{user}/{}", hold.reservation);
        let key = format!("pay-{}", hold.reservation);
        let ask = || {
            self.logged_in(Method::POST, &path)
                .header("Idempotency-Key", &key)
        };
        let turn = Turn::now(self.crowd());
        let paid = self.asked(Question::Pay, &turn, 200, ask).await?;
        let sale = Sale {
            seat: hold.seat,
            price: hold.price,
            paid: paid["amount"].as_i64(),
            had: charged["balance"].as_i64(),
            has: paid["balance"].as_i64(),
        };
        self.crowd().judge().sold(self.who(), sale);
        self.crowd().tally().sold += 1;
        Some(())
    }

    /// After a payment the gate shuts, if not at once then soon.
    pub(crate) async fn expect_finish(&mut self) -> Option<()> {
        let paid_at = self.crowd().now();
        loop {
            let (gate, _) = self.ask_gate().await?;
            let waited = self.crowd().now().saturating_sub(paid_at);
            if gate == Gate::Refused || waited > FINISH_MAX {
                break;
            }
            self.crowd().rest(LOOK_AGAIN).await.then_some(())?;
        }
        self.crowd().judge().ended(self.who());
        self.expect_refusal().await
    }

    async fn shown(&self, question: Question, path: &str) -> Option<Value> {
        let turn = Turn::now(self.crowd());
        let ask = || self.with_token(Method::GET, path);
        self.asked(question, &turn, 200, ask).await
    }

    /// The body of the only answer that is right.
    async fn asked(
        &self,
        question: Question,
        turn: &Turn,
        status: u16,
        ask: impl Fn() -> RequestBuilder,
    ) -> Option<Value> {
        let (answer, _) = self.insist(question, turn, ask).await?;
        let body = answer.json().filter(|_| answer.status.as_u16() == status);
        if body.is_none() {
            self.unknown(question, &answer);
        }
        body
    }

    fn number(&self, body: &Value, key: &str) -> Option<u64> {
        let number = body[key].as_u64();
        if number.is_none() {
            let what = format!("{key} is {}, not a number", body[key]);
            self.wrong(Rule::AnswerKnown, &what);
        }
        number
    }
}

/// One that fits, by chance, so that buyers do not all run for the same seat.
fn any<'v>(
    list: &'v Value,
    fits: impl Fn(&&'v Value) -> bool,
    chance: &mut Chance,
) -> Option<&'v Value> {
    let fitting: Vec<_> = list.as_array()?.iter().filter(fits).collect();
    let count = fitting.len() as u64;
    let at = chance.number().checked_rem(count)?;
    fitting.get(usize::try_from(at).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fits_is_chosen_and_not_always_the_same() {
        let list = json!([1, 2, 3, 4, 5, 6]);
        let mut chance = Chance::new(1);
        let even = |value: &&Value| value.as_u64().is_some_and(|value| value % 2 == 0);
        let mut chosen: Vec<_> = (0..100)
            .filter_map(|_| any(&list, even, &mut chance)?.as_u64())
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen, [2, 4, 6]);
        assert_eq!(any(&list, |_| false, &mut chance), None);
        assert_eq!(any(&Value::Null, |_| true, &mut chance), None);
    }
}
