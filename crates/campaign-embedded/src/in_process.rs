//! What all families of this crate share: no server is there, a folder for the store is, jobs are timed in this process.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use campaign::course::{Course, Ran, data_folder, figures};
use campaign::executors::Outcome;
use campaign::process;
use campaign::record::Record;
use campaign::report::RowReport;
use campaign::target::Source;
use tempfile::TempDir;

/// Whether the family `name` can run as the command line has it.
///
/// # Errors
///
/// If somebody else's server, or arguments of our own, were given: nothing would come of them.
pub(crate) fn ensure_no_server(course: &Course, name: &str) -> Result<()> {
    let own = matches!(&course.source, Source::Own { arguments, .. } if arguments.is_empty());
    ensure!(own, "{name} runs in this process: no --target, and no arguments of a server");
    Ok(())
}

/// A folder for a store, on the disk that a server would have; it goes when it is dropped.
///
/// # Errors
///
/// If none can be made.
pub(crate) fn folder(course: &Course) -> Result<TempDir> {
    let parent = data_folder(&course.source);
    let folder = tempfile::Builder::new().prefix("twinfold-campaign-").tempdir_in(parent);
    folder.context("making a folder for the store")
}

/// Times a job: its wall clock, and the CPU time of this process meanwhile.
pub(crate) fn time<T>(job: impl FnOnce() -> Result<T>) -> (Outcome, Result<T>) {
    let own = std::process::id();
    let (before, begun) = (process::cpu_time(own), Instant::now());
    let done = job();
    let elapsed = begun.elapsed();
    let after = process::cpu_time(own);
    let mut record = Record::new();
    match &done {
        Ok(_) => record.success(elapsed, elapsed, 0),
        Err(error) => record.failure("job", elapsed, || format!("{error:#}")),
    }
    let server_cpu = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    let outcome =
        Outcome { record, elapsed, generator_cpu: None, server_cpu, out_of_time: false, usage: Vec::new() };
    (outcome, done)
}

/// Adds to the report of the row `id` what the frame knows of rows with a server.
pub(crate) fn complete(id: &str, report: &mut RowReport, mut ran: Ran<'_>) {
    ran.resident = process::resident_bytes(std::process::id());
    id.clone_into(&mut report.id);
    figures::complete(report, &ran);
    if cfg!(debug_assertions) {
        let said = "; this program was compiled without optimisation: the figure is of no use";
        report.caveat.push_str(said);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_is_an_error_of_its_outcome() {
        let (outcome, done) = time(|| Ok(7));
        assert_eq!((outcome.record.successes(), outcome.record.failures(), done.unwrap()), (1, 0, 7));
        let (outcome, done) = time(|| -> Result<()> { anyhow::bail!("no") });
        assert_eq!((outcome.record.successes(), outcome.record.failures()), (0, 1));
        done.unwrap_err();
    }
}
