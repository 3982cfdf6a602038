//! Where the box office keeps its books.

use std::{
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use url::Url;

use super::value::Wrong;

/// What a file's name may hold as it is; everything else is percent-encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The address of a database: `sqlite:` and a file, or `postgres://` and a server.
///
/// It is never printed with its password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Box<str>);

impl DatabaseUrl {
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        if let Some(file) = text.strip_prefix("sqlite:") {
            return Self::sqlite(file);
        }
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(no_database(text));
        }
        match Url::parse(text) {
            Ok(_) => Ok(Self(text.into())),
            // The parser's words would not repeat the password, but ours are plainer.
            Err(_) => Err(Wrong::new(
                "must be postgres://user:password@host/database, with / ? # @ % in user and password written as %2F %3F \
                 %23 %40 %25",
            )),
        }
    }

    fn sqlite(file: &str) -> Result<Self, Wrong> {
        if file.is_empty() || file.ends_with('/') || file.contains(":memory:") {
            return Err(Wrong::new("must name a file behind sqlite:"));
        }
        if is_encoded(file) {
            let name: Vec<u8> = percent_decode_str(file).collect();
            let encoded = percent_encode(&name, ENCODED);
            return Ok(Self(format!("sqlite:{encoded}").into()));
        }
        let what =
            "must have space, ?, # and % in the file's name written as %20, %3F, %23 and %25";
        let meant = percent_encode(file.as_bytes(), ENCODED);
        Err(Wrong::meant(what, format!("\"sqlite:{meant}\"")))
    }

    /// The database in this file.
    pub fn of_file(file: &Path) -> Self {
        let name = percent_encode(file.as_os_str().as_bytes(), ENCODED);
        Self(format!("sqlite:{name}").into())
    }

    /// The file that it names, if it does not name a server.
    pub fn file(&self) -> Option<PathBuf> {
        let name = self.0.strip_prefix("sqlite:")?;
        let name = name.strip_prefix("//").unwrap_or(name);
        let bytes = percent_decode_str(name).collect();
        Some(
            PathBuf::from(OsString::from_vec(bytes))
                .components()
                .collect(),
        )
    }

    /// The address with its password, for connecting.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is of a server, which may be away, and not of a file.
    pub fn is_of_server(&self) -> bool {
        !self.0.starts_with("sqlite:")
    }

    /// Whether the address holds what must not be shown.
    pub fn has_password(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| url.password().is_some() || url.query().is_some())
    }
}

/// Whether a file's name has nothing in it that an address would read as something else.
fn is_encoded(file: &str) -> bool {
    let odd = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
    let mut percents = file.split('%').skip(1);
    let hex = |rest: &str| {
        let digits = rest.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    !file.contains(['?', '#']) && !file.bytes().any(odd) && percents.all(hex)
}

fn no_database(text: &str) -> Wrong {
    let what = "must be sqlite: and a file, or postgres://";
    let is_file = !text.contains(':') && is_encoded(text) && !text.is_empty();
    if is_file {
        Wrong::meant(what, format!("\"sqlite:{text}\""))
    } else {
        Wrong::new(what)
    }
}

/// Without password and options.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Url::parse(&self.0) {
            Ok(mut url) if self.has_password() => {
                // Fails only for addresses without a host, which cannot have a password either.
                url.set_password(None).ok();
                url.set_query(None);
                f.write_str(url.as_str())
            }
            _ => f.write_str(&self.0),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        DatabaseUrl::parse(text).unwrap().to_string()
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = "postgres://kim:hunter2@db.example:5433/box?sslpassword=hunter2";
        assert_eq!(shown(url), "postgres://kim@db.example:5433/box");
        let parsed = DatabaseUrl::parse(url).unwrap();
        assert_eq!(
            format!("{parsed:?}"),
            "DatabaseUrl(postgres://kim@db.example:5433/box)"
        );
        assert!(parsed.has_password());
        assert_eq!(parsed.reveal(), url);
        assert_eq!(
            shown("postgres:///box?host=/run&password=hunter2"),
            "postgres:///box"
        );
        assert_eq!(shown("postgresql://db/box"), "postgresql://db/box");
    }

    #[test]
    fn a_file_is_named_as_an_address_names_it() {
        for text in [
            "sqlite:box.db",
            "sqlite:/var/lib/a-b_c~d/box.db",
            "sqlite:../a%20b%3F%23%25.db",
        ] {
            assert_eq!(DatabaseUrl::parse(text).unwrap().reveal(), text);
        }
        assert_eq!(shown("sqlite:가격.db"), "sqlite:%EA%B0%80%EA%B2%A9.db");
        for (written, meant) in [
            ("sqlite:a b.db", "\"sqlite:a%20b.db\""),
            ("sqlite:a?mode=ro", "\"sqlite:a%3Fmode%3Dro\""),
            ("sqlite:a#1", "\"sqlite:a%231\""),
            ("sqlite:100%.db", "\"sqlite:100%25.db\""),
            ("box.db", "\"sqlite:box.db\""),
        ] {
            let wrong = DatabaseUrl::parse(written).unwrap_err();
            assert_eq!(wrong.instead.as_deref(), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for text in [
            "sqlite:",
            "sqlite:dir/",
            "sqlite::memory:",
            "mysql://db",
            "postgres://[",
            "",
        ] {
            assert!(DatabaseUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_names_its_file() {
        for (text, file) in [
            ("sqlite:box.db", Some("box.db")),
            ("sqlite:./data/a%20b.db", Some("./data/a b.db")),
            ("sqlite:/var/box.db", Some("/var/box.db")),
            ("sqlite://box.db", Some("box.db")),
            ("sqlite:///var/box.db", Some("/var/box.db")),
            ("sqlite:////var/box.db", Some("/var/box.db")),
            ("postgres://db/box", None),
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert_eq!(url.file().as_deref(), file.map(Path::new), "{text}");
        }
    }

    #[test]
    fn any_file_has_an_address() {
        let url = DatabaseUrl::of_file(Path::new("./a b?#%/boxoffice.db"));
        assert_eq!(url.reveal(), "sqlite:./a%20b%3F%23%25/boxoffice.db");
    }
}
