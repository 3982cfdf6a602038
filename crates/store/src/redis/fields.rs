//! A room as the functions keep it.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use ropeline_core::{
    Counters, Header, Identity, LostRange, Ordinal, Policy, RoomClock, RoomState, Round, ServerId,
    Tick, Timestamp,
};

use super::wire::{Read, Unreadable, Values, millis, state_word};

/// The fields of a room.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn of(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
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

    pub(super) fn time(&self, name: &'static str) -> Read<Timestamp> {
        self.number(name).map(Timestamp)
    }

    fn ordinal(&self, name: &'static str) -> Read<Ordinal> {
        self.number(name).map(Ordinal)
    }

    fn span(&self, name: &'static str) -> Read<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    /// The places that were given in the current round of presence, in the last and in the one before, but for those up
    /// to `base`, of which nothing is remembered.
    pub(super) fn given(&self) -> Read<[RangeInclusive<u64>; 3]> {
        let (mut last, base) = (self.number("issued")?, self.number("base")?);
        let mut round = |before| {
            let before = self.number(before)?.max(base);
            let given = before + 1..=std::mem::replace(&mut last, before);
            Ok(given)
        };
        Ok([round("given0")?, round("given1")?, round("given2")?])
    }

    /// The header, where room time is `now` at the node's `clock`.
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
            generation: self.maybe("generation")?.unwrap_or_default(),
            term: self.maybe("term")?.unwrap_or_default(),
            deleted_until: Timestamp(self.maybe("deleted_until")?.unwrap_or_default()),
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
            admission_held_until: Timestamp(
                self.maybe("admission_held_until")?.unwrap_or_default(),
            ),
            imported_until: self.time("imported_until")?,
            stock: self.maybe("stock")?,
            stock_version: self.maybe("stock_version")?.unwrap_or_default(),
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

/// Takes in what may change without another version: what `tell` in `room.lua` says first.
pub(super) fn amend_rounds(header: &mut Header, news: &mut Values) -> Read<()> {
    header.tick = Tick {
        start: news.time()?,
        admitted: news.number()?,
        extra: news.number()?,
    };
    for round in [&mut header.presence, &mut header.keys] {
        *round = Round {
            number: news.number()?,
            started: news.time()?,
        };
    }
    Ok(())
}

/// And what only changes with one: the fields that are `THEN` there.
pub(super) fn amend_numbers(header: &mut Header, news: &mut Values) -> Read<()> {
    (header.floor, header.base) = (news.ordinal()?, news.ordinal()?);
    let lost = (news.maybe_number()?, news.maybe_number()?);
    header.lost = lost.0.zip(lost.1).map(|(after, until)| LostRange {
        after: Ordinal(after),
        until: Timestamp(until),
    });
    (header.joins_held_until, header.imported_until) = (news.time()?, news.time()?);
    header.stock = news.maybe_number()?;
    header.stock_version = news.maybe_number()?.unwrap_or_default();
    header.counters = Counters {
        admitted: news.number()?,
        departed: news.number()?,
        expired: news.number()?,
        finished: news.number()?,
        left: news.number()?,
        revoked: news.number()?,
        stepped_over: news.number()?,
        missed: news.number()?,
        restored: news.number()?,
        stayed_ms: news.number()?,
    };
    Ok(())
}

/// The fields of a room that comes from another store, but for what its new server says of itself.
pub(super) fn fields_of(header: &Header, inside_since: u64) -> Vec<(&'static str, String)> {
    let (tick, presence, keys) = (header.tick, header.presence, header.keys);
    let numbers = [
        ("epoch", header.epoch.0),
        ("paused", u64::from(header.paused)),
        ("issued", header.issued.0),
        ("head", header.head.0),
        ("floor", header.floor.0),
        ("base", header.base.0),
        ("version", header.version),
        ("tick_start", tick.start.0),
        ("tick_admitted", tick.admitted),
        ("tick_extra", tick.extra),
        ("round", presence.number),
        ("round_started", presence.started.0),
        ("key_round", keys.number),
        ("key_round_started", keys.started.0),
        ("generation", header.generation),
        ("deleted_until", header.deleted_until.0),
        ("joins_held_until", header.joins_held_until.0),
        ("admission_held_until", header.admission_held_until.0),
        ("imported_until", header.imported_until.0),
        ("clock_last", header.clock.last().0),
        ("inside_since", inside_since),
    ];
    let mut fields = vec![("state", state_word(header.state).to_owned())];
    fields.extend(numbers.map(|(field, number)| (field, number.to_string())));
    if let Some(lost) = header.lost {
        fields.push(("lost_after", lost.after.0.to_string()));
        fields.push(("lost_until", lost.until.0.to_string()));
    }
    if header.stock_version > 0 {
        fields.push(("stock_version", header.stock_version.to_string()));
    }
    fields.extend(header.stock.map(|left| ("stock", left.to_string())));
    fields.extend(header.digest.clone().map(|digest| ("digest", digest)));
    fields.extend(policy_fields(&header.policy));
    fields.extend(counter_fields(&header.counters));
    fields
}

fn policy_fields(policy: &Policy) -> Vec<(&'static str, String)> {
    let spans = [
        ("every", policy.every),
        ("pass_ttl", policy.pass_ttl),
        ("pass_max", policy.pass_max),
        ("presence_ttl", policy.presence_ttl),
        ("missed_turn_ttl", policy.missed_turn_ttl),
    ];
    let counts = [
        ("batch", policy.batch),
        ("active_max", policy.active_max),
        ("waiting_max", Some(policy.waiting_max)),
    ];
    let spans = spans.map(|(field, span)| (field, millis(span).to_string()));
    let counts = counts.map(|(field, count)| Some((field, count?.to_string())));
    let identity = ("identity", policy.identity.as_str().to_owned());
    let present = counts.into_iter().flatten();
    spans.into_iter().chain(present).chain([identity]).collect()
}

fn counter_fields(counters: &Counters) -> [(&'static str, String); 10] {
    let Counters {
        admitted,
        departed,
        expired,
        finished,
        left,
        revoked,
        stepped_over,
        missed,
        restored,
        stayed_ms,
    } = *counters;
    [
        ("admitted", admitted),
        ("departed", departed),
        ("expired", expired),
        ("finished", finished),
        ("left", left),
        ("revoked", revoked),
        ("stepped_over", stepped_over),
        ("missed", missed),
        ("restored", restored),
        ("stayed_ms", stayed_ms),
    ]
    .map(|(field, count)| (field, count.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(base: u64) -> [Vec<u64>; 3] {
        let numbers = [
            ("issued", 6),
            ("base", base),
            ("given0", 4),
            ("given1", 4),
            ("given2", 0),
        ];
        let fields = numbers.map(|(field, number)| (field.to_owned(), number.to_string()));
        let given = Fields::of(fields.into()).given().unwrap();
        given.map(Iterator::collect)
    }

    #[test]
    fn each_round_has_given_the_places_from_where_it_found_the_line() {
        assert_eq!(given(0), [vec![5, 6], vec![], vec![1, 2, 3, 4]]);
    }

    /// Where presence does not matter no round ends, however many places there were.
    #[test]
    fn nothing_is_said_of_places_that_are_not_remembered() {
        assert_eq!(given(2), [vec![5, 6], vec![], vec![3, 4]]);
        assert_eq!(given(5), [vec![6], vec![], vec![]]);
    }
}
