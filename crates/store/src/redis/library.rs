//! The library of functions on Redis, one for each kind of transition; `library/state.lua` describes it.
//!
//! Its names have the digest of its text in them. So nodes of two releases can share a server while one takes the
//! other's place, and no name ever calls another text than it was made with.

use std::sync::LazyLock;

use redis::Cmd;
use xxhash_rust::xxh3::xxh3_64;

macro_rules! library {
    (rules: $($rules:literal)*; functions: $($name:ident = $function:literal;)*) => {
        /// The rules are seen by all that follows; what belongs to one function only that one sees.
        const BODY: &str = concat!(
            $(include_str!(concat!("library/", $rules, ".lua")), "\n",)*
            $("do\n", include_str!(concat!("library/", $function, ".lua")), "end\n",)*
        );
        $(
            /// What the function is called by.
            pub(super) static $name: LazyLock<String> =
                LazyLock::new(|| format!("{}{}", prefix(), $function));
        )*
    };
}

library! {
    rules: "state" "server" "room" "fields" "settling" "places" "whole";
    functions:
    JOIN = "join";
    RENEW = "renew";
    KEEP = "keep";
    MARK = "mark";
    DEPART = "depart";
    SETTLE = "settle";
    OPERATE = "operate";
    CREATE = "create";
    MERGE = "merge";
    RESTORE = "restore";
    LOOK = "look";
    READ = "read";
    FIND = "find";
    FREEZE = "freeze";
    ADOPT = "adopt";
    IMPORT = "import";
    WHICH = "which";
}

/// Loads the library. Another node may do so at the same moment: the text is the same.
pub(super) fn load() -> Cmd {
    let (digest, prefix) = (&*DIGEST, prefix());
    let text = format!("#!lua name=ropeline_{digest}\nlocal PREFIX = '{prefix}'\n{BODY}");
    let mut load = redis::cmd("FUNCTION");
    load.arg("LOAD").arg("REPLACE").arg(text);
    load
}

/// Asks which server it is, for which a server must know the library.
pub(super) fn ask_which() -> Cmd {
    let mut ask = redis::cmd("FCALL");
    ask.arg(&**WHICH).arg(0);
    ask
}

static DIGEST: LazyLock<String> = LazyLock::new(|| format!("{:016x}", xxh3_64(BODY.as_bytes())));

fn prefix() -> String {
    format!("rl_{}_", *DIGEST)
}
