//! Reads a link from a TOML table. Every key and value is checked at its own position, so that an error points there.

use crate::parameters::{Key, Parameter, Setting, Side};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use std::fmt;

/// The settings of a TOML table, with the name if there is one. Settings for both directions come first, whatever their
/// order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SettingsTable {
    pub(crate) name: Option<String>,
    pub(crate) settings: Vec<Setting>,
}

impl<'de> serde::Deserialize<'de> for SettingsTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(TableVisitor)
    }
}

pub(crate) struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = SettingsTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a table like { name = "short-queue", rate = "512 kbit/s", one_way_delay = "50 ms" }"#)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SettingsTable, A::Error> {
        let mut table = SettingsTable::default();
        while let Some(key) = map.next_key::<TableKey>()? {
            match key {
                TableKey::Name => table.name = Some(map.next_value()?),
                TableKey::Setting(key) => table.settings.push(map.next_value_seed(ValueOf(key))?),
            }
        }
        table.settings.sort_by_key(|setting| setting.key.side != Side::Both);
        for side in [Side::Down, Side::Up] {
            let given = |parameter| table.settings.iter().any(|setting| setting.states(parameter, side));
            for (one, other) in Parameter::ALTERNATIVES {
                if given(one) && given(other) {
                    let (one, other) = (one.name(), other.name());
                    return Err(A::Error::custom(format!(
                        "both {one} and {other} are given for one direction: leave one out"
                    )));
                }
            }
        }
        Ok(table)
    }
}

enum TableKey {
    Name,
    Setting(Key),
}

impl<'de> serde::Deserialize<'de> for TableKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let key = String::deserialize(from)?;
        if key == "name" {
            Ok(Self::Name)
        } else {
            Key::parse(&key).map(Self::Setting).map_err(D::Error::custom)
        }
    }
}

/// Reads the value that belongs to a key.
struct ValueOf(Key);

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = Setting;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Setting, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(from)?;
        Setting::parse(self.0, &text).map_err(D::Error::custom)
    }
}
