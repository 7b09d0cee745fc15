//! From outcomes to the figures of a report; pure.

use campaign::course::figures::{MEGABYTE, add_setup_errors, measured};
use campaign::course::{Ran, SCALED};
use campaign::executors::Outcome;
use campaign::executors::search::{Found, Step};
use campaign::family::Bench;
use campaign::profile::Profile;
use campaign::report::table::number;
use campaign::report::{Published, RowReport};
use campaign::target::Source;

use super::rows::{Arrival, Row, Work};
use super::stock::Stock;

/// Seconds of a published run.
const PUBLISHED_SECONDS: u64 = 300;

/// One line for the person watching.
pub(super) fn line(outcome: &Outcome) -> String {
    let record = &outcome.record;
    let cpu = |cpu| outcome.us_per_call(cpu).map_or("?".to_owned(), |us| format!("{us:.1}"));
    format!(
        "{:.0}/s, p50 {:.2} ms, p95 {:.2} ms, {} errors, CPU us/op: server {}, generator {}",
        outcome.throughput(),
        record.percentile_ms(50.0),
        record.percentile_ms(95.0),
        record.failures(),
        cpu(outcome.server_cpu),
        cpu(outcome.generator_cpu),
    )
}

/// What a search found, in words.
pub(super) fn search(found: &Found) -> String {
    let tried = |step: &Step| {
        let rate = number(step.rate);
        if step.error_share > 0.0 { format!("{rate} (errors)") } else { rate }
    };
    let rates: Vec<String> = found.steps.iter().map(tried).collect();
    let borne = found.best.map_or("none of them was borne".to_owned(), |best| {
        format!("{} was the highest that was borne", number(best.rate))
    });
    format!("rates offered, in requests/s: {}: {borne}", rates.join(", "))
}

/// The report of a row, but for what the frame adds.
pub(super) fn report(bench: &Bench<'_, Row>, stock: &Stock, ran: &Ran<'_>) -> RowReport {
    let row = bench.row;
    let rates: Vec<f64> = ran.outcomes.iter().map(Outcome::throughput).collect();
    let measured = measured(&ran.outcomes, &rates);
    let mut report = RowReport {
        scenario: Some(row.work.name().to_owned()),
        users: bench.course.users.unwrap_or(row.connections),
        unit: "requests/s".to_owned(),
        items_per_s: measured.throughput * row.batch as f64,
        items: if row.work.of_edges() { "edges" } else { "vertices" }.to_owned(),
        floor_throughput: ran.floor.as_ref().map(Outcome::throughput).filter(|rate| *rate > 0.0),
        disk_mb: ran.folder_bytes.map(|bytes| bytes as f64 / MEGABYTE),
        published: Some(Published {
            throughput: row.published.rate,
            p95_ms: None,
            seconds: None,
            hardware: bench.workload.hardware.clone(),
        }),
        caveat: caveats(bench, stock, measured.throughput).join("; "),
        ..measured
    };
    if let (0, Some(prepared)) = (ran.rows_before, ran.prepared) {
        report.setup_requests = prepared.record.calls();
        report.setup_s = prepared.elapsed.as_secs_f64();
        add_setup_errors(&mut report, prepared);
    }
    report
}

/// What a reader must know before comparing.
fn caveats(bench: &Bench<'_, Row>, stock: &Stock, throughput: f64) -> Vec<String> {
    let (row, course) = (bench.row, bench.course);
    let mut caveats = Vec::new();
    let seconds = row.duration(course.profile).as_secs_f64();
    match row.arrival {
        Arrival::Open => {
            if seconds < PUBLISHED_SECONDS as f64 {
                caveats.push(format!("{SCALED}{seconds:.0} of {PUBLISHED_SECONDS} s"));
            }
            let per_second = course.users.unwrap_or(row.connections) as f64;
            caveats.push(format!(
                "about one request a second from each connection, as published: {} were offered each second",
                number(per_second)
            ));
        }
        Arrival::Closed => caveats.push(
            "closed loop without think time; the published rate is what was offered, as each thread sent about one \
             request a second"
                .to_owned(),
        ),
        Arrival::Search => {
            caveats.push(
                "the highest rate without an error, at which 90 % are answered in time; published was such a search \
                 over the number of threads"
                    .to_owned(),
            );
            let steps = stock.searches.iter().filter(|(id, _)| *id == row.id);
            caveats.extend(steps.map(|(_, steps)| steps.clone()));
        }
    }
    if course.profile == Profile::Smoke && row.arrival != Arrival::Open {
        caveats.push(format!("{SCALED}{seconds:.1} s of load"));
    }
    let published = &row.published;
    caveats.push(format!(
        "published latency in ms: mean {}, median {}, p90 {}, longest {}",
        published.mean_ms, published.median_ms, published.p90_ms, published.max_ms
    ));
    if row.batch > 1 {
        let items = if row.work.of_edges() { "edges" } else { "vertices" };
        caveats.push(format!(
            "{} {items} a request: {} {items} a second, published {}",
            row.batch,
            number(throughput * row.batch as f64),
            number(published.rate * row.batch as f64)
        ));
    }
    match row.work {
        Work::EdgeBatch if row.check_vertex => caveats.push("check_vertex=true".to_owned()),
        Work::EdgeBatch => caveats.push("check_vertex=false".to_owned()),
        _ => {}
    }
    caveats.push("schema and bodies were not published: those of the API documentation".to_owned());
    if matches!(course.source, Source::Foreign { .. }) {
        caveats.push("the server was used as it was found, not empty".to_owned());
    }
    caveats
}
