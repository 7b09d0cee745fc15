//! The command line of `twinfold campaign`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::floor::FloorArgs;
use crate::profile::{Observed, Profile, Setup};

/// Load tests: published workloads against a server, with the published figures and the floor beside ours.
#[derive(Debug, Parser)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: CampaignCommand,
}

/// What a campaign can do.
#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// List the families and their rows, with the published figures.
    List,
    /// Run a family, or some of its rows, and write the reports.
    Run(Box<RunArgs>),
    /// The bare server that shows what HTTP alone costs; a campaign starts it by itself.
    #[command(hide = true)]
    FloorServer(FloorArgs),
}

/// What to run, and how.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// A family, or some of its rows, as `campaign list` names them; the beginning of a name means all rows that
    /// begin so.
    #[arg(value_name = "FAMILY[/ROW,...]")]
    pub selection: String,
    /// The server, as http://HOST[:PORT]. Without it, this program starts one of its own on a fresh folder.
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// The process of the server at --target, if it runs on this machine: its CPU and memory are then reported.
    #[arg(long, value_name = "PID", requires = "target")]
    pub target_pid: Option<u32>,
    /// smoke: a family in one to two minutes; short: in ten to fifteen; full: the published sizes.
    #[arg(long, value_enum, default_value = "short")]
    pub profile: Profile,
    /// Where the reports go: results.json, results.csv, results.md, index.html.
    #[arg(long, value_name = "DIR", default_value = "campaign-results")]
    pub out: PathBuf,
    /// An older results.json to compare with; worse than --threshold ends with exit code 1.
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// How many per cent slower than --compare a row may be, in throughput or p95.
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0)]
    pub threshold: f64,
    /// How the sets that rows run on are created.
    #[arg(long, value_enum, default_value = "sequential")]
    pub setup: Setup,
    /// When the instances of temporal sets were observed.
    #[arg(long, value_enum, default_value = "now")]
    pub observed: Observed,
    /// Run the same rows on another database, too, started from what is installed here. May be given several times.
    #[arg(long, value_name = "DATABASE")]
    pub peer: Vec<String>,
    /// The seed of all random choices. A server that keeps its data needs another one for each campaign.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Runs of each row; figures are means. Default: 1, and 3 for the full profile as published.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: Option<u32>,
    /// Other users than published, for experiments; the reports say so.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub users: Option<u32>,
    /// Threads of the generator. One leaves most to a server on the same machine.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,
    /// The longest one request may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Do not measure the floor beside each row.
    #[arg(long)]
    pub no_floor: bool,
    /// The folder of the published inputs that are not part of this program (cps: its YANG modules and their sample). A
    /// family that misses it makes inputs of the same shape, and the reports say so.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where our own server's folder is made; default: the system's temporary folder.
    #[arg(long, value_name = "DIR", conflicts_with = "target")]
    pub data_parent: Option<PathBuf>,
    /// Further arguments of our own server, behind `--`, as in `-- --store memory`.
    #[arg(last = true, conflicts_with = "target")]
    pub server_arguments: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
        let parse = |line: &str| Args::try_parse_from(line.split(' '));
        assert!(parse("campaign run toy/T-C3 --profile smoke --seed 7 -- --store memory").is_ok());
        assert!(parse("campaign run").is_err());
        assert!(parse("campaign run toy --target http://h --data-parent /x").is_err());
        assert!(parse("campaign run toy --users 0").is_err());
        assert!(parse("campaign run toy --peer postgres --peer questdb --observed spread").is_ok());
    }
}
