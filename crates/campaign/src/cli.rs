//! `twinfold campaign`: from the command line to a course, its reports and the exit code.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser as _;

use crate::args::{Args, CampaignCommand, RunArgs};
use crate::compare::{self, Old};
use crate::course::{Course, Results, data_folder};
use crate::floor;
use crate::machine::Environment;
use crate::peer::{Installed, Peer};
use crate::profile::Setup;
use crate::progress::note;
use crate::report::{self, Report, table};
use crate::runner::{self, AnyFamily};
use crate::target::Source;
use crate::workloads::Selection;

/// Open files asked for, so that thousands of users can connect.
const FILES_MAX: u64 = 65_536;

/// What a program offers to run: the frame knows none of them by name.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Families of rows.
    pub families: &'a [&'a dyn AnyFamily],
    /// Other databases that can be set beside ours.
    pub peers: &'a [&'a dyn Peer],
}

/// Does what `args` say with what is `known`. Exit code 1: errors in the load, wrong answers, or worse than `--compare` allows.
///
/// Blocks until the campaign is over; must not be called from within an asynchronous runtime.
///
/// # Errors
///
/// If the campaign cannot run at all: no such row, no server, reports that cannot be written. All of
/// these are found before the load.
pub fn run(args: Args, known: Known<'_>) -> Result<ExitCode> {
    match args.command {
        CampaignCommand::List => {
            for family in known.families {
                print(&format!("{}\n", family.list()?))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::FloorServer(args) => {
            raise_limits();
            floor::serve(&args)?;
            Ok(ExitCode::SUCCESS)
        }
        CampaignCommand::Run(args) => campaign(&args, known),
    }
}

/// The words before those of the campaign, as in the server's binary.
#[derive(clap::Parser)]
struct Words {
    #[command(subcommand)]
    word: Word,
}

#[derive(clap::Subcommand)]
enum Word {
    /// Load tests.
    Campaign(Args),
}

/// The campaign as a program of its own, without the server around it: [`run`] with the words of the command line.
///
/// # Errors
///
/// As [`run`].
pub fn main(known: Known<'_>) -> Result<ExitCode> {
    let Word::Campaign(args) = Words::parse().word;
    run(args, known)
}

/// How the names of our server's settings begin in the environment.
const SETTINGS: &str = "TWINFOLD_";
/// Tells tests where their files are; no server reads it.
const TEST_DATA: &str = "TWINFOLD_TEST_DATA";

fn raise_limits() {
    // With fewer files than wanted, loads of many users say "connect" among their errors.
    let _ = rlimit::increase_nofile_limit(FILES_MAX);
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to the output")
}

fn campaign(args: &RunArgs, known: Known<'_>) -> Result<ExitCode> {
    raise_limits();
    let (family, selection) = runner::select(known.families, &args.selection)?;
    let old = args.compare.as_deref().map(Old::read).transpose()?;
    let course = course(args)?;
    let peers = peers(args, known.peers, &selection)?;
    // What would spoil the campaign at its end, or all of it, is looked at before any load.
    course.source.reach()?;
    report::prepare(&args.out)?;
    let mut environment = environment(args, &course);
    note(&format!(
        "{}: {} rows, profile {}, against {}",
        selection.family,
        selection.rows.len(),
        args.profile.name(),
        environment.target
    ));
    if cfg!(debug_assertions) {
        note("compiled without optimisation: the figures will be of no use; build with --release");
    }
    let mut results = family.run(&course, &selection)?;
    for peer in &peers {
        let ran = peer.run(&course, &mut results.rows);
        results.or_fault(ran)?;
    }
    let Results { rows, tables, durability, server_version, faults } = results;
    environment.durability = durability.unwrap_or_else(|| "unknown".to_owned());
    let own_version = matches!(course.source, Source::Own { .. }).then(|| environment.version.clone());
    environment.server_version = server_version.or(own_version).unwrap_or_else(|| "unknown".to_owned());
    let report = Report { title: selection.title, environment, rows, tables, faults };
    report.write(&args.out)?;
    print(&table::markdown(&report))?;
    note(&format!("reports: {}", args.out.join("index.html").display()));
    let worse = match old {
        Some(old) => compared(&old, &report, args)?,
        None => false,
    };
    let clean = report.is_clean();
    if !clean {
        note("there were errors or wrong answers; see the reports");
    }
    Ok(if clean && !worse { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes how the rows changed; whether one is worse than allowed, or there was none to compare.
fn compared(old: &Old, report: &Report, args: &RunArgs) -> Result<bool> {
    let deltas = old.deltas(report, args.threshold);
    let mut text = compare::markdown(&deltas);
    for difference in old.differences(report) {
        let _ = writeln!(text, "\n{difference}");
    }
    if deltas.is_empty() {
        let _ = writeln!(text, "\nno row of this campaign is in the older report: nothing was compared");
    }
    print(&format!("\n{text}"))?;
    std::fs::write(args.out.join("compare.md"), &text).context("writing compare.md")?;
    let json = serde_json::to_string_pretty(&deltas)?;
    std::fs::write(args.out.join("compare.json"), json).context("writing compare.json")?;
    Ok(deltas.is_empty() || deltas.iter().any(|delta| delta.worse))
}

/// The peers asked for, found on this machine.
fn peers(args: &RunArgs, known: &[&dyn Peer], selection: &Selection) -> Result<Vec<Box<dyn Installed>>> {
    let find = |name: &String| {
        let Some(peer) = known.iter().find(|peer| peer.name() == name) else {
            let names: Vec<&str> = known.iter().map(|peer| peer.name()).collect();
            anyhow::ensure!(
                !names.is_empty(),
                "--peer {name}: this program was built without other databases"
            );
            anyhow::bail!("--peer {name}: no such database; there is: {}", names.join(", "));
        };
        peer.find(selection)
    };
    args.peer.iter().map(find).collect()
}

fn course(args: &RunArgs) -> Result<Course> {
    let source = match &args.target {
        Some(url) => Source::from_url(url, args.target_pid)?,
        None => Source::Own { arguments: args.server_arguments.clone(), parent: args.data_parent.clone() },
    };
    Ok(Course {
        source,
        profile: args.profile,
        setup: args.setup,
        seed: args.seed,
        runs: args.runs.unwrap_or_else(|| args.profile.runs()),
        users: args.users.map(|users| users as usize),
        threads: args.threads as usize,
        timeout: Duration::from_secs(args.timeout),
        observed: args.observed,
        with_floor: !args.no_floor,
        data: args.data.clone(),
    })
}

fn environment(args: &RunArgs, course: &Course) -> Environment {
    let mut environment = Environment::of_this_machine(&data_folder(&course.source));
    let own = || format!("own server: serve {}", args.server_arguments.join(" ")).trim_end().to_owned();
    environment.target = args.target.clone().unwrap_or_else(own);
    environment.profile = args.profile.name().to_owned();
    environment.setup = match args.setup {
        Setup::Sequential => "sequential",
        Setup::Batch => "batch",
    }
    .to_owned();
    environment.runs = course.runs;
    environment.seed = course.seed;
    environment.generator_threads = course.threads;
    if matches!(course.source, Source::Own { .. }) {
        // Only the names: of what the server that we start will read besides its arguments.
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        environment.settings = names.filter(|name| name.starts_with(SETTINGS) && name != TEST_DATA).collect();
        environment.settings.sort();
    }
    environment.command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    environment
}
