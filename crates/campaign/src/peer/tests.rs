//! Peers that are installed take and give the points; those that are not say what was looked for.

use super::*;
use crate::profile::{Observed, Profile, Setup};
use crate::target::Source;
use crate::workloads;

fn course(parent: &Path) -> Course {
    Course {
        source: Source::Own { arguments: Vec::new(), parent: Some(parent.to_owned()) },
        profile: Profile::Smoke,
        setup: Setup::Sequential,
        seed: 42,
        runs: 1,
        users: None,
        threads: 1,
        timeout: Duration::from_secs(60),
        observed: Observed::Now,
        with_floor: false,
    }
}

/// Runs both rows with few points on `kind`, if it is installed.
fn check_peer(kind: Kind) {
    let installed = match kind.find() {
        Ok(installed) => installed,
        Err(error) => {
            assert!(error.to_string().contains(" here: "), "{error:#}");
            return;
        }
    };
    let mut family = workloads::hakom("hakom/H-W1,H-R1").unwrap();
    for row in &mut family.rows {
        (row.series, row.values) = (120, 144);
    }
    // Of the system's folder: the peer's user must reach it.
    let mut reports = Vec::new();
    rows(&course(&std::env::temp_dir()), &family.rows, &installed, &mut reports).unwrap();
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
    check_peer(Kind::Postgres);
}

#[test]
fn questdb_takes_and_gives_the_points() {
    check_peer(Kind::Questdb);
}

#[test]
fn victoriametrics_takes_and_gives_the_points() {
    check_peer(Kind::Victoriametrics);
}

/// A peer that loses the last series.
struct Forgetful;

impl Peer for Forgetful {
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
    let row = workloads::hakom("hakom/H-R1").unwrap().rows.remove(0);
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
