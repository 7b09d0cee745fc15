//! Runs a target in process: its seeds, its corpus, and changes of both.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Mutator, Target};

/// How long a target runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Gives the same changes everywhere.
    pub seed: u64,
    /// So many changed inputs, or
    pub cases: u64,
    /// as many as fit in so much time.
    pub time: Option<Duration>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Inputs that a target begins with: seeds, and the files of its corpus in order.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let mut inputs: Vec<(String, Vec<u8>)> = Vec::new();
    for (index, seed) in (target.seeds)().into_iter().enumerate() {
        inputs.push((format!("seed {index}"), seed));
    }
    let files = fs::read_dir(folder().join("corpus").join(target.name)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.sort();
    for file in files {
        let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        inputs.push((file.display().to_string(), bytes));
    }
    inputs
}

/// Runs a target; the input that it fails on is written to `fuzz/artifacts`.
///
/// # Panics
///
/// If something does not hold: with the seed and the place of the input.
pub fn check(target: &Target, plan: Plan) {
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "{} has nothing to begin with", target.name);
    for (name, input) in &inputs {
        run(target, input, name);
    }
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|(_, input)| input).collect();
    let mut mutator = Mutator::new(plan.seed);
    let begun = Instant::now();
    let mut case = 0;
    while plan.time.map_or(case < plan.cases, |time| begun.elapsed() < time) {
        let input = mutator.input(&inputs);
        run(target, &input, &format!("case {case} of TWINFOLD_FUZZ_SEED={}", plan.seed));
        case += 1;
    }
}

fn run(target: &Target, input: &[u8], name: &str) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_ok() {
        return;
    }
    let path = keep(target, input);
    let shown: String = input.escape_ascii().to_string().chars().take(400).collect();
    panic!("{} fails on {name}, stored as {}: {shown}", target.name, path.display());
}

fn keep(target: &Target, input: &[u8]) -> PathBuf {
    let path = folder().join("artifacts").join(target.name);
    let written =
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).and_then(|()| fs::write(&path, input));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}
