//! A room's hash.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Counters, Header, Identity, LostRange, Ordinal, Policy, RoomClock, RoomState, Round, ServerId,
    Tick, Timestamp,
};

use super::wire::{Read, Unreadable};

/// The fields of a room's hash.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn of(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    fn text(&self, name: &str) -> Option<&str> {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.as_str())
    }

    fn maybe(&self, name: &str) -> Read<Option<u64>> {
        let number = |text: &str| text.parse().map_err(|_| Unreadable("a number in a room"));
        self.text(name).map(number).transpose()
    }

    fn number(&self, name: &'static str) -> Read<u64> {
        self.maybe(name)?.ok_or(Unreadable(name))
    }

    fn time(&self, name: &'static str) -> Read<Timestamp> {
        self.number(name).map(Timestamp)
    }

    fn ordinal(&self, name: &'static str) -> Read<Ordinal> {
        self.number(name).map(Ordinal)
    }

    fn span(&self, name: &'static str) -> Read<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    pub(super) fn header(&self, now: Timestamp, clock: Timestamp) -> Read<Header> {
        let round = |number, started| {
            Ok(Round {
                number: self.number(number)?,
                started: self.time(started)?,
            })
        };
        let lost = match (self.maybe("lost_after")?, self.maybe("lost_until")?) {
            (Some(after), Some(until)) => Some(LostRange {
                after: Ordinal(after),
                until: Timestamp(until),
            }),
            _ => None,
        };
        Ok(Header {
            epoch: self.time("epoch")?,
            server: ServerId(self.text("server").ok_or(Unreadable("a server"))?.into()),
            state: self.state()?,
            paused: self.number("paused")? == 1,
            policy: Arc::new(self.policy()?),
            digest: self.text("digest").map(str::to_owned),
            issued: self.ordinal("issued")?,
            head: self.ordinal("head")?,
            floor: self.ordinal("floor")?,
            base: self.ordinal("base")?,
            version: self.number("version")?,
            tick: Tick {
                start: self.time("tick_start")?,
                admitted: self.number("tick_admitted")?,
                extra: self.number("tick_extra")?,
            },
            presence: round("round", "round_started")?,
            keys: round("key_round", "key_round_started")?,
            lost,
            joins_held_until: self.time("joins_held_until")?,
            imported_until: self.time("imported_until")?,
            counters: self.counters()?,
            clock: RoomClock::heard(now, clock),
        })
    }

    fn state(&self) -> Read<RoomState> {
        Ok(match self.text("state") {
            Some("open") => RoomState::Open,
            Some("closed") => RoomState::Closed,
            Some("draining") => RoomState::Draining,
            Some("deleted") => RoomState::Deleted,
            _ => return Err(Unreadable("the state of a room")),
        })
    }

    fn policy(&self) -> Read<Policy> {
        let identity = self.text("identity").unwrap_or_default();
        Ok(Policy {
            every: self.span("every")?,
            batch: self.maybe("batch")?,
            active_max: self.maybe("active_max")?,
            pass_ttl: self.span("pass_ttl")?,
            pass_max: self.span("pass_max")?,
            presence_ttl: self.span("presence_ttl")?,
            missed_turn_ttl: self.span("missed_turn_ttl")?,
            waiting_max: self.number("waiting_max")?,
            identity: identity
                .parse::<Identity>()
                .map_err(|_| Unreadable("an identity"))?,
        })
    }

    fn counters(&self) -> Read<Counters> {
        Ok(Counters {
            admitted: self.number("admitted")?,
            departed: self.number("departed")?,
            expired: self.number("expired")?,
            finished: self.number("finished")?,
            left: self.number("left")?,
            revoked: self.number("revoked")?,
            stepped_over: self.number("stepped_over")?,
            missed: self.number("missed")?,
            restored: self.number("restored")?,
            stayed_ms: self.number("stayed_ms")?,
        })
    }
}
