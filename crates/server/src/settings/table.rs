//! Tables of settings: a part declares its fields once, and flag, variable, key in the settings file and help derive
//! from that.
//!
//! A setting has one *name*, which is its flag with underscores: `series_folds_max` is `--series-folds-max`,
//! `TWINFOLD_SERIES_FOLDS_MAX`, and in the file `folds_max` below `[series]`. The name is what the table puts before its
//! fields (`series_`, or nothing where fields speak for themselves) and the field, unless a field has another (`as`).

use crate::units::Span;

/// What the variable of every setting begins with.
pub(crate) const VARIABLE_PREFIX: &str = "TWINFOLD_";

/// The settings of one part.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in the settings file; empty: its keys are at the top of the file.
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// One setting of a table.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its key in the table.
    pub(crate) key: &'static str,
    /// Its name everywhere: that of its flag, with underscores.
    pub(crate) name: &'static str,
}

/// The known key most like a misspelt one: by pairs of neighbouring letters, at least half of them.
pub(crate) fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let key = key.replace('-', "_").to_ascii_lowercase();
    let pairs = |text: &str| -> Vec<(u8, u8)> { text.bytes().zip(text.bytes().skip(1)).collect() };
    let wanted = pairs(&key);
    let shared = |candidate: &&str| pairs(candidate).iter().filter(|pair| wanted.contains(pair)).count();
    // Of those that share as much, the shortest has the least else.
    let best = known.iter().copied().max_by_key(|name| (shared(name), std::cmp::Reverse(name.len())))?;
    (shared(&best) * 2 >= wanted.len().max(best.len() - 1)).then_some(best)
}

/// Whether a setting of this name is shown to nobody.
pub(crate) fn is_secret(name: &str) -> bool {
    name.ends_with("_password")
}

/// A flag of a setting with its variable; everything derives from the name.
pub(super) fn argument(name: &'static str, help: &str, value_name: &'static str) -> clap::Arg {
    clap::Arg::new(name)
        .long(name.replace('_', "-"))
        .env(format!("{VARIABLE_PREFIX}{}", name.to_ascii_uppercase()))
        .hide_env_values(is_secret(name))
        .value_name(value_name)
        .help(help.trim().to_owned())
}

/// Refuses counts of zero.
///
/// # Errors
///
/// The name of the first.
pub(super) fn at_least_one(counts: &[(&str, usize)]) -> anyhow::Result<()> {
    for (name, count) in counts {
        anyhow::ensure!(*count > 0, "{name} must be at least 1");
    }
    Ok(())
}

/// Refuses spans of zero.
///
/// # Errors
///
/// The name of the first.
pub(super) fn above_zero(spans: &[(&str, Span)]) -> anyhow::Result<()> {
    for (name, span) in spans {
        anyhow::ensure!(!span.0.is_zero(), "{name} must be above 0");
    }
    Ok(())
}

/// Declares the settings of a part: `key [as "name"]: Type = default, "VALUE";`, each with its help above it. The
/// default is a text as on the command line, or `none`: the field is then an `Option`.
macro_rules! settings_table {
    (
        $(#[doc = $doc:literal])*
        pub(crate) struct $struct:ident, table $table:literal, flags $prefix:literal, heading $heading:literal {
            $(
                $(#[doc = $help:literal])*
                $field:ident $(as $name:literal)?: $type:ty = $default:tt, $value:literal;
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $struct {
            $($(#[doc = $help])* pub(crate) $field: settings_table!(@type $default $type),)*
        }

        impl $struct {
            /// Its keys and names.
            pub(crate) const TABLE: Table = Table {
                name: $table,
                fields: &[$(Field {
                    key: stringify!($field),
                    name: settings_table!(@name $prefix $field $($name)?),
                }),*],
            };
        }

        impl clap::Args for $struct {
            fn augment_args(command: clap::Command) -> clap::Command {
                let command = command.next_help_heading($heading);
                $(
                    let argument = super::table::argument(
                        settings_table!(@name $prefix $field $($name)?),
                        concat!($($help),*),
                        $value,
                    );
                    let argument = argument.value_parser(clap::value_parser!($type));
                    let command = command.arg(settings_table!(@default $default argument));
                )*
                command
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        }

        impl clap::FromArgMatches for $struct {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self {
                    $($field: settings_table!(
                        @get $default matches, settings_table!(@name $prefix $field $($name)?)
                    ),)*
                })
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
    (@name $prefix:literal $field:ident) => { concat!($prefix, stringify!($field)) };
    (@name $prefix:literal $field:ident $name:literal) => { $name };
    (@type none $type:ty) => { Option<$type> };
    (@type $default:literal $type:ty) => { $type };
    (@default none $argument:expr) => { $argument };
    (@default $default:literal $argument:expr) => { $argument.default_value($default) };
    (@get none $matches:expr, $name:expr) => { $matches.get_one($name).cloned() };
    (@get $default:literal $matches:expr, $name:expr) => {
        $matches.get_one($name).cloned().expect("a setting with a default has a value")
    };
}

pub(super) use settings_table;
