//! The scripts: one for each kind of transition, all beginning with the rules in `room.lua`.

use std::sync::LazyLock;

/// A script, and the digest by which Redis knows it once it is loaded.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) text: &'static str,
    script: redis::Script,
}

impl Script {
    fn new(text: &'static str) -> Self {
        Self {
            text,
            script: redis::Script::new(text),
        }
    }

    pub(super) fn digest(&self) -> &str {
        self.script.get_hash()
    }
}

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        $(
            $(#[$doc])*
            pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
                Script::new(concat!(
                    include_str!("scripts/room.lua"),
                    "\n",
                    include_str!(concat!("scripts/", $file, ".lua")),
                ))
            });
        )*
        /// All of them, to be loaded when a connection is made.
        pub(super) fn all() -> impl Iterator<Item = &'static Script> {
            [$(&*$name),*].into_iter()
        }
    };
}

scripts! {
    JOIN = "join";
    RENEW = "renew";
    MARK = "mark";
    DEPART = "depart";
    SETTLE = "settle";
    OPERATE = "operate";
    CREATE = "create";
    MERGE = "merge";
    RESTORE = "restore";
    LOOK = "look";
    FIND = "find";
    FREEZE = "freeze";
    ADOPT = "adopt";
    IMPORT = "import";
}
