//! The log: structured events on standard error, as text or JSON; panics go there, too.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

use crate::settings::{LogFormat, Settings};

/// What logs, by the beginnings of its names: what is made for reading, our crates, and libraries.
const PARTS: [&str; 15] = [
    "access",
    "panic",
    "twinfold",
    "api_http",
    "api_ngsi_ld",
    "api_tsm",
    "api_hugegraph",
    "model_entities",
    "model_series",
    "store",
    "store_embedded",
    "tenant_contexts",
    "hyper",
    "hyper_util",
    "h2",
];

/// The parts that a filter names and that are none.
fn unknown_parts(filter: &str) -> Vec<&str> {
    let parts = filter.split(',').map(str::trim).filter(|part| part.contains(['=', '[']));
    let names = parts.map(|part| part.split(['=', '[']).next().unwrap_or(part).trim());
    // A part may be named more closely (`store::retry`), or by its beginning (`api`).
    let is_known = |name: &str| {
        let head = name.split("::").next().unwrap_or(name);
        PARTS.iter().any(|part| *part == head || part.starts_with(name))
    };
    names.filter(|name| !is_known(name)).collect()
}

/// Says so if a filter names what logs nothing: past the filter, which may let nothing through.
fn warn_of_unknown(settings: &Settings) {
    let unknown = unknown_parts(&settings.log.level);
    if unknown.is_empty() {
        return;
    }
    let warn = || {
        tracing::warn!(
            unknown = unknown.join(", "),
            known = PARTS.join(", "),
            "log_level names what logs nothing"
        );
    };
    let registry = tracing_subscriber::registry();
    match settings.log.format {
        LogFormat::Text => {
            let layer = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
            tracing::subscriber::with_default(registry.with(layer), warn);
        }
        LogFormat::Json => {
            let layer = fmt::layer().json().with_writer(std::io::stderr);
            tracing::subscriber::with_default(registry.with(layer), warn);
        }
    }
}

/// Starts the log. To be called once.
///
/// # Errors
///
/// If the level cannot be understood.
pub(crate) fn start(settings: &Settings) -> anyhow::Result<()> {
    // A single word that is no level would be taken for a part of the program, and silence all others.
    for part in settings.log.level.split(',').filter(|part| !part.contains(['=', '['])) {
        part.trim().parse::<tracing_subscriber::filter::LevelFilter>().map_err(|_| {
            let hint = "a level is off, error, warn, info, debug or trace; a part is given as access=debug";
            crate::settings::WrongSetting(format!("log_level {part:?} is no level: {hint}"))
        })?;
    }
    let filter = EnvFilter::try_new(&settings.log.level).map_err(|error| {
        crate::settings::WrongSetting(format!(
            "log_level {:?} cannot be understood: {error}",
            settings.log.level
        ))
    })?;
    warn_of_unknown(settings);
    let registry = tracing_subscriber::registry().with(filter);
    match settings.log.format {
        LogFormat::Text => registry.with(fmt::layer().with_writer(std::io::stderr).with_ansi(false)).init(),
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(std::io::stderr)).init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let message = panic.payload_as_str().unwrap_or("no message");
        let backtrace = std::backtrace::Backtrace::force_capture();
        tracing::error!(target: "panic", message, place, %backtrace, "a bug: please report it");
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_log_nothing_are_noticed() {
        for filter in
            ["info", "info,access=debug", "warn,store_embedded=trace,api=debug", "off", "twinfold[x]=info"]
        {
            assert!(unknown_parts(filter).is_empty(), "{filter}");
        }
        assert_eq!(unknown_parts("info,acces2=debug, stores=trace,hyper=info"), ["acces2", "stores"]);
    }
}
