//! The twinfold binary: reads settings, wires stores, models and front ends together, listens.

mod units;
mod vital;
mod cors;
mod settings;
mod cli;
mod connection;
mod metrics;
mod process;
mod docs;
mod admin;
mod jobs;
mod welcome;
mod wiring;
mod storage;
mod head;
mod local;
mod service;
mod socket;
mod tls;
mod listen;
mod door;
mod brokers;
mod hugegraph;
#[cfg(feature = "campaign")]
mod load_tests;
mod logs;
mod serve;
mod backup;
mod processor;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use cli::{Command, Parsed};
use settings::WrongSetting;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit codes; listed by `twinfold serve --help`.
mod exit {
    pub(crate) const FAILURE: u8 = 1;
    pub(crate) const WRONG_SETTING: u8 = 2;
    pub(crate) const IN_USE: u8 = 3;
    pub(crate) const DAMAGED: u8 = 4;
}

fn main() -> ExitCode {
    if let Err(error) = processor::check() {
        return report(&anyhow::Error::msg(error));
    }
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let outcome = cli::parse(&arguments).and_then(run);
    outcome.unwrap_or_else(|error| report(&error))
}

fn run(parsed: Parsed) -> anyhow::Result<ExitCode> {
    let Parsed { cli, origins, warnings } = parsed;
    match cli.command {
        Command::Serve(settings) => {
            cli::with_origins(wiring::check(&settings), &origins)?;
            serve::run(&settings, &warnings)?;
        }
        Command::Settings(settings) => {
            cli::with_origins(wiring::check(&settings), &origins)?;
            for warning in warnings {
                // What cannot be told does not change what is in force.
                let _ = writeln!(std::io::stderr(), "warning: {warning}");
            }
            unless_closed(cli::print_settings(&origins, &mut std::io::stdout().lock()))?;
        }
        Command::Backup(backup) => backup::backup(&backup)?,
        Command::Restore(restore) => backup::restore(&restore)?,
        #[cfg(feature = "campaign")]
        Command::Campaign(arguments) => return load_tests::run(arguments),
        Command::Version => {
            unless_closed(writeln!(std::io::stdout(), "twinfold {}", env!("CARGO_PKG_VERSION")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The outcome of printing; a reader that has read enough (`head`) is no failure.
fn unless_closed(printed: std::io::Result<()>) -> std::io::Result<()> {
    printed.or_else(|error| if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Tells what went wrong, in clap's words for a wrong command line.
fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(clap) = error.downcast_ref::<clap::Error>() {
        // Nothing is left to be done if even this cannot be printed.
        let _ = clap.print();
        return ExitCode::from(if clap.use_stderr() { exit::WRONG_SETTING } else { 0 });
    }
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
    ExitCode::from(exit_code(error))
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.downcast_ref::<WrongSetting>().is_some() {
        return exit::WRONG_SETTING;
    }
    match error.downcast_ref::<store::Error>().map(store::Error::kind) {
        Some(store::ErrorKind::Locked) => exit::IN_USE,
        Some(store::ErrorKind::Corrupt) => exit::DAMAGED,
        _ => exit::FAILURE,
    }
}
