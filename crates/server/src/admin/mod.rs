//! For operators: rooms, visitors, figures.

mod audit;
mod control;
mod guard;
mod operator;
mod policy;
mod rooms;
mod session;
mod stats;
mod visitors;

use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

pub(crate) use audit::Audit;
pub(crate) use control::{admit, close, drain, open, pause, reset, resume};
pub(crate) use guard::guard;
pub(crate) use rooms::{change, create, delete, room, rooms};
pub(crate) use session::Sessions;
pub(crate) use stats::{Histories, WINDOW, stats};
pub(crate) use visitors::{find, revoke};

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
    ];
    rooms::RoomList::schemas(&mut schemas);
    rooms::NewRoom::schemas(&mut schemas);
    stats::StatsView::schemas(&mut schemas);
    schemas
}

fn named<T: ToSchema>() -> (String, RefOr<Schema>) {
    (T::name().into_owned(), T::schema())
}
