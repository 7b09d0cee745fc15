//! The settings file: TOML, a table for each part; what is in it, by name and line.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{Table, nearest};
use super::{TABLES, WrongSetting};

/// One setting of a file.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    /// Its name: that of its flag, with underscores.
    pub(crate) name: &'static str,
    /// As a flag would have it.
    pub(crate) value: String,
    /// Where it is in the file, from 1.
    pub(crate) line: usize,
}

/// Reads the settings file at `path`.
///
/// # Errors
///
/// A file that cannot be read or is no TOML; a table or key that is none, with the one most like it; each with its line.
pub(crate) fn read(path: &Path) -> Result<Vec<Entry>, WrongSetting> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| WrongSetting(format!("settings file {shown} cannot be read: {error}")))?;
    entries(&text).map_err(|fault| {
        WrongSetting(match fault {
            Fault::NoToml(error) => format!("settings file {shown} is not TOML: {error}"),
            Fault::At(line, what) => format!("settings file {shown}, line {line}: {what}"),
        })
    })
}

/// What is wrong with a file.
#[derive(Debug)]
enum Fault {
    NoToml(toml::de::Error),
    At(usize, String),
}

fn entries(text: &str) -> Result<Vec<Entry>, Fault> {
    let file = DeTable::parse(text).map_err(Fault::NoToml)?;
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let top = TABLES.iter().find(|table| table.name.is_empty()).expect("there are keys without a table");
    let mut all = Vec::new();
    for (key, value) in file.get_ref() {
        let fault = |what| Fault::At(line(key.span().start), what);
        match value.get_ref() {
            DeValue::Table(fields) => {
                let table = table(key.get_ref()).map_err(fault)?;
                for (key, value) in fields {
                    let at = line(key.span().start);
                    all.push(entry(table, key.get_ref(), value, at).map_err(|what| Fault::At(at, what))?);
                }
            }
            _ => {
                let at = line(key.span().start);
                all.push(entry(top, key.get_ref(), value, at).map_err(fault)?);
            }
        }
    }
    Ok(all)
}

fn table(name: &str) -> Result<&'static Table, String> {
    let known: Vec<&str> = TABLES.iter().map(|table| table.name).filter(|name| !name.is_empty()).collect();
    TABLES.iter().filter(|table| !table.name.is_empty()).find(|table| table.name == name).ok_or_else(|| {
        let hint = nearest(name, &known).map_or_else(
            || format!("; there are: {}", known.join(", ")),
            |near| format!("; did you mean [{near}]?"),
        );
        format!("unknown table [{name}]{hint}")
    })
}

fn entry(
    table: &'static Table,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    line: usize,
) -> Result<Entry, String> {
    let Some(field) = table.fields.iter().find(|field| field.key == key) else {
        return Err(format!("unknown key {key:?}{}{}", within(table), hint(table, key)));
    };
    let value = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_err(|error| format!("{key:?} is no number: {error}"))?
            .to_string(),
        _ => return Err(format!("{key:?} must be a text or a whole number")),
    };
    Ok(Entry { name: field.name, value, line })
}

fn within(table: &Table) -> String {
    if table.name.is_empty() { " before all tables".to_owned() } else { format!(" in [{}]", table.name) }
}

/// Where a key belongs that is not in `table`, or what it may have been meant for.
fn hint(table: &Table, key: &str) -> String {
    let fields = || TABLES.iter().flat_map(|table| table.fields.iter().map(move |field| (table, field)));
    let place = |table: &Table, key: &str| match table.name {
        "" => format!("{key:?} before all tables"),
        name => format!("{key:?} in [{name}]"),
    };
    if let Some((table, field)) = fields().find(|(_, field)| field.name == key || field.key == key) {
        return format!("; it is {}", place(table, field.key));
    }
    let here: Vec<&str> = table.fields.iter().map(|field| field.key).collect();
    if let Some(near) = nearest(key, &here) {
        return format!("; did you mean {near:?}?");
    }
    let names: Vec<&str> = fields().map(|(_, field)| field.name).collect();
    let near = nearest(key, &names).and_then(|near| fields().find(|(_, field)| field.name == near));
    near.map_or_else(String::new, |(table, field)| format!("; did you mean {}?", place(table, field.key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, words: &[&str]) {
        let told = match entries(text).unwrap_err() {
            Fault::At(line, what) => format!("{line}: {what}"),
            Fault::NoToml(error) => error.to_string(),
        };
        for word in words {
            assert!(told.contains(word), "{word:?} is not in {told:?}");
        }
    }

    #[test]
    fn keys_of_tables_are_settings_by_name_and_line() {
        let found =
            entries("listen = \"a:1\"\n\n[series]\nfolds_max = 0x2\n[tls]\ncert = \"a.pem\"\n").unwrap();
        let mut found: Vec<_> =
            found.iter().map(|entry| (entry.name, entry.value.as_str(), entry.line)).collect();
        found.sort_unstable();
        assert_eq!(found, [("listen", "a:1", 1), ("series_folds_max", "2", 4), ("tls_cert", "a.pem", 6)]);
    }

    #[test]
    fn what_is_no_setting_is_told_with_the_nearest_and_its_line() {
        check_refused("\n[serie]\nfolds_max = 1", &["2: unknown table [serie]", "did you mean [series]?"]);
        check_refused(
            "[series]\nfold_max = 1",
            &["2: unknown key \"fold_max\" in [series]", "\"folds_max\"?"],
        );
        check_refused("series_folds_max = 1", &["before all tables", "it is \"folds_max\" in [series]"]);
        check_refused("[http]\nlisten = \"a\"", &["it is \"listen\" before all tables"]);
        check_refused("page_row_max = 1", &["did you mean \"page_rows_max\" in [http]?"]);
        check_refused(
            "[http]\npage_rows_max = [1]",
            &["2: \"page_rows_max\" must be a text or a whole number"],
        );
        check_refused("page_rows_max", &["TOML"]);
    }

    #[test]
    fn names_and_keys_are_given_once() {
        let mut names: Vec<&str> =
            TABLES.iter().flat_map(|table| table.fields).map(|field| field.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for table in TABLES {
            let mut keys: Vec<&str> = table.fields.iter().map(|field| field.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), table.fields.len(), "{}", table.name);
        }
    }
}
