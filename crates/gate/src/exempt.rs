//! What may be reached without a pass.

/// One path, or everything below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exempt {
    Path(Box<str>),
    Below(Box<str>),
}

impl Exempt {
    /// `/healthz` is that path alone, `/assets/*` is everything below `/assets/`.
    pub(crate) fn parse(pattern: &str) -> Self {
        match pattern.strip_suffix('*') {
            Some(prefix) if prefix.ends_with('/') => Self::Below(prefix.into()),
            _ => Self::Path(pattern.into()),
        }
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        match self {
            Self::Path(exempt) => path == &**exempt,
            Self::Below(prefix) => path.starts_with(&**prefix) && stays_below(path),
        }
    }
}

/// Whether nobody behind the gate could read the path as one that climbs out of its folder: `/assets/../pay`.
fn stays_below(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    let climbs = path.split('/').any(|segment| matches!(segment, "." | ".."));
    !climbs
        && !["\\", "%5c", "%2f", "%25"]
            .iter()
            .any(|odd| path.contains(odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_exempt_alone_and_a_prefix_with_what_is_below() {
        let health = Exempt::parse("/healthz");
        assert!(health.covers("/healthz"));
        assert!(!health.covers("/healthz/") && !health.covers("/healthzz"));
        let home = Exempt::parse("/");
        assert!(home.covers("/") && !home.covers("/pay"));
        let assets = Exempt::parse("/assets/*");
        assert!(assets.covers("/assets/a/b.css") && assets.covers("/assets/a..b"));
        assert!(!assets.covers("/assets") && !assets.covers("/assetsx/a"));
        assert!(Exempt::parse("/*").covers("/anything"));
    }

    #[test]
    fn nobody_climbs_out_of_an_exempt_folder() {
        let assets = Exempt::parse("/assets/*");
        for path in [
            "/assets/../pay",
            "/assets/./../pay",
            "/assets/..",
            "/assets/%2e%2E/pay",
            "/assets/.%2e/pay",
            "/assets/..%2fpay",
            "/assets/..%5Cpay",
            "/assets/..\\pay",
            "/assets/%252e%252e/pay",
        ] {
            assert!(!assets.covers(path), "{path}");
        }
    }

    #[test]
    fn a_star_elsewhere_is_a_letter_like_others() {
        assert!(!Exempt::parse("/a*").covers("/ab"));
        assert!(!Exempt::parse("*").covers("/pay"));
    }
}
