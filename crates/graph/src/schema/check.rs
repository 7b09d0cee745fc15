//! What holds of drafts of all kinds: their names, what users note, the properties that they name.

use std::collections::HashSet;

use super::drafts::Creation;
use super::error::SchemaError;
use super::kinds::SchemaKind;
use super::user_data::UserData;
use super::{LABEL_PROPERTIES_MAX, Schema, USER_DATA_BYTES_MAX};
use crate::mode::GraphMode;
use crate::numbers::PropertyKeyId;

/// A name has fewer characters.
const NAME_CHARACTERS: usize = 256;
/// Characters that ids of elements are spelled with.
const RESERVED: [char; 4] = ['#', '>', ':', '!'];

/// Refuses a name that no part may have.
pub(super) fn check_name(name: &str) -> Result<(), SchemaError> {
    if name.is_empty() {
        return Err(SchemaError::invalid("The name can't be empty."));
    }
    if name.chars().count() >= NAME_CHARACTERS {
        return Err(SchemaError::invalid("The length of name must less than 256 bytes."));
    }
    if name.starts_with('~') || name.ends_with(|c: char| c.is_ascii_whitespace()) {
        return Err(SchemaError::invalid(format!("Illegal schema name '{name}'")));
    }
    match RESERVED.into_iter().find(|reserved| name.contains(*reserved)) {
        Some(reserved) => {
            Err(SchemaError::invalid(format!("The name can't contain character '{reserved}'.")))
        }
        None => Ok(()),
    }
}

/// Refuses a creation without a number in a graph that is restored.
pub(super) fn check_number_given(id: Option<i64>, creation: &Creation<'_>) -> Result<(), SchemaError> {
    if creation.mode == GraphMode::Restoring && id.is_none() {
        return Err(SchemaError::invalid("Must provide schema id if in RESTORING mode"));
    }
    Ok(())
}

/// Refuses what may not be noted; `all` is what would be noted then.
pub(super) fn check_user_data(draft: &UserData, all: &UserData) -> Result<(), SchemaError> {
    if draft.has_null() {
        return Err(SchemaError::not_allowed(
            "Not allowed to pass null userdata value when create or append schema",
        ));
    }
    if all.bytes() > USER_DATA_BYTES_MAX {
        return Err(SchemaError::Limit {
            what: "too many bytes of user data".into(),
            max: USER_DATA_BYTES_MAX,
        });
    }
    Ok(())
}

/// A list as messages show it.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    format!("[{}]", names.join(", "))
}

/// A list of names of a draft as messages show it.
pub(super) fn named(names: &[Box<str>]) -> String {
    listed(names.iter().map(|name| &**name))
}

/// Refuses names of which one is there twice.
pub(super) fn check_unique(names: &[Box<str>], what: &str) -> Result<(), SchemaError> {
    let each: HashSet<&str> = names.iter().map(|name| &**name).collect();
    if each.len() < names.len() {
        let text = format!("Invalid {what} {}, which contains some duplicate properties", named(names));
        return Err(SchemaError::invalid(text));
    }
    Ok(())
}

impl Schema {
    /// The numbers of property keys, as they are named.
    pub(super) fn keys_named(&self, names: &[Box<str>]) -> Result<Vec<PropertyKeyId>, SchemaError> {
        if names.len() > LABEL_PROPERTIES_MAX {
            return Err(SchemaError::Limit {
                what: "too many property keys".into(),
                max: LABEL_PROPERTIES_MAX,
            });
        }
        let number = |name| {
            let key = self.property_key_named(name);
            Ok(key.ok_or_else(|| SchemaError::undefined(SchemaKind::PropertyKey, name))?.id)
        };
        names.iter().map(|name| number(name)).collect()
    }

    /// The same in the order of numbers, each once.
    pub(super) fn key_set_named(&self, names: &[Box<str>]) -> Result<Vec<PropertyKeyId>, SchemaError> {
        let mut keys = self.keys_named(names)?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Property keys as messages show them.
    pub(super) fn listed(&self, keys: &[PropertyKeyId]) -> String {
        listed(self.names_of(keys))
    }
}
