//! The command line, and how settings from four places become one.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::settings::Settings;

mod variables;

const EXAMPLES: &str = "\
Examples:
  twinfold serve                                    listen on 127.0.0.1:1026, keep data in ./data
  twinfold serve --store memory --listen 0.0.0.0:0  a throw-away server on a free port
  twinfold serve --settings /etc/twinfold.toml      settings from a file
  TWINFOLD_DATA=/srv/twins twinfold serve           settings from the environment
  twinfold settings --settings /etc/twinfold.toml   what is in force, and why
  twinfold backup --server http://127.0.0.1:1026 --to /backups/today
  twinfold restore --from /backups/today --data /srv/twins

A first entity, once the server listens:
  curl -i http://127.0.0.1:1026/ngsi-ld/v1/entities -H 'Content-Type: application/json' \\
       -d '{\"id\":\"urn:ngsi-ld:Room:1\",\"type\":\"Room\",\"temperature\":{\"type\":\"Property\",\"value\":21.5}}'
  curl 'http://127.0.0.1:1026/ngsi-ld/v1/entities?type=Room&q=temperature%3E20'";

const SERVE_HELP: &str = "\
Starts the server. Prints `durability: …` and `listening on http://ADDR` once it is ready.

Every setting can be given as a flag, as an environment variable (TWINFOLD_ and the flag's name), or
as a key of the TOML file named by --settings (the flag's name with underscores). The flag goes
before the variable, the variable before the file, the file before the default. A file:

  listen = \"0.0.0.0:1026\"
  data = \"/srv/twins\"
  page_rows_max = 500
  body_bytes_max = \"16MiB\"

SIGTERM or SIGINT stops it: requests under way are finished, everything is written, exit code 0. A
second signal stops it at once. Exit codes: 1 a failure, 2 a wrong setting, 3 the data folder is in
use by another process, 4 the data is damaged or of another version.";

/// The database server for digital twins
#[derive(Debug, Parser)]
#[command(name = "twinfold", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Starts the server
    #[command(long_about = SERVE_HELP)]
    Serve(Box<Settings>),
    /// Prints the settings in force as TOML, and where each comes from
    Settings(Box<Settings>),
    /// Copies a store to a new folder, from a running server or from a data folder nobody uses
    Backup(Backup),
    /// Puts a backup into an empty data folder
    Restore(Restore),
    /// Measures a server from outside with published load tests
    #[cfg(feature = "campaign")]
    Campaign(campaign::Args),
    /// Prints the version
    Version,
}

/// Where a backup comes from and goes to.
#[derive(Args, Debug)]
pub(crate) struct Backup {
    /// URL of a running server on this machine; it writes the copy while it serves
    #[arg(long, value_name = "URL", conflicts_with = "data", required_unless_present = "data")]
    pub(crate) server: Option<String>,
    /// Data folder of a server that is not running
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder to write to; must not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
}

/// Where data is restored from and to.
#[derive(Args, Debug)]
pub(crate) struct Restore {
    /// Folder that a backup was written to
    #[arg(long, value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// Data folder to make; must be empty or missing
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
}

/// A command line as it was understood.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) cli: Cli,
    /// For the commands that take settings: where each comes from, in the order of `--help`.
    pub(crate) origins: Vec<Origin>,
    /// For the same: variables that are named like settings and are none, each as a sentence.
    pub(crate) warnings: Vec<String>,
}

/// One setting in force.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Origin {
    pub(crate) key: String,
    /// `None`: not set.
    pub(crate) value: Option<String>,
    pub(crate) from: String,
}

/// Reads a command line, and the settings file it (or the environment) names.
///
/// # Errors
///
/// What clap says of a wrong command line; the file and key of a wrong settings file.
pub(crate) fn parse(arguments: &[OsString]) -> anyhow::Result<Parsed> {
    let matches = Cli::command().try_get_matches_from(arguments);
    let matches = matches.map_err(|error| variables::name_variable(error, &Cli::command(), arguments))?;
    let with_settings = matches.subcommand().filter(|(name, _)| matches!(*name, "serve" | "settings"));
    let Some((name, sub)) = with_settings else {
        let cli = Cli::from_arg_matches(&matches)?;
        return Ok(Parsed { cli, origins: Vec::new(), warnings: Vec::new() });
    };
    let name = name.to_owned();
    let Some(file) = sub.get_one::<PathBuf>("settings").cloned() else {
        return finish(&Cli::command(), &matches, &name, None);
    };
    // Values of the file become defaults: flags and variables then win by clap's own rules, and
    // its checks hold for the file, too.
    let values = read_file(&file, &Cli::command(), &name)?;
    let keys: Vec<_> = values.iter().map(|(key, _)| key.clone()).collect();
    let command = Cli::command().mut_subcommand(&name, |sub| {
        values.into_iter().fold(sub, |sub, (key, value)| sub.mut_arg(key, |arg| arg.default_value(value)))
    });
    // Flags and variables were understood above: what is wrong now stands in the file.
    let matches = command.clone().try_get_matches_from(arguments).map_err(|error| {
        let (file, text) = (file.display(), error.to_string());
        WrongSetting(format!("settings file {file}: {}", sentence(&text)))
    })?;
    finish(&command, &matches, &name, Some((&file, &keys)))
}

/// How a text is refused where a number is wanted, in words of Rust.
const NO_NUMBER: &str = "invalid digit found in string";

/// What clap says, without its frame.
fn sentence(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let text = text.split("\n\n").next().unwrap_or(text).trim_end();
    text.replace(NO_NUMBER, "it must be a whole number")
}

fn finish(
    command: &Clap,
    matches: &ArgMatches,
    name: &str,
    file: Option<(&Path, &[String])>,
) -> anyhow::Result<Parsed> {
    let mut cli = Cli::from_arg_matches(matches)?;
    let origins = matches.subcommand_matches(name).map(|sub| origins(command, sub, name, file));
    let mut origins = origins.unwrap_or_default();
    if let Command::Serve(settings) | Command::Settings(settings) = &mut cli.command {
        follow(settings, &mut origins);
    }
    Ok(Parsed { cli, origins, warnings: variables::unknown(command, name) })
}

/// Defaults that follow other settings: a page that nobody asks anything of has no more rows than one may have.
fn follow(settings: &mut Settings, origins: &mut [Origin]) {
    let rows_max = settings.limits.page_rows_max;
    let origin = origins.iter_mut().find(|origin| origin.key == "page_rows_default");
    if let Some(origin) = origin
        && origin.from == "default"
        && settings.limits.page_rows_default > rows_max
    {
        settings.limits.page_rows_default = rows_max;
        (origin.value, origin.from) = (Some(rows_max.to_string()), "default, by page_rows_max".to_owned());
    }
}

/// A refusal by what the settings are together, with where those come from that it names.
///
/// # Errors
///
/// The same refusal.
pub(crate) fn with_origins(checked: anyhow::Result<()>, origins: &[Origin]) -> anyhow::Result<()> {
    let Err(error) = checked else { return Ok(()) };
    let mut text = format!("{error:#}");
    let words: Vec<String> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned).collect();
    let chosen = |origin: &&Origin| origin.from != "default" && origin.from != "not set";
    let named: Vec<String> = origins
        .iter()
        .filter(chosen)
        .filter(|origin| words.contains(&origin.key))
        .map(|origin| format!("{} is from {}", origin.key, origin.from))
        .collect();
    if !named.is_empty() {
        text = format!("{text} ({})", named.join(", "));
    }
    Err(WrongSetting(text).into())
}

/// The names of all settings, in the order of `--help`.
fn setting_args<'a>(command: &'a Clap, name: &str) -> impl Iterator<Item = &'a clap::Arg> {
    let args = command.find_subcommand(name).into_iter().flat_map(Clap::get_arguments);
    args.filter(|arg| !matches!(arg.get_id().as_str(), "help" | "settings"))
}

fn origins(command: &Clap, sub: &ArgMatches, name: &str, file: Option<(&Path, &[String])>) -> Vec<Origin> {
    let origin = |arg: &clap::Arg| {
        let key = arg.get_id().as_str();
        let value = sub.get_raw(key).and_then(|mut values| values.next());
        let from = match sub.value_source(key) {
            Some(ValueSource::CommandLine) => format!("flag --{}", arg.get_long().unwrap_or(key)),
            Some(ValueSource::EnvVariable) => {
                let variable = arg.get_env().unwrap_or_default().to_string_lossy();
                format!("environment {variable}")
            }
            Some(_) => match file {
                Some((path, keys)) if keys.iter().any(|known| known == key) => {
                    format!("file {}", path.display())
                }
                _ => "default".to_owned(),
            },
            None => "not set".to_owned(),
        };
        Origin { key: key.to_owned(), value: value.map(|value| value.to_string_lossy().into_owned()), from }
    };
    setting_args(command, name).map(origin).collect()
}

/// Keys and values of a settings file, all keys known.
fn read_file(path: &Path, command: &Clap, name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("settings file {shown} cannot be read"))
        .map_err(|error| WrongSetting(format!("{error:#}")))?;
    let table: toml::Table = text
        .parse()
        .with_context(|| format!("settings file {shown} is not TOML"))
        .map_err(|error| WrongSetting(format!("{error:#}")))?;
    let known: Vec<_> = setting_args(command, name).map(|arg| arg.get_id().as_str()).collect();
    let mut values = Vec::with_capacity(table.len());
    for (key, value) in table {
        if !known.contains(&key.as_str()) {
            let hint =
                nearest(&key, &known).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
            return Err(WrongSetting(format!("settings file {shown}: unknown key {key:?}{hint}")).into());
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            _ => {
                let message = format!("settings file {shown}: {key:?} must be a text or a whole number");
                return Err(WrongSetting(message).into());
            }
        };
        values.push((key, value));
    }
    Ok(values)
}

/// A setting that is wrong in itself: exit code 2, as clap's own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongSetting(pub(crate) String);

/// The known key most like a misspelt one: by pairs of neighbouring letters, at least half of them.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let key = key.replace('-', "_").to_ascii_lowercase();
    let pairs = |text: &str| -> Vec<(u8, u8)> { text.bytes().zip(text.bytes().skip(1)).collect() };
    let wanted = pairs(&key);
    let shared = |candidate: &&str| pairs(candidate).iter().filter(|pair| wanted.contains(pair)).count();
    // Of those that share as much, the shortest has the least else.
    let best = known.iter().copied().max_by_key(|name| (shared(name), std::cmp::Reverse(name.len())))?;
    (shared(&best) * 2 >= wanted.len().max(best.len() - 1)).then_some(best)
}

/// Writes settings in force as TOML, each with its origin as a comment.
///
/// # Errors
///
/// If `out` cannot be written to.
pub(crate) fn print_settings(origins: &[Origin], out: &mut impl Write) -> std::io::Result<()> {
    for Origin { key, value, from } in origins {
        let line = match value {
            None => format!("# {key} ="),
            Some(value) if value.parse::<i64>().is_ok() => format!("{key} = {value}"),
            Some(value) => format!("{key} = {}", toml::Value::String(value.clone())),
        };
        writeln!(out, "{line:<48} # {from}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
