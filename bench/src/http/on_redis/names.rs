//! What the loads are called, in the tables and where they are compared.

pub(crate) const HELLO: &str = "hello";
pub(crate) const PLAIN_JOIN: &str = "plain: join, `ZCARD`";
pub(crate) const KEYS_FEW: &str = "plain: join, `KEYS`, 200 inside";
pub(crate) const KEYS_MANY: &str = "plain: join, `KEYS`, 3333 inside";
pub(crate) const PLAIN_STATUS: &str = "plain: status";
pub(crate) const PLAIN_GATE: &str = "plain: gate check";
pub(crate) const LIST_JOIN: &str = "list (001): join";
pub(crate) const LIST_STATUS: &str = "list (001): status";
pub(crate) const TABLE_JOIN: &str = "table (003, 004): join";
pub(crate) const TABLE_STATUS: &str = "table (003, 004): status";
pub(crate) const TOGETHER_JOIN: &str = "many by one script: join";
pub(crate) const BARE_JOIN: &str = "bare: join";
pub(crate) const JOIN: &str = "Ropeline: join";
pub(crate) const JOIN_REPLICATED: &str = "Ropeline: join, replica has it";
pub(crate) const STATUS: &str = "Ropeline: status";
pub(crate) const GATE: &str = "Ropeline: gate check";
pub(crate) const CROWD_HELLO: &str = "hello, 256 connections";
pub(crate) const CROWD_PLAIN_JOIN: &str = "plain: join, `ZCARD`, 256 connections";
pub(crate) const CROWD_TOGETHER_JOIN: &str = "many by one script: join, 256 connections";
pub(crate) const CROWD_BARE_JOIN: &str = "bare: join, 256 connections";
pub(crate) const CROWD_JOIN: &str = "Ropeline: join, 256 connections";
pub(crate) const CROWD_GATE: &str = "Ropeline: gate check, 256 connections";

/// In which they take turns: what is compared comes one right after the other, so that the machine has little time to
/// become another one in between.
pub(crate) const IN_TURN: [&str; 22] = [
    HELLO,
    PLAIN_JOIN,
    TOGETHER_JOIN,
    BARE_JOIN,
    JOIN,
    JOIN_REPLICATED,
    CROWD_HELLO,
    CROWD_PLAIN_JOIN,
    CROWD_TOGETHER_JOIN,
    CROWD_BARE_JOIN,
    CROWD_JOIN,
    CROWD_GATE,
    PLAIN_STATUS,
    STATUS,
    PLAIN_GATE,
    GATE,
    KEYS_FEW,
    KEYS_MANY,
    LIST_JOIN,
    LIST_STATUS,
    TABLE_JOIN,
    TABLE_STATUS,
];
