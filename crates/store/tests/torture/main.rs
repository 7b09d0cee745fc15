//! Torture: a process that writes is killed at random moments, loses power, or has a failing or a full disk;
//! then everything it acknowledged must be there, and nothing may be torn.
//!
//! `cargo test -p store --test torture -- [--rounds N] [--seed N] [kill|power|failing|full|views]`
//!
//! (A round of `views` is ten thousand pairs.)
//!
//! This is its own program (no test harness), because it starts itself as the process to be killed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test program: a panic is its answer"
)]

mod check;
mod faults;
mod views;
mod workload;

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::Durability;

use check::{Ledger, Loss};
use faults::Victim;

const INTERVAL: Durability = Durability::Interval(Duration::from_millis(20));
const KILL_ROUNDS: u64 = 200;
const VIEWS_ROUNDS: u64 = 4;
const PAIRS_OF_ROUND: u64 = 10_000;
const FAULT_ROUNDS: u64 = 30;
const FAULT_PATIENCE: Duration = Duration::from_millis(2_500);
/// A process that waits for room on a machine that is busy with other things.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(120);

type Scene = fn(&Plan);

struct Plan {
    rounds: Option<u64>,
    seed: u64,
    names: Vec<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, folder, seed, durability, kept, after] = &arguments[..]
        && child == "child"
    {
        let durability = match durability.as_str() {
            "sync" => Durability::Sync,
            _ => INTERVAL,
        };
        let goes_on = after == GOES_ON;
        return workload::run(Path::new(folder), number(seed), durability, number(kept) as usize, goes_on);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let plan = plan(&arguments);
    // The longest first.
    let scenes: [(&str, Scene); 5] =
        [("full", full), ("power", power), ("failing", failing), ("kill", kill), ("views", views)];
    let is_wanted = |name: &str| {
        plan.names.is_empty() || plan.names.iter().any(|wanted| wanted == name || wanted == "torture")
    };
    let left = Mutex::new(scenes.into_iter().filter(|(name, _)| is_wanted(name)));
    let next = || left.lock().expect("nobody panics while taking one").next();
    // They wait for moments and for disks: two go on side by side.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, scene)) = next() {
                    let start = Instant::now();
                    scene(&plan);
                    let seconds = start.elapsed().as_secs_f64();
                    say(&format!("torture {name}: ok, seed {}, {seconds:.1} s", plan.seed));
                }
            });
        }
    });
}

fn plan(arguments: &[String]) -> Plan {
    let mut plan = Plan { rounds: None, seed: rand::random::<u32>().into(), names: Vec::new() };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => plan.rounds = arguments.next().map(|text| number(text)),
            "--seed" => plan.seed = number(arguments.next().expect("--seed wants a number")),
            other if other.starts_with('-') => {}
            name => plan.names.push(name.to_owned()),
        }
    }
    plan
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// Writes to standard output, where the report of a test belongs.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Names seed and round when a check panics.
struct Said<'a>(&'a Plan, &'a str, u64, String);

impl Drop for Said<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(plan, scene, round, how) = self;
            say(&format!(
                "torture {scene} FAILED in round {round} ({how}): repeat with `--seed {} {scene}`",
                plan.seed
            ));
        }
    }
}

/// No commit is seen in part, however it is read. Every other round waits for syncs.
fn views(plan: &Plan) {
    let mut all = views::Seen::default();
    for round in 0..plan.rounds.unwrap_or(VIEWS_ROUNDS) {
        let durability = if round % 2 == 0 { Durability::Sync } else { INTERVAL };
        let folder = tempfile::tempdir().unwrap();
        let seen = views::look(folder.path(), durability, PAIRS_OF_ROUND);
        all.pairs += seen.pairs;
        all.torn += seen.torn;
        all.turned_back += seen.turned_back;
        all.commits += seen.commits;
    }
    say(&format!("views: {all:?}"));
    assert!(all.torn == 0 && all.turned_back == 0, "a commit was seen in part: {all:?}");
}

/// What the process does after it was refused for want of room.
const GOES_ON: &str = "goes-on";
const ENDS: &str = "ends";

fn child(folder: &Path, seed: u64, durability: &str, kept: u64, after: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("child").arg(folder).arg(seed.to_string()).arg(durability).arg(kept.to_string()).arg(after);
    command.stdout(Stdio::piped()).stdin(Stdio::null());
    command
}

/// What a process says first, and what says that something was acknowledged.
const READY: &str = "ready";
const ACKNOWLEDGED: &str = "A ";
/// What says that it could write again after it was refused for want of room.
const RECOVERED: &str = "R";

/// Everything the process says until it dies; `begun` is called at the first line that starts with `first`.
fn listen(victim: &Victim, ledger: &mut Ledger, first: &str, begun: impl FnOnce()) -> Vec<String> {
    let mut begun = Some(begun);
    let mut out = BufReader::new(victim.output());
    let mut errors = Vec::new();
    let mut line = String::new();
    while out.read_line(&mut line).expect("text") > 0 {
        if let Some(whole) = line.strip_suffix('\n') {
            if whole.starts_with(first)
                && let Some(begun) = begun.take()
            {
                begun();
            }
            if whole.starts_with('E') {
                errors.push(whole.to_owned());
            }
            ledger.note(whole);
        }
        line.clear();
    }
    victim.wait();
    errors
}

/// Kills (SIGKILL) at random moments; the folder lives on from round to round.
fn kill(plan: &Plan) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rounds = plan.rounds.unwrap_or(KILL_ROUNDS);
    let mut random = StdRng::seed_from_u64(plan.seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut ledger = Ledger::default();
    let mut commits_min = 0;
    for round in 0..rounds {
        // The end of a process loses nothing that was handed to the system, so both must keep all.
        let durability = if random.random_ratio(1, 4) { "interval" } else { "sync" };
        let kept = if random.random_ratio(1, 2) { 4 } else { 0 };
        let _said = Said(plan, "kill", round, format!("{durability}, {kept} logs kept"));
        let child = child(&path, plan.seed + round, durability, kept, ENDS).spawn().expect("start");
        let victim = Victim::new(child);
        let pause = Duration::from_micros(random.random_range(1_000..150_000));
        if round % 10 == 9 {
            // Now and then while it opens, or creates, the store.
            std::thread::sleep(pause / 4);
            victim.kill();
        }
        // Mostly not before something was acknowledged, however slow the machine is.
        let first = if random.random_ratio(1, 4) { READY } else { ACKNOWLEDGED };
        commits_min += u64::from(first == ACKNOWLEDGED && round % 10 != 9);
        let errors = listen(&victim, &mut ledger, first, || victim.kill_after(pause));
        assert!(errors.is_empty(), "the process was refused: {errors:?}");
        // Some rounds follow one another unchecked, so that logs of several lives are read at once.
        if random.random_ratio(1, 2) || round + 1 == rounds {
            runtime.block_on(ledger.check(&path, workload::options(Durability::Sync, 0), Loss::Nothing));
        }
    }
    assert!(ledger.commits >= commits_min, "too little was written: {} commits", ledger.commits);
    say(&format!("torture kill: {rounds} rounds, {} acknowledged commits", ledger.commits));
}

/// Loses power: at the n-th call to the file system everything unsynced is taken away; or just before new names are synced.
fn power(plan: &Plan) {
    fault_rounds(plan, "power", &["power", "power", "names"], false);
}

/// A disk that is full now and then: the process goes on, and must be able to write again each time there is room.
fn full(plan: &Plan) {
    let recoveries = fault_rounds(plan, "full", &["full"], true);
    say(&format!("torture full: {recoveries} recoveries"));
    assert!(recoveries > 0 || plan.rounds.is_some_and(|rounds| rounds < 5), "no store took writes again");
}

/// A disk that fails: from the n-th write or sync on, calls answer EIO or ENOSPC.
fn failing(plan: &Plan) {
    fault_rounds(plan, "failing", &["eio", "enospc", "sync-eio"], true);
}

/// How often a process was refused for want of room and could write again later.
fn fault_rounds(plan: &Plan, scene: &str, modes: &[&str], refusals: bool) -> u64 {
    let layer = faults::build();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rounds = plan.rounds.unwrap_or(FAULT_ROUNDS);
    let mut random = StdRng::seed_from_u64(plan.seed);
    let mut folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    let (mut commits, mut recoveries) = (0, 0);
    for round in 0..rounds {
        if round % 8 == 0 {
            // Anew, so that creation is hit too.
            folder = tempfile::tempdir().unwrap();
            commits += ledger.commits;
            recoveries += ledger.recoveries;
            ledger = Ledger::default();
        }
        let path = folder.path().join("store");
        let kept = if random.random_ratio(1, 2) { 4 } else { 0 };
        let mode = modes[random.random_range(0..modes.len())];
        let reach = if random.random_ratio(1, 3) { 100 } else { 3_000 };
        let at = random.random_range(1..reach);
        let durability = if random.random_ratio(1, 4) { "interval" } else { "sync" };
        let _said = Said(plan, scene, round, format!("{durability}, {mode} at {at}, {kept} logs kept"));
        let after = if mode == "full" { GOES_ON } else { ENDS };
        let mut command = child(&path, plan.seed + round, durability, kept, after);
        layer.arm(&mut command, folder.path(), mode, at, plan.seed + round);
        let victim = Victim::new(command.spawn().expect("start"));
        // The moment may never come (too few calls): then the kill ends the round. A full disk goes on, until it was got
        // over and somewhat longer: so the next is met too, now and then, however slow the machine is.
        let (first, patience) =
            if mode == "full" { (RECOVERED, RECOVERY_PATIENCE) } else { (READY, FAULT_PATIENCE) };
        let pause = Duration::from_micros(random.random_range(0..300_000));
        victim.kill_after(patience);
        let errors = listen(&victim, &mut ledger, first, || {
            if first == RECOVERED {
                victim.kill_after(pause);
            }
        });
        assert!(refusals || errors.is_empty(), "the process was refused: {errors:?}");
        for error in &errors {
            assert!(
                mode != "full" || error.starts_with("E open NoSpace "),
                "a full disk is got over: {error}"
            );
            let honest =
                ["Unknown", "Unavailable", "NoSpace", "open Unavailable", "open NoSpace", "open Corrupt"];
            let honest = honest.iter().any(|kind| error.starts_with(&format!("E {kind} ")));
            assert!(honest, "a failing disk must be said as such: {error}");
        }
        // Only a loss of power may take what came in an interval; a failing disk takes nothing.
        let (opened, loss) = match durability {
            "interval" if !refusals => (INTERVAL, Loss::OfLastPart),
            "interval" => (INTERVAL, Loss::Nothing),
            _ => (Durability::Sync, Loss::Nothing),
        };
        runtime.block_on(ledger.check(&path, workload::options(opened, 0), loss));
    }
    commits += ledger.commits;
    say(&format!("torture {scene}: {rounds} rounds, {commits} acknowledged commits"));
    recoveries + ledger.recoveries
}
