//! How the server runs: tables of settings, each in a file of its own, filled from flags, `TWINFOLD_*` variables, a TOML
//! file and defaults, in this order of precedence. Nothing else in the workspace reads a setting.
//!
//! A new part adds its file and a line in each of the three lists below. Whether all of it fits together, models
//! included, is [`crate::wiring::check`].

pub(crate) mod table;
mod general;
mod engine;
mod entities;
mod history;
mod ngsi_ld;
mod contexts;
mod series;
mod tsm;
mod hugegraph;
mod auth;
mod config;
mod config_events;
mod cps;
mod restconf;
mod hooks;
mod http;
mod load;
mod tls;
mod log;
pub(crate) mod file;

use std::path::PathBuf;

pub(crate) use config_events::KafkaLoginKind;
pub(crate) use contexts::ContextFetch;
pub(crate) use entities::AttributeIndexes;
pub(crate) use general::Engine;
pub(crate) use hooks::HookSend;
pub(crate) use http::{Admin, Http};
pub(crate) use log::LogFormat;

use table::Table;

/// Everything that can be set.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Settings {
    /// TOML file with settings: a table for each part, as `twinfold settings` prints them
    #[arg(long, env = "TWINFOLD_SETTINGS", value_name = "FILE", help_heading = "Server")]
    pub(crate) settings: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) general: general::General,
    #[command(flatten)]
    pub(crate) engine: engine::EngineLimits,
    #[command(flatten)]
    pub(crate) entities: entities::Entities,
    #[command(flatten)]
    pub(crate) history: history::History,
    #[command(flatten)]
    pub(crate) ngsi_ld: ngsi_ld::NgsiLd,
    #[command(flatten)]
    pub(crate) contexts: contexts::Contexts,
    #[command(flatten)]
    pub(crate) series: series::Series,
    #[command(flatten)]
    pub(crate) tsm: tsm::Tsm,
    #[command(flatten)]
    pub(crate) hugegraph: hugegraph::HugeGraph,
    #[command(flatten)]
    pub(crate) config: config::Config,
    #[command(flatten)]
    pub(crate) cps: cps::Cps,
    #[command(flatten)]
    pub(crate) restconf: restconf::Restconf,
    #[command(flatten)]
    pub(crate) config_events: config_events::ConfigEvents,
    #[command(flatten)]
    pub(crate) auth: auth::Auth,
    #[command(flatten)]
    pub(crate) hooks: hooks::Hooks,
    #[command(flatten)]
    pub(crate) http: Http,
    #[command(flatten)]
    pub(crate) load: load::Load,
    #[command(flatten)]
    pub(crate) tls: tls::Tls,
    #[command(flatten)]
    pub(crate) log: log::Log,
}

/// All tables, in the order of `--help`.
pub(crate) const TABLES: &[Table] = &[
    general::General::TABLE,
    engine::EngineLimits::TABLE,
    entities::Entities::TABLE,
    history::History::TABLE,
    ngsi_ld::NgsiLd::TABLE,
    contexts::Contexts::TABLE,
    series::Series::TABLE,
    tsm::Tsm::TABLE,
    hugegraph::HugeGraph::TABLE,
    config::Config::TABLE,
    cps::Cps::TABLE,
    restconf::Restconf::TABLE,
    config_events::ConfigEvents::TABLE,
    auth::Auth::TABLE,
    hooks::Hooks::TABLE,
    Http::TABLE,
    load::Load::TABLE,
    tls::Tls::TABLE,
    log::Log::TABLE,
];

/// A setting that is wrong in itself: exit code 2, as clap's own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongSetting(pub(crate) String);

impl Settings {
    /// Checks what no single value can tell, part by part.
    ///
    /// # Errors
    ///
    /// What does not fit together, and how to mend it.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.tls.check()?;
        self.general.check()?;
        self.http.check()?;
        self.entities.check()?;
        self.ngsi_ld.check()?;
        self.load.check()?;
        self.series.check()?;
        self.tsm.check()?;
        self.hugegraph.check()?;
        self.config.check()?;
        self.cps.check()?;
        self.restconf.check()?;
        self.config_events.check()?;
        self.auth.check()?;
        self.hooks.check()?;
        self.history.check()
    }
}
