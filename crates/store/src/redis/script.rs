//! The scripts: one for each kind of transition, all beginning with `state.lua`, which describes them, and the rules
//! that it needs. What it does not need it does not have, since Redis runs the whole text at each call.

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
    ($($name:ident = $($file:literal)*;)*) => {
        $(
            pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
                Script::new(concat!(
                    include_str!("library/state.lua"),
                    "\nreturn (function()\n",
                    include_str!("library/room.lua"),
                    $("\n", include_str!(concat!("library/", $file, ".lua")),)*
                    "\nend)()\n",
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
    JOIN = "settling" "places" "join";
    RENEW = "settling" "places" "renew";
    KEEP = "settling" "places" "keep";
    MARK = "settling" "places" "mark";
    DEPART = "settling" "places" "depart";
    SETTLE = "settling" "settle";
    OPERATE = "settling" "whole" "operate";
    CREATE = "server" "settling" "whole" "create";
    MERGE = "server" "settling" "places" "whole" "merge";
    RESTORE = "server" "settling" "whole" "restore";
    LOOK = "server" "fields" "look";
    READ = "fields" "read";
    FIND = "places" "find";
    FREEZE = "freeze";
    ADOPT = "server" "adopt";
    IMPORT = "settling" "places" "import";
}
