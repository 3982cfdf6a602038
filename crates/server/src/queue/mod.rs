//! The queue routes: join, status, leave, verify.

mod credentials;
mod join;
mod leave;
mod place;
mod status;
mod verify;

pub(crate) use credentials::{Asking, Cookies};
pub(crate) use join::{JoinHeaders, hold, join};
pub(crate) use leave::{depart, leave};
pub(crate) use place::{Place, PlaceView};
pub(crate) use status::status;
pub(crate) use verify::verify;
