//! The commands of docs/IMPORT.md, against real databases.

use std::{path::Path, process::Command};

use ropeline_testing::{TestMariaDb, TestPostgres};

use super::{ROOM, import, tokens};
use crate::process::Site;

/// Two rows have the same second; quotes and backslashes must survive the way.
const ROWS: &str = "\
    (7, 'seven', '2024-07-01 09:00:03', 'WAIT'),
    (8, 'o\"brien', '2024-07-01 09:00:01.000002', 'WAIT'),
    (9, 'back\\slash', '2024-07-01 09:00:01.000001', 'WAIT'),
    (10, 'ten', '2024-07-01 09:00:02', 'ACTIVE'),
    (11, 'gone', '2024-07-01 09:00:00', 'EXPIRED')";

/// The line of the document that begins with a command.
fn documented(command: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/IMPORT.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let line = text.lines().find(|line| line.starts_with(command));
    line.expect("the document has the command").to_owned()
}

/// Exports with the documented line in a shell, imports, and says who is where.
fn carry(mut shell: Command, line: &str) -> Vec<String> {
    let site = Site::new(ROOM);
    let directory = site.with_file("empty", b"").with_file_name("");
    let export = shell.args(["-c", line]).current_dir(&directory).output();
    let export = export.expect("a shell");
    let said = String::from_utf8_lossy(&export.stderr);
    assert!(export.status.success(), "{said}");
    let said = import(&site, &format!("import {}queue.jsonl", directory.display()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let figures =
        "4 rows taken over by the room main; there are now 3 inside, 0 at the door and 1 in line";
    assert!(said.stderr.contains(figures), "{}", said.stderr);
    assert!(said.stderr.contains("1 skipped"), "{}", said.stderr);
    tokens(&site).into_iter().map(|(user, _)| user).collect()
}

#[test]
fn the_documented_export_from_mariadb_is_taken_over_in_order() {
    let database = TestMariaDb::start();
    database.execute(
        "CREATE DATABASE shop; CREATE TABLE shop.queue_token (id BIGINT PRIMARY KEY AUTO_INCREMENT, user_id BIGINT, \
         name VARCHAR(64), issued_at DATETIME(6), status ENUM('WAIT', 'ACTIVE', 'EXPIRED'))",
    );
    let rows = ROWS.replace('\\', "\\\\");
    database.execute(&format!(
        "INSERT INTO shop.queue_token (user_id, name, issued_at, status) VALUES {rows}"
    ));
    let line = documented("mariadb ");
    assert_eq!(carry(database.shell(), &line), ["10", "9", "8", "7"]);
    let by_name = line.replace("user_id", "name");
    let names = ["ten", "back\\slash", "o\"brien", "seven"];
    assert_eq!(carry(database.shell(), &by_name), names);
}

#[test]
fn times_of_a_mariadb_elsewhere_are_exported_as_utc() {
    let database = TestMariaDb::start();
    database.execute(
        "SET GLOBAL time_zone = '+09:00'; SET time_zone = '+09:00'; CREATE DATABASE shop; \
         CREATE TABLE shop.queue_token (user_id BIGINT, issued_at TIMESTAMP(6), status VARCHAR(16)); \
         INSERT INTO shop.queue_token VALUES (1, '2024-07-01 18:00:00', 'WAITING')",
    );
    let directory = tempfile::tempdir().expect("a directory");
    let mut shell = database.shell();
    shell
        .args(["-c", &documented("mariadb ")])
        .current_dir(directory.path());
    assert!(shell.status().expect("a shell").success());
    let text = std::fs::read_to_string(directory.path().join("queue.jsonl")).expect("the export");
    assert!(text.contains("2024-07-01 09:00:00"), "{text}");
}

#[test]
fn the_documented_export_from_postgresql_is_taken_over_in_order() {
    let database = TestPostgres::start();
    database.execute("postgres", "CREATE DATABASE shop");
    database.execute(
        "shop",
        "CREATE TABLE queue_token (id BIGSERIAL PRIMARY KEY, user_id BIGINT, name TEXT, issued_at TIMESTAMPTZ, status TEXT)",
    );
    let rows = format!(
        "SET time zone 'UTC'; INSERT INTO queue_token (user_id, name, issued_at, status) VALUES {ROWS}"
    );
    database.execute("shop", &rows);
    let line = documented("psql ");
    assert_eq!(carry(database.shell(), &line), ["10", "9", "8", "7"]);
    let by_name = line.replace("user_id", "name");
    let names = ["ten", "back\\slash", "o\"brien", "seven"];
    assert_eq!(carry(database.shell(), &by_name), names);
}
