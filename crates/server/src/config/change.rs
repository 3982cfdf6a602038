//! What is different in other settings, setting by setting.

use std::collections::BTreeMap;

use super::Settings;

/// A setting whose value is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The setting with its section, such as `limits.idle`.
    pub setting: String,
    /// Its value before, as one would write it; empty where it was left out.
    pub before: String,
    /// Its value now.
    pub after: String,
}

impl Settings {
    /// Every setting that has another value in `other`, but for the keys of operators and services. A secret that has
    /// changed is not shown.
    pub fn changes_to(&self, other: &Self) -> Vec<Change> {
        let (before, after) = (self.by_name(), other.by_name());
        let names = before
            .keys()
            .chain(after.keys().filter(|name| !before.contains_key(*name)));
        let value = |values: &BTreeMap<String, String>, name| values.get(name).cloned();
        let changes = names.map(|name| Change {
            setting: name.clone(),
            before: value(&before, name).unwrap_or_default(),
            after: value(&after, name).unwrap_or_default(),
        });
        let mut changes: Vec<_> = changes
            .filter(|change| change.before != change.after)
            .collect();
        for (setting, differs) in [
            ("store", self.store != other.store),
            ("database", self.database != other.database),
        ] {
            if differs && !changes.iter().any(|change| change.setting == setting) {
                changes.push(Change {
                    setting: setting.to_owned(),
                    before: "another password".to_owned(),
                    after: "not shown".to_owned(),
                });
            }
        }
        changes
    }

    fn by_name(&self) -> BTreeMap<String, String> {
        let table: toml::Table = self
            .to_toml()
            .parse()
            .expect("the settings are shown as TOML");
        let mut values = BTreeMap::new();
        flatten("", &table, &mut values);
        values
    }
}

fn flatten(section: &str, table: &toml::Table, values: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let name = match section {
            "" => name.clone(),
            section => format!("{section}.{name}"),
        };
        match value {
            toml::Value::Table(table) => flatten(&name, table, values),
            value => drop(values.insert(name, value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn settings(text: &str) -> Settings {
        Settings::from_text(text, &Overrides::default()).unwrap()
    }

    fn changes(before: &str, after: &str) -> Vec<(String, String, String)> {
        let changes = settings(before).changes_to(&settings(after));
        let parts = changes
            .into_iter()
            .map(|change| (change.setting, change.before, change.after));
        parts.collect()
    }

    #[test]
    fn every_setting_that_differs_is_named_with_both_values() {
        let before = "listen = '127.0.0.1:1'\nlimits.idle = '5s'\n";
        let after = "public_url = 'https://a.example'\nlimits.idle = '5s'\nrooms.main.batch = 7\n";
        let named = changes(before, after);
        let of = |name: &str| named.iter().find(|(setting, ..)| setting == name);
        let (_, was, is) = of("listen").unwrap();
        let both = (was.as_str(), is.as_str());
        assert_eq!(both, ("\"127.0.0.1:1\"", "\"127.0.0.1:8080\""));
        assert_eq!(of("public_url").unwrap().1, "");
        assert_eq!(of("rooms.main.batch").unwrap().2, "7");
        assert!(of("limits.idle").is_none());
        assert!(changes(after, after).is_empty());
    }

    #[test]
    fn a_password_that_has_changed_is_named_and_not_shown() {
        let named = changes(
            "store = 'redis://:hunter2@127.0.0.1'\n",
            "store = 'redis://:hunter3@127.0.0.1'\n",
        );
        assert_eq!(named.len(), 1);
        assert_eq!(named[0].0, "store");
        assert!(!format!("{named:?}").contains("hunter"));
    }
}
