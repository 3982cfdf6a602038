//! What can be said about a move.

use clap::Args;
use ropeline_core::RoomId;

use super::stores::StoreName;
use crate::units;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct MoveArgs {
    /// Store that has the rooms: `embedded`, `embedded:DIR`, or the address of a Redis
    #[arg(long, value_name = "STORE", value_parser = StoreName::parse)]
    pub(super) from: StoreName,

    /// Store that is to have them
    #[arg(
        long,
        value_name = "STORE",
        value_parser = StoreName::parse,
        required_unless_present = "thaw",
        conflicts_with = "thaw"
    )]
    pub(super) to: Option<StoreName>,

    /// Room to be moved
    #[arg(long, value_name = "ROOM", default_value = "main", value_parser = units::room)]
    pub(super) room: RoomId,

    /// Move every room
    #[arg(long, conflicts_with = "room")]
    pub(super) all: bool,

    /// Let a room take the place of one in which nobody has ever joined, as a first start makes it
    #[arg(long, conflicts_with = "thaw")]
    pub(super) replace_empty: bool,

    /// Undo a move that was interrupted: the rooms of --from go on there
    #[arg(long)]
    pub(super) thaw: bool,

    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}
