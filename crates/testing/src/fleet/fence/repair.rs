//! The parts of the rule, each of which can be left out to see what it is worth.

/// Something that a node, or the store on its behalf, does against forgetting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// Every call says which generation the node knows, and is refused in any other.
    Generation,
    /// Every call says which term the Sentinels have named, and is refused in an earlier one.
    Term,
    /// A node remembers after a restart, by the record on its disk.
    Record,
    /// Restoring a room leaves out the ordinals that another node may have given since this one has
    /// seen it.
    Reserve,
    /// After a merge, a node sends again the places that it has acknowledged or confirmed lately.
    Retelling,
    /// A place that its holder has brought back counts as acknowledged then.
    PutBackIsRecent,
    /// An ordinal that a genuine token names counts as given, whatever the token is shown for.
    SeenSigned,
    /// A genuine token takes its place back from a visitor who may never have received it.
    Dispute,
    /// Gate, settling and looking need a confirmation by the Sentinels that is at most two seconds
    /// old.
    Lease,
    /// Joins, departures and operators need one that is at most half a second old.
    FreshVouch,
    /// Before a join is answered, the node makes sure that the server is still the one that is
    /// named…
    AnswerCheck,
    /// …and that the generation in which the place was given still stands.
    AnswerGeneration,
    /// After a raise, joins are held for a second.
    JoinHold,
    /// After a raise, nobody is admitted before leases have run out.
    AdmissionHold,
    /// While nodes merge, visitors are shown what was known before.
    OldViewWhileMerging,
    /// A view of a room that was deleted since is not shown, even while nodes merge.
    NoDeletedView,
    /// A node that settles a room and finds it deleted looks at it.
    LookAfterDelete,
    /// A client that has seen a newer version gets no final answer from a server that may have been
    /// replaced.
    NothingFinal,
    /// The version jumps at a raise.
    VersionJump,
    /// A room that may have been there before begins far behind any ordinal that it can have given.
    Leap,
    /// A node without memory waits for others to restore a missing room.
    WaitForOthers,
    /// A token is void only if its room was deleted, and not because another node has made the room
    /// again.
    AnyEpoch,
    /// A merge brings what has ended, and not only the numbers.
    EndingsInMerge,
    /// A client is never shown a higher `ahead` than it returns.
    Clamp,
}

impl Repair {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Generation,
        Self::Term,
        Self::Record,
        Self::Reserve,
        Self::Retelling,
        Self::PutBackIsRecent,
        Self::SeenSigned,
        Self::Dispute,
        Self::Lease,
        Self::FreshVouch,
        Self::AnswerCheck,
        Self::AnswerGeneration,
        Self::JoinHold,
        Self::AdmissionHold,
        Self::OldViewWhileMerging,
        Self::NoDeletedView,
        Self::LookAfterDelete,
        Self::NothingFinal,
        Self::VersionJump,
        Self::Leap,
        Self::WaitForOthers,
        Self::AnyEpoch,
        Self::EndingsInMerge,
        Self::Clamp,
    ];
}

/// A tempting shortcut, or a plain mistake, that a rule could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mistake {
    /// Every look at the room begins another generation.
    AlwaysRaise,
    /// A node merges once with each server and believes it from then on.
    MergeOnce,
    /// Nodes look at the room, and leave settling to others.
    NeverSettle,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AlwaysRaise, Self::MergeOnce, Self::NeverSettle];
}
