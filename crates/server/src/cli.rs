//! The command line, and how settings from four places become one.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command as Clap, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::settings::file::{self, Entry};
use crate::settings::table::{Field, is_secret};
use crate::settings::{Settings, TABLES, WrongSetting};

mod variables;

const EXAMPLES: &str = "\
Examples:
  twinfold serve                                    listen on 127.0.0.1:1026, store data in ./data
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

Every setting can be given as a flag, as an environment variable (TWINFOLD_ and the flag's name), or \
in the TOML file named by --settings, as `twinfold settings` prints it: in the table of its part. The \
flag goes before the variable, the variable before the file, the file before the default. A file:

  listen = \"0.0.0.0:1026\"
  data = \"/srv/twins\"

  [http]
  page_rows_max = 500
  body_bytes_max = \"16MiB\"

  [series]
  folds_max = 2

SIGTERM or SIGINT stops it: requests under way are finished, everything is written, exit code 0. A \
second signal stops it at once. Exit codes: 1 a failure, 2 a wrong setting, 3 the data folder is in \
use by another process, 4 the data is damaged or of another version.";

/// The database server for digital twins
#[derive(Debug, Parser)]
#[command(name = "twinfold", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
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

/// A settings file that was read.
struct SettingsFile {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl SettingsFile {
    /// Where the setting of this name is from, if the file has it.
    fn origin(&self, name: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some(format!("file {}, line {}", self.path.display(), entry.line))
    }
}

/// One setting in force.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Origin {
    /// The setting's name.
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
    let Some(path) = sub.get_one::<PathBuf>("settings").cloned() else {
        return finish(&Cli::command(), &matches, &name, None);
    };
    // Values of the file become defaults: flags and variables then win by clap's own rules, and
    // its checks apply to the file, too.
    let entries = file::read(&path)?;
    let command = Cli::command().mut_subcommand(&name, |sub| {
        let in_file =
            |sub: Clap, entry: &Entry| sub.mut_arg(entry.name, |arg| arg.default_value(entry.value.clone()));
        entries.iter().fold(sub, in_file)
    });
    let file = SettingsFile { path, entries };
    // Flags and variables were understood above: what is wrong now is in the file.
    let matches = command.clone().try_get_matches_from(arguments).map_err(|error| {
        let name = variables::flag(&error).map(|long| long.replace('-', "_"));
        let line = file.entries.iter().find(|entry| name.as_deref() == Some(entry.name));
        let line = line.map_or_else(String::new, |entry| format!(", line {}", entry.line));
        let text = error.to_string();
        WrongSetting(format!("settings file {}{line}: {}", file.path.display(), sentence(&text)))
    })?;
    finish(&command, &matches, &name, Some(&file))
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
    file: Option<&SettingsFile>,
) -> anyhow::Result<Parsed> {
    let mut cli = Cli::from_arg_matches(matches)?;
    let sub = matches.subcommand_matches(name).expect("the subcommand by whose name we were called");
    let mut origins = origins(command, sub, name, file);
    if let Command::Serve(settings) | Command::Settings(settings) = &mut cli.command {
        follow(settings, &mut origins);
    }
    Ok(Parsed { cli, origins, warnings: variables::unknown(command, name) })
}

/// Defaults that follow other settings: a page that nobody asks anything of has no more rows than one may have.
fn follow(settings: &mut Settings, origins: &mut [Origin]) {
    let rows_max = settings.http.page_rows_max;
    let origin = origins.iter_mut().find(|origin| origin.key == "page_rows_default");
    if let Some(origin) = origin
        && origin.from == "default"
        && settings.http.page_rows_default > rows_max
    {
        settings.http.page_rows_default = rows_max;
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

fn origins(command: &Clap, sub: &ArgMatches, name: &str, file: Option<&SettingsFile>) -> Vec<Origin> {
    let origin = |arg: &clap::Arg| {
        let key = arg.get_id().as_str();
        let value = sub.get_raw(key).and_then(|mut values| values.next());
        let from = match sub.value_source(key) {
            Some(ValueSource::CommandLine) => format!("flag --{}", arg.get_long().unwrap_or(key)),
            Some(ValueSource::EnvVariable) => {
                let variable = arg.get_env().expect("a value from the environment has a variable");
                format!("environment {}", variable.to_string_lossy())
            }
            Some(_) => file.and_then(|file| file.origin(key)).unwrap_or_else(|| "default".to_owned()),
            None => "not set".to_owned(),
        };
        Origin { key: key.to_owned(), value: value.map(|value| value.to_string_lossy().into_owned()), from }
    };
    setting_args(command, name).map(origin).collect()
}

/// Writes settings in force as a settings file, each with its origin as a comment.
///
/// # Errors
///
/// If `out` cannot be written to.
pub(crate) fn print_settings(origins: &[Origin], out: &mut impl Write) -> std::io::Result<()> {
    for table in TABLES {
        if !table.name.is_empty() {
            writeln!(out, "\n[{}]", table.name)?;
        }
        for Field { key, name } in table.fields {
            let origin = origins.iter().find(|origin| origin.key == *name);
            let Origin { value, from, .. } = origin.expect("every field of a table is a flag");
            let line = match value {
                None => format!("# {key} ="),
                Some(_) if is_secret(name) => format!("# {key} = (not shown)"),
                Some(value) if value.parse::<i64>().is_ok() => format!("{key} = {value}"),
                Some(value) => format!("{key} = {}", toml::Value::String(value.clone())),
            };
            writeln!(out, "{line:<48} # {from}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
