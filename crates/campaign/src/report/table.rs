//! The report as CSV and as Markdown.

use std::fmt::Write as _;

use super::{Report, RowReport};

/// A number as people write it: no more digits than it bears.
pub fn number(value: f64) -> String {
    let digits = if value.abs() >= 100.0 || value == 0.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else if value.abs() >= 1.0 {
        2
    } else {
        3
    };
    let plain = format!("{value:.digits$}");
    if digits > 0 {
        return plain;
    }
    let (sign, whole) = plain.strip_prefix('-').map_or(("", plain.as_str()), |whole| ("-", whole));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

/// A number that may not be known.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), number)
}

/// What qualifies figures, each sentence once, numbered from 1 in the order of the rows.
pub(super) fn notes(report: &Report) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in report.rows.iter().flat_map(caveats) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn caveats(row: &RowReport) -> impl Iterator<Item = &str> {
    row.caveat.split("; ").filter(|caveat| !caveat.is_empty())
}

/// The numbers of a row's notes.
fn references(row: &RowReport, notes: &[&str]) -> String {
    let number = |caveat| notes.iter().position(|note| *note == caveat).map(|place| (place + 1).to_string());
    caveats(row).filter_map(number).collect::<Vec<_>>().join(", ")
}

/// The columns that Markdown and the page share: title and cell.
pub(super) fn columns(row: &RowReport, notes: &[&str]) -> Vec<(&'static str, String)> {
    match (row.points, row.job_s) {
        (Some(_), _) => series_columns(row, notes),
        (None, Some(_)) => job_columns(row, notes),
        (None, None) if !row.operations.is_empty() => flow_columns(row, notes),
        (None, None) => request_columns(row, notes),
    }
}

/// The rate, with its spread if there is one.
fn ours(row: &RowReport) -> String {
    if row.runs > 1 {
        let (low, high) = (number(row.throughput_min), number(row.throughput_max));
        format!("{} ({low} to {high})", number(row.throughput))
    } else {
        number(row.throughput)
    }
}

/// The columns of rows that count points.
fn series_columns(row: &RowReport, notes: &[&str]) -> Vec<(&'static str, String)> {
    let published = row.published.as_ref();
    vec![
        ("row", row.id.clone()),
        ("users", row.users.to_string()),
        ("published, points/s", optional(published.map(|figures| figures.throughput))),
        ("ours, points/s", ours(row)),
        ("ours / published", optional(row.throughput_to_published)),
        ("seconds", optional(row.job_s)),
        ("floor, points/s", optional(row.floor_throughput)),
        ("ours / floor", optional(row.floor_ratio)),
        ("CPU ns/point", optional(row.cpu_ns_per_point)),
        ("generator CPU ns/point", optional(row.generator_cpu_ns_per_point)),
        ("peak RSS MB in the row", optional(row.row_rss_peak_mb)),
        ("disk bytes/point", optional(row.disk_bytes_per_point)),
        ("errors", row.errors.to_string()),
        ("wrong / checked", format!("{} / {}", row.answers_wrong, row.answers_checked)),
        ("notes", references(row, notes)),
    ]
}

/// The columns of rows that are jobs of other things than points.
fn job_columns(row: &RowReport, notes: &[&str]) -> Vec<(&'static str, String)> {
    let (published, runs) = (row.published.as_ref(), row.runs.max(1) as f64);
    vec![
        ("row", row.id.clone()),
        ("job", row.scenario.as_deref().unwrap_or("").to_owned()),
        ("users", row.users.to_string()),
        ("published, s", optional(published.and_then(|figures| figures.seconds))),
        ("ours, s", optional(row.job_s)),
        ("rate", format!("{} {}", ours(row), row.unit)),
        ("ours / published, of the rate", optional(row.throughput_to_published)),
        ("ours / floor", optional(row.floor_ratio)),
        ("CPU, s", optional(row.cpu_us_per_op.map(|each| each * row.iterations as f64 / runs / 1e6))),
        ("peak RSS MB in the row", optional(row.row_rss_peak_mb)),
        ("errors", row.errors.to_string()),
        ("wrong / checked", format!("{} / {}", row.answers_wrong, row.answers_checked)),
        ("notes", references(row, notes)),
    ]
}

/// The columns of rows that count flows of several operations.
fn flow_columns(row: &RowReport, notes: &[&str]) -> Vec<(&'static str, String)> {
    vec![
        ("row", row.id.clone()),
        ("users", row.users.to_string()),
        ("published, flows/s", optional(row.published.as_ref().map(|figures| figures.throughput))),
        ("ours, flows/s", ours(row)),
        ("ours / published", optional(row.throughput_to_published)),
        ("floor, flows/s", optional(row.floor_throughput)),
        ("ours / floor", optional(row.floor_ratio)),
        ("CPU us/flow", optional(row.cpu_us_per_op)),
        ("p50 ms", number(row.p50_ms)),
        ("p95 ms", number(row.p95_ms)),
        ("p99 ms", number(row.p99_ms)),
        ("peak RSS MB in the row", optional(row.row_rss_peak_mb)),
        ("errors", row.errors.to_string()),
        ("wrong / checked", format!("{} / {}", row.answers_wrong, row.answers_checked)),
        ("notes", references(row, notes)),
    ]
}

fn request_columns(row: &RowReport, notes: &[&str]) -> Vec<(&'static str, String)> {
    let published = row.published.as_ref();
    let ours = ours(row);
    vec![
        ("row", row.id.clone()),
        ("users", row.users.to_string()),
        ("ours, requests/s", ours),
        ("k6-style", optional(row.k6_style_throughput)),
        ("published", optional(published.map(|figures| figures.throughput))),
        ("floor", optional(row.floor_throughput)),
        ("ours / floor", optional(row.floor_ratio)),
        ("CPU us/op", optional(row.cpu_us_per_op)),
        ("p50 ms", number(row.p50_ms)),
        ("p95 ms", number(row.p95_ms)),
        ("published p95", optional(published.and_then(|figures| figures.p95_ms))),
        ("p99 ms", number(row.p99_ms)),
        ("errors", row.errors.to_string()),
        ("wrong / checked", format!("{} / {}", row.answers_wrong, row.answers_checked)),
        ("RSS MB", optional(row.rss_mb)),
        ("notes", references(row, notes)),
    ]
}

/// The published hardware lines, each once.
pub(super) fn hardware(report: &Report) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    for published in report.rows.iter().filter_map(|row| row.published.as_ref()) {
        if !lines.contains(&published.hardware.as_str()) {
            lines.push(&published.hardware);
        }
    }
    lines
}

/// The environment as name and value, for people.
pub(super) fn environment(report: &Report) -> Vec<(&'static str, String)> {
    let own = &report.environment;
    let build = if own.debug_build { ", compiled without optimisation" } else { "" };
    let mut lines = vec![
        ("date", own.date.clone()),
        ("machine", format!("{}, {} cores, {} MB memory", own.cpu, own.cores, own.ram_mb)),
        ("disk", own.disk.clone()),
        ("kernel", own.kernel.clone()),
        ("target", own.target.clone()),
        ("server version", own.server_version.clone()),
        ("durability", own.durability.clone()),
        ("campaign", format!("{}, commit {}{build}", own.version, own.commit)),
        ("profile", format!("{}, {} run(s) a row, sets {}", own.profile, own.runs, own.setup)),
        ("generator", format!("{} thread(s), on the machine named above", own.generator_threads)),
        ("seed", own.seed.to_string()),
        ("command", own.command.clone()),
    ];
    if !own.settings.is_empty() {
        lines.push(("also set in the environment", own.settings.join(", ")));
    }
    lines
}

/// One line a row, all figures, for spreadsheets.
pub fn csv(report: &Report) -> String {
    let mut out = String::new();
    for (place, row) in report.rows.iter().enumerate() {
        let cells = csv_cells(row);
        if place == 0 {
            let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
            let _ = writeln!(out, "{}", names.join(","));
        }
        let cells: Vec<String> = cells.into_iter().map(|(_, cell)| quoted(&cell)).collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

fn csv_cells(row: &RowReport) -> Vec<(&'static str, String)> {
    let exact = |value: f64| format!("{value:.3}");
    let maybe = |value: Option<f64>| value.map_or_else(String::new, exact);
    let published = row.published.as_ref();
    vec![
        ("id", row.id.clone()),
        ("users", row.users.to_string()),
        ("iterations", row.iterations.to_string()),
        ("runs", row.runs.to_string()),
        ("throughput", exact(row.throughput)),
        ("throughput_min", exact(row.throughput_min)),
        ("throughput_max", exact(row.throughput_max)),
        ("unit", row.unit.clone()),
        ("items_per_s", exact(row.items_per_s)),
        ("items", row.items.clone()),
        ("p50_ms", exact(row.p50_ms)),
        ("p90_ms", exact(row.p90_ms)),
        ("p95_ms", exact(row.p95_ms)),
        ("p99_ms", exact(row.p99_ms)),
        ("p999_ms", exact(row.p999_ms)),
        ("max_ms", exact(row.max_ms)),
        ("errors", row.errors.to_string()),
        ("answers_checked", row.answers_checked.to_string()),
        ("answers_wrong", row.answers_wrong.to_string()),
        ("floor_throughput", maybe(row.floor_throughput)),
        ("floor_ratio", maybe(row.floor_ratio)),
        ("cpu_us_per_op", maybe(row.cpu_us_per_op)),
        ("generator_cpu_us_per_op", maybe(row.generator_cpu_us_per_op)),
        ("rss_mb", maybe(row.rss_mb)),
        ("disk_mb", maybe(row.disk_mb)),
        ("set_entities", row.set_entities.to_string()),
        ("setup_s", exact(row.setup_s)),
        ("k6_style_throughput", maybe(row.k6_style_throughput)),
        ("k6_style_p95_ms", maybe(row.k6_style_p95_ms)),
        ("entities_per_answer", maybe(row.entities_per_answer)),
        ("points", row.points.map_or_else(String::new, |points| points.to_string())),
        ("job_s", maybe(row.job_s)),
        ("cpu_ns_per_point", maybe(row.cpu_ns_per_point)),
        ("generator_cpu_ns_per_point", maybe(row.generator_cpu_ns_per_point)),
        ("row_rss_peak_mb", maybe(row.row_rss_peak_mb)),
        ("disk_bytes_per_point", maybe(row.disk_bytes_per_point)),
        ("published_throughput", maybe(published.map(|figures| figures.throughput))),
        ("published_p95_ms", maybe(published.and_then(|figures| figures.p95_ms))),
        ("published_hardware", published.map_or_else(String::new, |figures| figures.hardware.clone())),
        ("caveat", row.caveat.clone()),
    ]
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// The tables for people who read text.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n", report.title);
    for (name, value) in environment(report) {
        let _ = writeln!(out, "- {name}: {value}");
    }
    for line in hardware(report) {
        let _ = writeln!(out, "- published figures measured on: {line}");
    }
    out.push('\n');
    let notes = notes(report);
    for (place, row) in report.rows.iter().enumerate() {
        let columns = columns(row, &notes);
        if place == 0 {
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let _ = writeln!(out, "| {} |", names.join(" | "));
            let _ = writeln!(out, "|{}", "---|".repeat(names.len()));
        }
        let cells: Vec<String> = columns.into_iter().map(|(_, cell)| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    for (place, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "{}. {note}", place + 1);
    }
    out.push('\n');
    for table in &report.tables {
        let _ = writeln!(out, "## {}\n\n| {} |", table.title, table.columns.join(" | "));
        let _ = writeln!(out, "|{}", "---|".repeat(table.columns.len()));
        for line in &table.lines {
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        let _ = writeln!(out, "\n{}\n", table.verdict);
    }
    for line in trouble(report) {
        let _ = writeln!(out, "- {line}");
    }
    out
}

/// Errors and wrong answers in words.
pub(super) fn trouble(report: &Report) -> Vec<String> {
    let mut lines = report.faults.clone();
    for row in &report.rows {
        for (kind, errors) in &row.error_kinds {
            let example = errors.examples.first().map_or("", String::as_str);
            lines.push(format!("{}: {} errors of kind {kind}, for example: {example}", row.id, errors.count));
        }
        lines.extend(row.wrong_examples.iter().map(|example| format!("{}: wrong answer: {example}", row.id)));
    }
    lines
}
