//! Undoing a move that was interrupted.

use std::sync::Arc;

use ropeline_core::RoomId;
use ropeline_server::config::Settings;
use ropeline_store::{Clock, Freeze};

use super::{MoveArgs, MoveTrouble, ask, rooms, stores::Opened};

/// Lets the frozen rooms of a store go on there.
pub(super) async fn thaw(
    args: &MoveArgs,
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> Result<String, MoveTrouble> {
    let from = Opened::open(&args.from, settings, clock).await?;
    let mut said = String::new();
    for room in rooms(args, &from)? {
        match from.store().frozen(&room).await? {
            // With --all there are others beside those that were to be moved.
            None if args.all => {}
            None => return Err(MoveTrouble::NotFrozen(room)),
            Some(why) => said += &thaw_one(args, &from, &room, &why).await?,
        }
    }
    from.store().close().await;
    Ok(said)
}

async fn thaw_one(
    args: &MoveArgs,
    from: &Opened,
    room: &RoomId,
    why: &Freeze,
) -> Result<String, MoveTrouble> {
    match why {
        Freeze::Leaving(_) => {}
        Freeze::Left(to) => confirm(
            args,
            &format!(
                "{room} has moved to {to}: if it goes on in {from} as well, each place may be given twice"
            ),
        )?,
        Freeze::Arriving(origin) => {
            let question = format!(
                "{room} is being moved here from {origin} and may not be whole: it is forgotten in {from}"
            );
            confirm(args, &question)?;
            from.store().discard(room).await?;
            return Ok(format!("{room} is forgotten in {from}\n"));
        }
    }
    from.store().thaw(room).await?;
    Ok(format!("{room} goes on in {from}\n"))
}

fn confirm(args: &MoveArgs, question: &str) -> Result<(), MoveTrouble> {
    if args.yes { Ok(()) } else { ask(question) }
}
