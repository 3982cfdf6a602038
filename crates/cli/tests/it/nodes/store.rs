//! What befalls the Redis that all nodes share.

use std::{thread, time::Duration};

use ropeline_testing::history::{Kind, Recorder, Target, Turn};

/// After writes were lost, the line stands still for so long, so that everybody in it can ask again.
pub(crate) const LINE_HELD: Duration = Duration::from_secs(60);

/// The store forgets something. Afterwards the line may stand still, until [`line_goes_on`].
pub(crate) fn forgets(recorder: &Recorder, how: impl FnOnce()) {
    recorder.fault(Kind::Held, Target::Store, Turn::On);
    during(recorder, Kind::Forgot, how);
}

/// Waits until those in line have had their time to ask again.
pub(crate) fn line_goes_on(recorder: &Recorder) {
    thread::sleep(LINE_HELD);
    recorder.fault(Kind::Held, Target::Store, Turn::Off);
}

/// Something befalls the store from before until after this is done.
pub(crate) fn during(recorder: &Recorder, kind: Kind, what: impl FnOnce()) {
    recorder.fault(kind, Target::Store, Turn::On);
    what();
    recorder.fault(kind, Target::Store, Turn::Off);
}
