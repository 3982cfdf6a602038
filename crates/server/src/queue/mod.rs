//! The queue routes: join, status, leave, verify.

mod caller;
mod catch_up;
mod credentials;
mod join;
mod leave;
mod outage;
mod passes;
mod place;
mod shortcut;
mod status;
mod verify;

pub(crate) use catch_up::CatchUps;
pub(crate) use credentials::Asking;
pub(crate) use join::{
    Holding, JoinHeaders, JoinRequest, hold, hold_for, join, user_id, user_id_schema,
};
pub(crate) use leave::{depart, leave};
pub(crate) use outage::Outage;
pub(crate) use passes::LastPasses;
pub(crate) use place::{EtaRange, Place, PlaceView};
pub(crate) use ropeline_web::bearer;
pub(crate) use shortcut::Straight;
pub(crate) use status::status;
pub(crate) use verify::{Entry, judge, verify};
