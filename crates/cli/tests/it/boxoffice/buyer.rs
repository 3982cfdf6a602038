//! Somebody who buys a seat.

use std::net::SocketAddr;

use ropeline_testing::http::{Ask, Client, Reply};
use serde_json::{Value, json};

use crate::visitor::status;

/// A user with a place in line.
pub(super) struct Buyer {
    /// Where the box office is.
    at: SocketAddr,
    pub(super) user: u64,
    login: String,
    pub(super) token: String,
}

impl Buyer {
    /// Logs in and joins the line.
    pub(super) fn arrive(at: SocketAddr) -> Self {
        let buyer = Self::sign_up(at);
        let token = text(&buyer.place(), "token");
        buyer.with_token(token)
    }

    /// Logs in, and has no place yet.
    pub(super) fn sign_up(at: SocketAddr) -> Self {
        let ask = Ask::post("/user").json(&json!({"name": "Kim"}));
        let made = answered(at, &ask, 201);
        Self {
            at,
            user: made["userId"].as_u64().expect("a number"),
            login: format!("Bearer {}", text(&made, "accessToken")),
            token: String::new(),
        }
    }

    /// Comes with this queue token.
    pub(super) fn with_token(self, token: String) -> Self {
        Self { token, ..self }
    }

    /// Asks for the token again, and gives the place view.
    pub(super) fn place(&self) -> Value {
        let path = format!("/user/{}/token/generate", self.user);
        answered(self.at, &self.logged_in(Ask::get(&path)), 200)
    }

    /// The number of the seat that is free first on the first date.
    pub(super) fn free_seat(&self) -> u64 {
        let dates = self.shown("/concert/dates");
        let date = &dates["dates"][0]["concertDateId"];
        let seats = self.shown(&format!("/concert/{date}/seats"));
        let seats = seats["seats"].as_array().expect("a list of seats");
        let free = seats.iter().find(|seat| seat["state"] == "FREE");
        let free = free.expect("the demo has many seats");
        free["seatId"].as_u64().expect("a number")
    }

    /// How many dates there are.
    pub(super) fn dates(&self) -> usize {
        let dates = self.shown("/concert/dates");
        dates["dates"].as_array().expect("a list of dates").len()
    }

    /// Holds a seat and has the points to pay for it; gives the reservation.
    pub(super) fn hold(&self, seat: u64) -> u64 {
        let held = answered(self.at, &self.reservation(seat), 201);
        let charge = Ask::patch(&format!("/user/charge/{}/point", self.user));
        let charge = charge.json(&json!({"amount": held["price"]}));
        answered(self.at, &self.logged_in(charge), 200);
        held["reservationId"].as_u64().expect("a number")
    }

    pub(super) fn reservation(&self, seat: u64) -> Ask {
        Ask::post(&format!("/concert/{seat}/reservation")).token(&self.token)
    }

    pub(super) fn payment(&self, reservation: u64) -> Ask {
        let path = format!("/user-concert/payment/{}/{reservation}", self.user);
        self.logged_in(Ask::post(&path))
    }

    #[track_caller]
    pub(super) fn pay(&self, reservation: u64) -> Value {
        answered(self.at, &self.payment(reservation), 200)
    }

    /// What the room at `room` says of the token.
    pub(super) fn standing(&self, room: SocketAddr) -> String {
        let reply = ask(room, &status(&self.token)).json();
        let word = match reply["status"].as_str() {
            Some(word) => word,
            None => reply["code"].as_str().expect("a place view or a problem"),
        };
        word.to_owned()
    }

    /// The states of everything that was reserved.
    pub(super) fn reservations(&self) -> Vec<String> {
        let path = format!("/user/{}/reservations", self.user);
        let list = answered(self.at, &self.logged_in(Ask::get(&path)), 200);
        let list = list["reservations"].as_array().expect("a list");
        list.iter().map(|it| text(it, "state")).collect()
    }

    /// How many points are left.
    pub(super) fn balance(&self) -> i64 {
        let path = format!("/user/{}/point", self.user);
        let points = answered(self.at, &self.logged_in(Ask::get(&path)), 200);
        points["balance"].as_i64().expect("a number")
    }

    #[track_caller]
    fn shown(&self, path: &str) -> Value {
        answered(self.at, &Ask::get(path).token(&self.token), 200)
    }

    /// The same by somebody who has logged in.
    pub(super) fn logged_in(&self, ask: Ask) -> Ask {
        ask.header("Authorization", &self.login)
    }
}

fn ask(at: SocketAddr, ask: &Ask) -> Reply {
    let mut client = Client::connect(at).expect("a server that is ready takes connections");
    client.send(ask)
}

#[track_caller]
fn answered(at: SocketAddr, question: &Ask, status: u16) -> Value {
    let reply = ask(at, question);
    assert_eq!(reply.status, status, "{}", reply.json());
    reply.json()
}

fn text(value: &Value, name: &str) -> String {
    let text = value[name].as_str();
    text.unwrap_or_else(|| panic!("no {name} in {value}"))
        .to_owned()
}
