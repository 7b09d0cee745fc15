//! What this server set out to reach on two cores, the generator included, beside what it reached: one table.

use crate::report::table::number;
use crate::report::{RowReport, Table};

/// What a goal is about.
enum Measure {
    /// Points a second, at least.
    Rate,
    /// The server's memory during the row, in megabytes, at most.
    Memory,
    /// Bytes on disk of a point, at most.
    Disk,
    /// The rate as a share of that of another row, at least.
    ShareOf(&'static str),
}

/// How the caveat of a scaled row begins.
pub(super) const SCALED: &str = "scaled: ";

/// The goals: row, measure, bound.
const GOALS: [(&str, Measure, f64); 9] = [
    ("H-W1", Measure::Rate, 4e6),
    ("H-R1", Measure::Rate, 9e6),
    ("H-W1-arrow", Measure::Rate, 20e6),
    ("H-R1-arrow", Measure::Rate, 40e6),
    ("H-R1", Measure::Memory, 500.0),
    ("H-R1-arrow", Measure::Memory, 500.0),
    ("H-W1", Measure::Disk, 1.7),
    ("H-SW10", Measure::ShareOf("H-BW-2"), 0.6),
    ("H-SR10", Measure::ShareOf("H-BR-2"), 0.6),
];

/// The goals whose rows were run at their published size; `None` if there are none. A scaled row shows nothing: what a
/// request costs whatever its size, weighs more in it.
pub(super) fn table(rows: &[RowReport]) -> Option<Table> {
    let whole = |row: &RowReport| row.throughput > 0.0 && !row.caveat.contains(SCALED);
    let find = |id: &str| rows.iter().find(|row| row.id == id && whole(row));
    let mut lines = Vec::new();
    let mut missed = Vec::new();
    for (id, measure, bound) in GOALS {
        let Some(row) = find(id) else { continue };
        let (what, reached, least) = match measure {
            Measure::Rate => ("points/s, at least".to_owned(), Some(row.throughput), true),
            Measure::Memory => ("memory in MB, at most".to_owned(), row.row_rss_peak_mb, false),
            Measure::Disk => {
                ("bytes on disk of a point, at most".to_owned(), row.disk_bytes_per_point, false)
            }
            Measure::ShareOf(other) => {
                let share = find(other).map(|other| row.throughput / other.throughput);
                (format!("share of the rate of {other}, at least"), share, true)
            }
        };
        let Some(reached) = reached else { continue };
        let met = if least { reached >= bound } else { reached <= bound };
        if !met {
            missed.push(id);
        }
        let word = if met { "yes" } else { "no" };
        lines.push(vec![id.to_owned(), what, number(bound), number(reached), word.to_owned()]);
    }
    let verdict = match missed.as_slice() {
        [] => "All goals of the rows that were run are met.".to_owned(),
        missed => format!("Not met: {}.", missed.join(", ")),
    };
    (!lines.is_empty()).then(|| Table {
        title: "Goals".to_owned(),
        columns: ["row", "goal", "bound", "reached", "met"].map(str::to_owned).to_vec(),
        lines,
        verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, throughput: f64) -> RowReport {
        RowReport { id: id.to_owned(), throughput, ..RowReport::default() }
    }

    #[test]
    fn goals_are_told_met_or_missed() {
        assert_eq!(table(&[row("H-PW", 1.0)]), None);
        let caveat = "scaled: 208 of 1500 series".to_owned();
        assert_eq!(table(&[RowReport { caveat, ..row("H-W1", 1.0) }]), None);
        let rows = [
            row("H-W1", 4.1e6),
            RowReport { row_rss_peak_mb: Some(600.0), ..row("H-R1", 8.9e6) },
            row("H-SW10", 50.0),
            row("H-BW-2", 100.0),
        ];
        let table = table(&rows).unwrap();
        let met: Vec<(&str, &str)> =
            table.lines.iter().map(|line| (line[0].as_str(), line[4].as_str())).collect();
        assert_eq!(met, [("H-W1", "yes"), ("H-R1", "no"), ("H-R1", "no"), ("H-SW10", "no")]);
        assert_eq!(table.verdict, "Not met: H-R1, H-R1, H-SW10.");
    }
}
