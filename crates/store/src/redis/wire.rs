//! How commands are written for the functions, and how their answers are read.

use std::{sync::Arc, time::Duration};

use redis::{Cmd, Value as Said};
use rmpv::Value;
use ropeline_core::{
    Counters, Departure, Ending, Holder, ImportRow, Imported, JoinKey, Joined, Live, Ordinal, Pass,
    Policy, Reason, RoomState, Standing, Timestamp, View, Was,
};
use thiserror::Error;

use super::{fields::Fields, member::Member};

/// An answer that does not read as one of ours.
#[derive(Debug, Error)]
#[error("Redis answered something else than {0}")]
pub(super) struct Unreadable(pub(super) &'static str);

pub(super) type Read<T> = Result<T, Unreadable>;

/// What every function answers first.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) more: bool,
    pub(super) version: u64,
    pub(super) head: Ordinal,
    pub(super) issued: Ordinal,
    pub(super) now: Timestamp,
    /// What the node knew when it asked; the room was in the same generation then.
    pub(super) known: Option<Arc<View>>,
    /// What a picture needs to show what was done; empty if it has to be looked at.
    pub(super) news: Values,
    pub(super) rest: Values,
}

/// Whether the command was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Missing,
    Fenced,
    Frozen,
    Deleted,
    Held(Duration),
    Again,
}

impl Answer {
    pub(super) fn read(said: &Said, known: Option<Arc<View>>) -> Read<Self> {
        let mut rest = Values::unpacked(said)?;
        let word = rest.text()?;
        let (more, version) = (rest.number()? == 1, rest.number()?);
        let (head, issued) = (rest.ordinal()?, rest.ordinal()?);
        let now = rest.time()?;
        let news = rest.next_ones()?;
        let status = match word.as_str() {
            "ok" => Status::Ok,
            "missing" => Status::Missing,
            "fenced" => Status::Fenced,
            "frozen" => Status::Frozen,
            "deleted" => Status::Deleted,
            "again" => Status::Again,
            "held" => Status::Held(Duration::from_millis(rest.number()?)),
            _ => return Err(Unreadable("a status")),
        };
        Ok(Self {
            status,
            more,
            version,
            head,
            issued,
            now,
            known,
            news,
            rest,
        })
    }
}

/// Values of an answer, taken one after the other.
#[derive(Debug)]
pub(super) struct Values(std::vec::IntoIter<Value>);

impl Values {
    /// A list as a function packs it. As values of Redis's own they would take the client far longer to read.
    fn unpacked(said: &Said) -> Read<Self> {
        let Said::BulkString(packed) = said else {
            return Err(Unreadable("a packed list"));
        };
        let value = rmpv::decode::read_value(&mut packed.as_slice());
        value
            .map_err(|_| Unreadable("a packed list"))
            .and_then(Self::of)
    }

    fn of(value: Value) -> Read<Self> {
        match value {
            Value::Array(values) => Ok(Self(values.into_iter())),
            _ => Err(Unreadable("a list")),
        }
    }

    pub(super) fn bytes(&mut self) -> Read<Vec<u8>> {
        match self.0.next() {
            Some(Value::String(text)) => Ok(text.into_bytes()),
            Some(Value::Integer(number)) => Ok(number.to_string().into_bytes()),
            _ => Err(Unreadable("a text")),
        }
    }

    pub(super) fn text(&mut self) -> Read<String> {
        String::from_utf8(self.bytes()?).map_err(|_| Unreadable("a text"))
    }

    pub(super) fn number(&mut self) -> Read<u64> {
        self.maybe_number()?.ok_or(Unreadable("a number"))
    }

    /// A number, or `None` for one below zero.
    pub(super) fn maybe_number(&mut self) -> Read<Option<u64>> {
        match self.0.next() {
            Some(Value::Integer(number)) => Ok(number.as_u64()),
            Some(Value::String(digits)) => {
                let number = digits.as_str().and_then(|text| text.parse().ok());
                number.map(Some).ok_or(Unreadable("a number"))
            }
            _ => Err(Unreadable("a number")),
        }
    }

    pub(super) fn ordinal(&mut self) -> Read<Ordinal> {
        self.number().map(Ordinal)
    }

    pub(super) fn time(&mut self) -> Read<Timestamp> {
        self.number().map(Timestamp)
    }

    pub(super) fn list(&mut self) -> Read<Self> {
        self.0.next().ok_or(Unreadable("a list")).and_then(Self::of)
    }

    /// Values that follow how many they are.
    fn next_ones(&mut self) -> Read<Self> {
        let count = usize::try_from(self.number()?).map_err(|_| Unreadable("a number"))?;
        let values: Vec<_> = self.0.by_ref().take(count).collect();
        Ok(Self(values.into_iter()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Where somebody stands, and the figures that belong to it.
    pub(super) fn standing(&mut self) -> Read<Standing> {
        Ok(match &*self.bytes()? {
            b"line" => Standing::Live(Live::InLine),
            b"door" => Standing::Live(Live::AtDoor {
                before: self.number()?,
            }),
            b"aside" => Standing::Live(Live::Aside(self.time()?)),
            b"inside" => Standing::Live(Live::Inside(Pass {
                expires_at: self.time()?,
                since: self.time()?,
            })),
            b"gone" => Standing::Ended(Ending::Gone),
            b"done" => Standing::Ended(Ending::Done),
            b"lost" => Standing::Lost,
            b"unknown" => Standing::Unknown,
            _ => return Err(Unreadable("a standing")),
        })
    }

    /// What became of so many joiners, and where their places stand.
    pub(super) fn all_joined(&mut self, count: usize) -> Read<Vec<(Joined, Standing)>> {
        if let Some(Value::Array(_)) = self.0.as_slice().first() {
            let mut each = self.list()?;
            return (0..count).map(|_| each.joined()).collect();
        }
        if self.text()? != "all" {
            return Err(Unreadable("what became of joiners"));
        }
        let ordinals = self.ordinal()?.0..;
        let new = |ordinal| (Joined::New(Ordinal(ordinal)), Standing::Live(Live::InLine));
        Ok(ordinals.take(count).map(new).collect())
    }

    fn joined(&mut self) -> Read<(Joined, Standing)> {
        let word = self.text()?;
        let ordinal = self.ordinal()?;
        let standing = self.standing()?;
        let joined = match word.as_str() {
            "new" => Joined::New(ordinal),
            "already" => Joined::Already(ordinal),
            "repeated" => Joined::Repeated(ordinal),
            "claimed" => Joined::Claimed(ordinal),
            "reused" => Joined::KeyReused,
            "closed" => Joined::Closed,
            "full" => Joined::Full,
            _ => return Err(Unreadable("what became of a join")),
        };
        Ok((joined, standing))
    }

    /// What became of a row of an import.
    pub(super) fn imported(&mut self) -> Read<Imported> {
        let word = self.text()?;
        let ordinal = self.ordinal()?;
        Ok(match word.as_str() {
            "placed" => Imported::Placed(ordinal),
            "repeated" => Imported::Repeated(ordinal),
            "already" => Imported::Already(ordinal),
            "full" => Imported::Full,
            "line ahead" => Imported::LineAhead,
            _ => return Err(Unreadable("what became of a row")),
        })
    }

    pub(super) fn departure(&mut self) -> Read<Departure> {
        Ok(match self.text()?.as_str() {
            "left" => Departure::Left,
            "finished" => Departure::Finished,
            "nothing" => Departure::Nothing,
            "not inside" => Departure::NotInside,
            _ => return Err(Unreadable("a departure")),
        })
    }

    /// Ordinals with a space between them.
    pub(super) fn ordinals(&mut self) -> Read<Vec<u64>> {
        let text = self.text()?;
        let numbers = text.split_ascii_whitespace().map(str::parse);
        numbers
            .collect::<Result<_, _>>()
            .map_err(|_| Unreadable("ordinals"))
    }

    /// Why these places ended, a letter for each, as `library/places.lua` has them; those whose letter says nothing are
    /// left out.
    pub(super) fn reasons(&mut self, ordinals: &[u64]) -> Read<Vec<(Ordinal, Reason)>> {
        let letters = self.bytes()?;
        if letters.len() != ordinals.len() {
            return Err(Unreadable("reasons"));
        }
        let reason = |(ordinal, letter): (&u64, u8)| {
            let reason = match letter {
                b'l' => Reason::Left,
                b'r' => Reason::Removed,
                b'm' => Reason::Missed,
                b'f' => Reason::Finished,
                b'e' => Reason::Expired,
                _ => return None,
            };
            Some((Ordinal(*ordinal), reason))
        };
        Ok(ordinals.iter().zip(letters).filter_map(reason).collect())
    }

    /// A room, each field followed by its value.
    pub(super) fn fields(&mut self) -> Read<Fields> {
        let mut flat = self.list()?;
        let mut fields = Vec::new();
        while !flat.is_empty() {
            fields.push((flat.text()?, flat.text()?));
        }
        Ok(Fields::of(fields))
    }
}

/// Writes what a function takes.
pub(super) trait Written {
    fn write(&self, call: &mut Cmd);
}

impl Written for Policy {
    /// Nine values; an absent one is empty.
    fn write(&self, call: &mut Cmd) {
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        call.arg(millis(self.every))
            .arg(count(self.batch))
            .arg(count(self.active_max))
            .arg(millis(self.pass_ttl))
            .arg(millis(self.pass_max))
            .arg(millis(self.presence_ttl))
            .arg(millis(self.missed_turn_ttl))
            .arg(self.waiting_max)
            .arg(self.identity.as_str());
    }
}

impl Written for JoinKey {
    fn write(&self, call: &mut Cmd) {
        call.arg(format!("{:032x}", self.key))
            .arg(format!("{:016x}", self.body));
    }
}

impl Written for ImportRow {
    fn write(&self, call: &mut Cmd) {
        let was = match self.was {
            Was::Waiting => "waiting",
            Was::Inside => "inside",
        };
        call.arg(Member::of(&self.visitor)).arg(was);
    }
}

impl Written for Holder {
    fn write(&self, call: &mut Cmd) {
        call.arg(Member::of(&self.visitor)).arg(self.ordinal.0);
    }
}

impl Written for Counters {
    fn write(&self, call: &mut Cmd) {
        let Self {
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
        } = self;
        for counter in [
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
        ] {
            call.arg(*counter);
        }
    }
}

pub(super) fn state_word(state: RoomState) -> &'static str {
    match state {
        RoomState::Open => "open",
        RoomState::Closed => "closed",
        RoomState::Draining => "draining",
        RoomState::Deleted => "deleted",
    }
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(values: Vec<Value>) -> Said {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Array(values)).unwrap();
        Said::BulkString(bytes)
    }

    /// What a join of two answers, without news.
    fn answer() -> Vec<Value> {
        let head = [Value::from("ok"), 0.into(), 9.into(), 3.into(), 7.into()];
        let rest = [5.into(), 0.into(), Value::from("all"), 6.into()];
        head.into_iter().chain(rest).collect()
    }

    #[test]
    fn an_answer_is_read_as_it_was_packed() {
        let mut read = Answer::read(&packed(answer()), None).unwrap();
        assert_eq!(
            (read.status, read.more, read.version),
            (Status::Ok, false, 9)
        );
        assert_eq!((read.head, read.issued), (Ordinal(3), Ordinal(7)));
        assert!(read.news.is_empty());
        let joined = read.rest.all_joined(2).unwrap();
        let ordinals = joined.iter().map(|(joined, _)| *joined);
        assert!(ordinals.eq([Joined::New(Ordinal(6)), Joined::New(Ordinal(7))]));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let whole = packed(answer());
        let Said::BulkString(bytes) = &whole else {
            unreachable!("it was packed")
        };
        for end in 0..bytes.len() {
            let cut = Said::BulkString(bytes[..end].to_vec());
            assert!(Answer::read(&cut, None).is_err(), "{end}");
        }
        for at in 0..6 {
            let mut odd = answer();
            odd[at] = Value::F64(0.5);
            assert!(Answer::read(&packed(odd), None).is_err(), "{at}");
        }
        assert!(Answer::read(&Said::Array(vec![Said::Int(1)]), None).is_err());
        assert!(Answer::read(&Said::Nil, None).is_err());
    }
}
