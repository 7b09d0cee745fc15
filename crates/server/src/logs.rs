//! The log: structured events on standard error, as text or JSON; panics go there, too.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

use crate::settings::{LogFormat, Settings};

/// Starts the log. To be called once.
///
/// # Errors
///
/// If the level cannot be understood.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    // A single word that is no level would be taken for a part of the program, and silence all others.
    for part in settings.log_level.split(',').filter(|part| !part.contains(['=', '['])) {
        part.trim().parse::<tracing_subscriber::filter::LevelFilter>().map_err(|_| {
            let hint = "a level is off, error, warn, info, debug or trace; a part is given as access=debug";
            crate::cli::WrongSetting(format!("log_level {part:?} is no level: {hint}"))
        })?;
    }
    let filter = EnvFilter::try_new(&settings.log_level).map_err(|error| {
        crate::cli::WrongSetting(format!("log_level {:?} cannot be understood: {error}", settings.log_level))
    })?;
    let registry = tracing_subscriber::registry().with(filter);
    match settings.log_format {
        LogFormat::Text => registry.with(fmt::layer().with_writer(std::io::stderr).with_ansi(false)).init(),
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(std::io::stderr)).init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        let backtrace = std::backtrace::Backtrace::force_capture();
        tracing::error!(target: "panic", message, place, %backtrace, "a bug: please report it");
    }));
    Ok(())
}
