//! For operators: rooms, visitors, figures.

mod audit;
mod control;
mod guard;
mod open_sessions;
mod operator;
mod policy;
mod rooms;
mod session;
mod sessions;
mod stats;
mod visitors;

use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

pub(crate) use control::{admit, close, drain, open, pause, reset, resume};
pub(crate) use guard::guard;
pub(crate) use operator::note_wrong_key;
pub(crate) use rooms::{change, create, delete, room, rooms};
pub(crate) use session::Sessions;
pub(crate) use sessions::{end_session, end_sessions, sessions};
pub(crate) use stats::{Histories, WINDOW, stats};
pub(crate) use visitors::{find, find_named, revoke, revoke_named};

/// The shapes of what operators send and are answered.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = vec![
        named::<rooms::RoomList>(),
        named::<rooms::RoomView>(),
        named::<rooms::NewRoom>(),
        named::<rooms::RoomChange>(),
        named::<control::Admit>(),
        named::<visitors::VisitorView>(),
        named::<stats::StatsView<'_>>(),
        named::<sessions::SessionList>(),
        named::<sessions::SessionsEnded>(),
    ];
    rooms::RoomList::schemas(&mut schemas);
    rooms::NewRoom::schemas(&mut schemas);
    stats::StatsView::schemas(&mut schemas);
    sessions::SessionList::schemas(&mut schemas);
    schemas
}

fn named<T: ToSchema>() -> (String, RefOr<Schema>) {
    (T::name().into_owned(), T::schema())
}
