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
    RETELL = "retell";
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
    let mut load = redis::cmd("FUNCTION");
    load.arg("LOAD").arg("REPLACE").arg(text(BODY));
    load
}

fn text(body: &str) -> String {
    let (digest, prefix) = (&*DIGEST, prefix());
    format!("#!lua name=ropeline_{digest}\nlocal PREFIX = '{prefix}'\n{body}")
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

#[cfg(test)]
mod tests {
    use std::{
        fmt::Write as _,
        io::Write as _,
        process::{Command, Output, Stdio},
    };

    use ropeline_testing::TestRedis;

    use super::*;

    /// Lua allows 200 local variables at a time, and a function may refer to 60 outside of it.
    const SPARE_LOCALS: usize = 40;
    const SPARE_UPVALUES: usize = 20;

    #[test]
    fn the_library_loads_with_more_locals_and_upvalues_than_it_has() {
        let redis = TestRedis::start();
        assert_eq!(
            load_into(&redis, &grown(SPARE_LOCALS, SPARE_UPVALUES)),
            Ok(())
        );
    }

    /// The limits are where they are thought to be, so the test above can fail.
    #[test]
    fn a_library_beyond_the_limits_of_lua_does_not_load() {
        let redis = TestRedis::start();
        let locals = load_into(&redis, &grown(200, 0)).unwrap_err();
        assert!(locals.contains("more than 200 local variables"), "{locals}");
        let upvalues = load_into(&redis, &grown(60, 60)).unwrap_err();
        assert!(upvalues.contains("more than 60 upvalues"), "{upvalues}");
    }

    #[test]
    fn luacheck_finds_nothing_wrong_with_the_library() {
        let checked = luacheck(&text(BODY));
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{said}");
    }

    #[test]
    fn luacheck_finds_a_name_that_nobody_has_declared() {
        let body = format!("{BODY}\nmisspelled()");
        assert!(!luacheck(&text(&body)).status.success());
    }

    /// The library with variables before its functions, some of which every function refers to.
    fn grown(locals: usize, upvalues: usize) -> String {
        let (mut extra, mut used) = (String::new(), String::from("\nlocal _ = 0"));
        for number in 1..=locals {
            writeln!(extra, "local extra{number}").unwrap();
        }
        for number in 1..=upvalues {
            write!(used, ", extra{number}").unwrap();
        }
        let mut body = extra;
        for line in BODY.lines() {
            body.push_str(line);
            let code = line.trim_start();
            if code.starts_with("local function ") || code.starts_with("function ") {
                body.push_str(&used);
            }
            body.push('\n');
        }
        text(&body)
    }

    fn load_into(redis: &TestRedis, text: &str) -> Result<(), String> {
        let client = redis::Client::open(redis.url()).expect("an address");
        let mut connection = client.get_connection().expect("Redis is there");
        let load = redis::cmd("FUNCTION")
            .arg("LOAD")
            .arg("REPLACE")
            .arg(text)
            .clone();
        let loaded = load.exec(&mut connection);
        loaded.map_err(|error| error.to_string())
    }

    fn luacheck(text: &str) -> Output {
        let mut luacheck = Command::new("luacheck")
            .args([
                "--no-color",
                "--std",
                "lua51",
                "--globals",
                "redis",
                "bit",
                "cmsgpack",
            ])
            .args(["--no-max-line-length", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("luacheck is installed (on Debian: lua-check)");
        // The first line says which language this is, and is none of it.
        let (_, lua) = text.split_once('\n').expect("a first line");
        let mut input = luacheck.stdin.take().expect("a pipe");
        input.write_all(lua.as_bytes()).expect("luacheck reads");
        drop(input);
        luacheck.wait_with_output().expect("luacheck ends")
    }
}
