//! Whether a failure is the database's absence or a mistake of ours.

/// Whether the database could not be reached, or had no room or no time for it.
pub(crate) fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(judged) => code_is_away(judged.code().as_deref()),
        _ => false,
    }
}

/// SQLSTATEs of PostgreSQL have five characters, the result codes of SQLite are shorter numbers.
fn code_is_away(code: Option<&str>) -> bool {
    match code {
        Some(state) if state.len() == 5 => sqlstate_is_away(state),
        Some(code) => code.parse().is_ok_and(sqlite_is_away),
        None => false,
    }
}

fn sqlstate_is_away(state: &str) -> bool {
    let class = &state[..2];
    // The connection; resources such as disk and connections; conflicts that outlasted our tries; an
    // operator who stops the server or a query; a failing system.
    matches!(class, "08" | "53" | "57" | "58") || matches!(state, "40001" | "40P01" | "55P03")
}

/// An extended code has its kind in the last byte.
fn sqlite_is_away(code: u32) -> bool {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READONLY: u32 = 8;
    const IOERR: u32 = 10;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    matches!(
        code & 0xff,
        BUSY | LOCKED | READONLY | IOERR | FULL | CANTOPEN
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_time_or_an_operator_mends_is_absence_and_the_rest_is_a_mistake() {
        for away in [
            "08006", "53300", "57P01", "57014", "40P01", "55P03", "5", "517", "13", "778",
        ] {
            assert!(code_is_away(Some(away)), "{away}");
        }
        for mistake in ["23505", "42P01", "22003", "42601", "1", "19", "2067", ""] {
            assert!(!code_is_away(Some(mistake)), "{mistake}");
        }
        assert!(!code_is_away(None));
    }

    #[test]
    fn a_pool_without_connections_is_absence() {
        assert!(is_away(&sqlx::Error::PoolTimedOut));
        assert!(is_away(&sqlx::Error::Io(
            std::io::ErrorKind::ConnectionReset.into()
        )));
        assert!(!is_away(&sqlx::Error::RowNotFound));
        assert!(!is_away(&sqlx::Error::ColumnNotFound("price".into())));
    }
}
