//! Handing the rows to the store, a batch at a time.

use std::{io, time::Duration};

use ropeline_core::{
    Holder, Identity, ImportRow, Imported, Ordinal, RoomId, Timestamp, UserId, View, Visitor,
};
use ropeline_server::Offline;
use ropeline_store::StoreError;

use super::{
    args::ImportArgs,
    rejects::Rejects,
    row::{NoRow, Row},
    tokens::Tokens,
    trouble::ImportTrouble,
};
use crate::units::{grouped, spoken};

/// A store that is away is asked again so often, at this distance; a repeated row keeps its place.
const TRIES: u32 = 10;
const RETRY: Duration = Duration::from_secs(1);

/// Whose the user ids of the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Users with a login, or for whom a service vouches.
    Verified,
    /// Anybody who states them.
    Stated,
}

impl Whose {
    fn visitor(self, user: &UserId) -> Visitor {
        match self {
            Self::Verified => Visitor::verified(user),
            Self::Stated => Visitor::stated(user),
        }
    }
}

/// An import under way.
pub(super) struct Import<'a> {
    offline: &'a Offline,
    room: &'a RoomId,
    epoch: Timestamp,
    grace: Duration,
    whose: Whose,
    tokens: Tokens,
    taken: u64,
    repeated: u64,
}

impl<'a> Import<'a> {
    pub(super) fn new(
        offline: &'a Offline,
        (room, view): (&'a RoomId, &View),
        args: &ImportArgs,
        tokens: Tokens,
    ) -> Self {
        Self {
            offline,
            room,
            epoch: view.header.epoch,
            grace: args.grace,
            whose: args.whose(),
            tokens,
            taken: 0,
            repeated: 0,
        }
    }

    /// Has a batch taken over, and is patient with a store that is away for a moment.
    pub(super) async fn batch(&self, rows: &[Row]) -> Result<Vec<Imported>, ImportTrouble> {
        let rows = rows.iter().map(|row| ImportRow {
            visitor: self.whose.visitor(&row.user),
            was: row.was,
        });
        let rows: Vec<_> = rows.collect();
        let mut tries = 1;
        loop {
            let store = self.offline.store();
            match store.import(self.room, rows.clone(), self.grace).await {
                Ok(answers) => return Ok(answers),
                Err(StoreError::Unavailable(_) | StoreError::Overloaded) if tries < TRIES => {
                    tries += 1;
                    tokio::time::sleep(RETRY).await;
                }
                Err(cause) => {
                    let taken = self.taken;
                    return Err(ImportTrouble::Store { taken, cause });
                }
            }
        }
    }

    /// Writes the tokens of those that were taken over, and why the others were not.
    pub(super) fn note(
        &mut self,
        rows: &[Row],
        answers: &[Imported],
        rejects: &mut Rejects,
    ) -> io::Result<()> {
        for (row, answer) in rows.iter().zip(answers) {
            match *answer {
                Imported::Placed(ordinal) => {
                    self.taken += 1;
                    self.write(row, ordinal)?;
                }
                Imported::Repeated(ordinal) => {
                    self.repeated += 1;
                    self.write(row, ordinal)?;
                }
                refused => reject(row, rejects, &refusal(refused))?,
            }
        }
        self.tokens.flush()
    }

    fn write(&mut self, row: &Row, ordinal: Ordinal) -> io::Result<()> {
        let issued_at = u64::try_from(row.issued_at.as_millisecond()).unwrap_or_default();
        let visitor = self.whose.visitor(&row.user);
        let holder = Holder { visitor, ordinal };
        let token = self
            .offline
            .token(self.room, self.epoch, holder, Timestamp(issued_at));
        self.tokens.add(row.user.as_str(), &token)
    }

    pub(super) fn said(&self) -> String {
        let repeated = match self.repeated {
            0 => String::new(),
            count => format!(" ({} more had been before)", grouped(count)),
        };
        let view = self.offline.store().view(self.room).map(|seen| seen.view);
        let identity = view.as_ref().map(|view| view.header.policy.identity);
        format!(
            "{} rows taken over by the room {}{repeated}; there are now {}.\nNobody of them counts as absent \
             for {}; {}.\n",
            grouped(self.taken),
            self.room,
            view.as_deref().map_or_else(String::new, people),
            spoken(self.grace),
            way_back(identity, self.whose),
        )
    }
}

fn reject(row: &Row, rejects: &mut Rejects, why: &str) -> io::Result<()> {
    let user = row.user.as_str();
    rejects.add(row.line, &NoRow::Rejected(format!("userId {user} {why}")))
}

/// Why a row was not taken over, to be read after the user's name.
fn refusal(answer: Imported) -> String {
    match answer {
        Imported::Placed(ordinal) | Imported::Repeated(ordinal) | Imported::Already(ordinal) => {
            format!("has place {ordinal} already")
        }
        Imported::Full => "does not fit: the line has waiting_max places".to_owned(),
        Imported::LineAhead => {
            "was inside, and would overtake those in line here; as WAITING it comes behind them"
                .to_owned()
        }
    }
}

/// How those who were taken over get their places.
fn way_back(identity: Option<Identity>, whose: Whose) -> &'static str {
    match (identity, whose) {
        (Some(Identity::Anonymous), _) => {
            "this room takes no user ids, so only the tokens lead to their places"
        }
        (_, Whose::Verified) => "their first join with a login has their place",
        (_, Whose::Stated) => "the first join that states their user id has their place",
    }
}

fn people(view: &View) -> String {
    let (inside, door, waiting) = (view.inside, view.door, view.waiting());
    let (inside, door, waiting) = (grouped(inside), grouped(door), grouped(waiting));
    format!("{inside} inside, {door} at the door and {waiting} in line")
}
