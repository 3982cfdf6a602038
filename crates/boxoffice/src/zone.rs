//! Time zones, by which the times of a concert are told.

use jiff::{Zoned, tz::TimeZone};
use ropeline_core::Timestamp;

use crate::Refusal;

/// A time zone of the IANA database, such as `Asia/Seoul`. The database is built in, so that it is the same on every
/// machine, and a container needs no files of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// UTC, where nobody has said another.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The zone of a name, in upper or lower case.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        let zone = TimeZone::get(name).map_err(|_| Refusal::InvalidZone)?;
        if zone.is_unknown() {
            return Err(Refusal::InvalidZone);
        }
        Ok(Self(zone))
    }

    /// The zone of a name in the database. One that only a later version knows is UTC here, and is told as that.
    pub(crate) fn stored(name: &str) -> Self {
        Self::named(name).unwrap_or(Self::UTC)
    }

    /// The name, as the IANA database writes it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Which time it is in this zone.
    pub(crate) fn at(&self, at: Timestamp) -> Zoned {
        let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
        let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
        moment.to_zoned(self.0.clone())
    }

    /// The time in this zone as RFC 3339 writes it, with the zone's offset: `2026-12-18T19:00:00+09:00`.
    pub(crate) fn rfc_3339(&self, at: Timestamp) -> String {
        let local = self.at(at);
        local
            .timestamp()
            .display_with_offset(local.offset())
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_known_by_its_iana_name_alone() {
        for (given, name) in [
            ("Asia/Seoul", "Asia/Seoul"),
            ("asia/seoul", "Asia/Seoul"),
            (
                "America/Argentina/Buenos_Aires",
                "America/Argentina/Buenos_Aires",
            ),
            ("Etc/GMT-9", "Etc/GMT-9"),
            ("UTC", "UTC"),
        ] {
            assert_eq!(Zone::named(given).unwrap().name(), name);
        }
        for bad in [
            "",
            " ",
            "Seoul",
            "KST",
            "+09:00",
            "UTC+9",
            "Asia/Atlantis",
            "Etc/Unknown",
            "../../etc/passwd",
            "Asia/Seoul\0",
            "local",
        ] {
            assert_eq!(Zone::named(bad), Err(Refusal::InvalidZone), "{bad:?}");
        }
    }

    #[test]
    fn a_local_time_has_the_offset_of_its_day() {
        let summer_and_winter = [
            (
                "Asia/Seoul",
                "2027-07-01T10:00:00+09:00",
                "2027-01-01T10:00:00+09:00",
            ),
            (
                "America/Los_Angeles",
                "2027-06-30T18:00:00-07:00",
                "2026-12-31T17:00:00-08:00",
            ),
            (
                "Pacific/Auckland",
                "2027-07-01T13:00:00+12:00",
                "2027-01-01T14:00:00+13:00",
            ),
        ];
        for (zone, summer, winter) in summer_and_winter {
            let zone = Zone::named(zone).unwrap();
            assert_eq!(zone.rfc_3339(Timestamp(1_814_403_600_000)), summer);
            assert_eq!(zone.rfc_3339(Timestamp(1_798_765_200_000)), winter);
        }
    }
}
