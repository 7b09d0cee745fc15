//! The doors of the house: `cargo xtask check | test | run | golden | fuzz | properties | bench | torture |
//! examples | clients | conformance | layers | shrink`.
//! Each is a short list of commands, printed before they run, so that they can be run by hand.

mod clients;
mod doors;
#[cfg(test)]
mod edges;
mod examples;
mod fuzz;
#[cfg(test)]
mod habits;
mod kafka;
mod layers;
mod process;
mod ratchets;
mod source;
mod suites;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask DOOR [ARGUMENTS]

  check               formatting, lints, the edges between storeys, and (where installed) deny, typos, machete
  test [ARGUMENTS]    all tests, as `cargo test --workspace`
  run [ARGUMENTS]     the server in release: `twinfold serve ARGUMENTS`
  golden              rewrite the golden transcripts; read the diff before you commit it
  fuzz [TARGET] [SECONDS] [keep]
                      the targets of fuzz/, guided by coverage (libFuzzer), or one of them; each for SECONDS (default 60);
                      `keep` adds short inputs that reach something new to fuzz/corpus
  properties [TIMES]  all tests in release, with TIMES as many cases of every property test (default 100)
  bench [NAME]        the benchmarks of all crates, or of one
  torture [ARGUMENTS] kill the store's process at random moments, 5000 times;
                      or as told: --rounds N, --seed S, and which of kill, power, failing
  examples            load examples/city into a fresh server and compare its answers with those recorded
  clients             public clients (ngsildclient and filip from PyPI, ngsijs from npm) and what others send, against a fresh server, and
                      a consumer of change events with Apache Kafka (from Maven's registry, with Java);
                      left out, loudly, without their registries, unless TWINFOLD_TEST_STRICT is set
  conformance [--url URL]
                      public suites (of the folder TWINFOLD_CONFORMANCE_SUITES, or fetched from the registries of crates and of
                      Python packages), and ours; transcripts against URL, or a fresh server
  layers [CRATE]      where a module uses one that is not above it in the list of modules, and a better order
  shrink              take out of xtask/ratchets.toml what is no longer needed
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if fuzz::is_compiler() {
        let arguments: Vec<String> = arguments.collect();
        return fuzz::compile(&arguments).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let door = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match door.as_str() {
        "check" => doors::check(),
        "test" => doors::test(&rest),
        "run" => doors::serve(&rest),
        "golden" => doors::golden(),
        "fuzz" => fuzz::guided(&rest),
        "properties" => doors::properties(&rest),
        "bench" => doors::bench(&rest),
        "torture" => doors::torture(&rest),
        "examples" => examples::load_and_compare(),
        "clients" => clients::check(),
        "conformance" => doors::conformance(&rest),
        "layers" => layers::report(&rest),
        "shrink" => ratchets::shrink(&rest),
        _ => {
            process::say(HELP);
            return if matches!(door.as_str(), "" | "help" | "--help") {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::say(&format!("xtask {door}: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}
