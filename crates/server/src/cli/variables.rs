//! Variables of the environment: those that are named like settings and are none, and refusals by their names.

use std::ffi::OsString;

use clap::Command as Clap;
use clap::error::{ContextKind, ContextValue};

use super::{NO_NUMBER, sentence, setting_args};
use crate::settings::WrongSetting;
use crate::settings::table::{VARIABLE_PREFIX as PREFIX, nearest};

/// The variable that names the settings file.
const FILE: &str = "TWINFOLD_SETTINGS";

/// Variables that are named like settings and are none, each as a sentence with the name most like it.
pub(super) fn unknown(command: &Clap, name: &str) -> Vec<String> {
    let known: Vec<&str> = setting_args(command, name).filter_map(variable).chain([FILE]).collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut unknown: Vec<String> =
        set.filter(|name| name.starts_with(PREFIX) && !known.contains(&name.as_str())).collect();
    unknown.sort_unstable();
    unknown.iter().map(|name| tell(name, &known)).collect()
}

fn tell(name: &str, known: &[&str]) -> String {
    // The prefix is alike in all: the rest decides.
    let rest = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_ascii_lowercase();
    let keys: Vec<String> = known.iter().map(|name| rest(name)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let hint = nearest(&rest(name), &keys)
        .map_or_else(String::new, |near| format!("; did you mean {PREFIX}{}?", near.to_ascii_uppercase()));
    format!("variable {name} names no setting{hint}")
}

fn variable(arg: &clap::Arg) -> Option<&str> {
    arg.get_env()?.to_str()
}

/// The refusal of a value under the name of its variable, if it comes from one: clap names the flag.
pub(super) fn name_variable(error: clap::Error, command: &Clap, arguments: &[OsString]) -> anyhow::Error {
    match culprit(&error, command, arguments) {
        Some((flag, variable)) => {
            let text = error.to_string();
            WrongSetting(sentence(&text).replacen(&format!("'{flag}'"), &variable, 1)).into()
        }
        // In words of ours, which clap would not print.
        None if error.to_string().contains(NO_NUMBER) => WrongSetting(sentence(&error.to_string())).into(),
        None => error.into(),
    }
}

/// The flag that an error is about, without its dashes.
pub(super) fn flag(error: &clap::Error) -> Option<&str> {
    let Some(ContextValue::String(text)) = error.get(ContextKind::InvalidArg) else { return None };
    text.strip_prefix("--")?.split([' ', '=']).next()
}

/// The argument that an error is about, as clap writes it, and the variable its value comes from.
fn culprit(error: &clap::Error, command: &Clap, arguments: &[OsString]) -> Option<(String, String)> {
    let Some(ContextValue::String(text)) = error.get(ContextKind::InvalidArg) else { return None };
    let long = flag(error)?;
    let is_given = |argument: &OsString| {
        let given = argument.to_str().and_then(|argument| argument.strip_prefix("--"));
        given.is_some_and(|given| given.split('=').next() == Some(long))
    };
    if arguments.iter().any(is_given) {
        return None;
    }
    let command = command.find_subcommand(arguments.get(1)?)?;
    let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long))?;
    let variable = variable(arg)?;
    let is_set = std::env::vars_os().any(|(name, _)| name == variable);
    is_set.then(|| (text.clone(), variable.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_told_with_the_nearest() {
        let known = ["TWINFOLD_LISTEN", "TWINFOLD_PAGE_ROWS_MAX", "TWINFOLD_DATA"];
        for (name, expected) in [
            ("TWINFOLD_LISTN", "; did you mean TWINFOLD_LISTEN?"),
            ("TWINFOLD_PAGE_ROW_MAX", "; did you mean TWINFOLD_PAGE_ROWS_MAX?"),
            ("TWINFOLD_page-rows-max", "; did you mean TWINFOLD_PAGE_ROWS_MAX?"),
            ("TWINFOLD_XYZZY", ""),
        ] {
            assert_eq!(tell(name, &known), format!("variable {name} names no setting{expected}"));
        }
    }
}
