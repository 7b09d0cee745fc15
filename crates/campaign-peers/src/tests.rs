//! Peers that are installed take and give the points; those that are not say what was looked for.

use std::time::Duration;

use anyhow::Result;
use campaign::course::Course;
use campaign::family::Family as _;
use campaign::hakom::Hakom;
use campaign::hakom::rows::Row;
use campaign::hakom::series::Data;
use campaign::hakom::tally::Tally;
use campaign::peer::{Installed as _, Peer as _};
use campaign::profile::{Observed, Profile, Setup};
use campaign::target::Source;
use campaign::workloads::Workload;

use crate::database::{Database, Keeps, Started, Took};
use crate::points::{Beside, Found, expected, job};
use crate::{postgres, questdb, victoriametrics};

/// The rows that `rows` names.
fn selected(rows: &str) -> Workload<Row> {
    let workload = Hakom.workload().unwrap();
    let selection = workload.selection().narrowed(rows).unwrap();
    workload.of(&selection)
}

fn course() -> Course {
    Course {
        // Of the system's folder: the peer's user must reach it.
        source: Source::Own { arguments: Vec::new(), parent: Some(std::env::temp_dir()) },
        profile: Profile::Smoke,
        setup: Setup::Sequential,
        seed: 42,
        runs: 1,
        users: None,
        threads: 1,
        timeout: Duration::from_secs(60),
        observed: Observed::Now,
        with_floor: false,
        data: None,
    }
}

/// Runs both rows with few points on `kind`, if it is installed.
fn check_peer(kind: &'static dyn Database) {
    let programs = match kind.find() {
        Ok(programs) => programs,
        Err(error) => {
            assert!(error.to_string().contains(" here: "), "{error:#}");
            return;
        }
    };
    let mut rows = selected("H-W1,H-R1").rows;
    rows.retain(|row| ["H-W1", "H-R1"].contains(&row.id.as_str()));
    for row in &mut rows {
        (row.series, row.values) = (120, 144);
    }
    let mut reports = Vec::new();
    Found { database: kind, programs, rows }.run(&course(), &mut reports).unwrap();
    let ids: Vec<&str> = reports.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, [format!("H-W1-{}", kind.name()), format!("H-R1-{}", kind.name())]);
    for row in &reports {
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{:?} {:?}", row.error_kinds, row.wrong_examples);
        assert_eq!(row.answers_checked, 120);
        assert!(row.throughput > 0.0 && row.disk_bytes_per_point.unwrap() > 1.0 && !row.caveat.is_empty());
    }
}

#[test]
fn postgres_takes_and_gives_the_points() {
    check_peer(&postgres::Kind);
}

#[test]
fn questdb_takes_and_gives_the_points() {
    check_peer(&questdb::Kind);
}

#[test]
fn victoriametrics_takes_and_gives_the_points() {
    check_peer(&victoriametrics::Kind);
}

/// A peer that loses the last series.
struct Forgetful;

impl Started for Forgetful {
    fn caveat(&self) -> &'static str {
        "a toy"
    }

    fn keeps(&self) -> Keeps {
        Keeps { missing: false, flags: false }
    }

    fn cpu(&self) -> Option<Duration> {
        None
    }

    fn write(&mut self, _data: &Data, _request_series: usize) -> Result<Took> {
        Ok(Took { elapsed: Duration::from_secs(1), ..Took::default() })
    }

    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)> {
        let all = (0..data.series - 1).map(|index| expected(data, index, self.keeps()));
        Ok((Took { elapsed: Duration::from_secs(2), ..Took::default() }, all.collect()))
    }

    fn close(self: Box<Self>) -> Result<u64> {
        Ok(0)
    }
}

#[test]
fn what_a_peer_loses_is_found_out() {
    let row = selected("H-R1").rows.remove(0);
    let data = Data::new(&row, 10, "s", 42);
    let report = job(&mut Forgetful, &row, &data, (5, Duration::ZERO)).unwrap();
    assert_eq!((report.answers_checked, report.answers_wrong), (10, 1));
    assert!(
        report.wrong_examples[0].starts_with("series 9: points: 0, expected"),
        "{:?}",
        report.wrong_examples
    );
    assert_eq!((report.job_s, report.throughput), (Some(2.0), 7_200.0));
}

#[test]
fn rows_that_peers_do_not_run_are_refused_before_any_load() {
    let check = |selection, why: &str| {
        let error = Beside(&postgres::Kind).find(&selection).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    };
    check(selected("H-PW").selection(), "peers run H-W1 and H-R1: select one of them");
    let mut other = selected("H-W1").selection();
    other.family = "toy".to_owned();
    check(other, "--peer goes with the family hakom");
}
