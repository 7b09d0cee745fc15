//! From the outcomes of jobs to the figures of a report; pure. Shared with the rows that run in process.

use campaign::course::figures::measured;
use campaign::course::{Course, SCALED};
use campaign::executors::Outcome;
use campaign::goals::{Goal, Measure};
use campaign::report::{Published, RowReport};

use super::network::Network;
use super::rows::Row;

/// What this server set out to reach on two cores, in process.
pub const GOALS: &[Goal] = &[
    Goal { row: "GD-BI-youtube", measure: Measure::Seconds, bound: 5.0 },
    Goal { row: "GD-FN-youtube", measure: Measure::Seconds, bound: 12.0 },
    Goal { row: "GD-FA-youtube", measure: Measure::Seconds, bound: 3.0 },
    // Three sources, 50 ms each.
    Goal { row: "GD-KO-3", measure: Measure::Seconds, bound: 0.15 },
];
/// And as a server, which has no generator beside it in its memory.
pub const SERVER_GOALS: &[Goal] = &[Goal { row: "GD-FN-youtube", measure: Measure::Memory, bound: 400.0 }];

/// The report of a row of `network`, but for what the frame adds; `how` says what a job was.
pub fn report(
    (row, hardware): (&Row, &str),
    course: &Course,
    network: &Network,
    outcomes: &[Outcome],
    how: &[String],
) -> RowReport {
    let (items, count) = row.items(network);
    let seconds: Vec<f64> = outcomes.iter().map(|outcome| outcome.elapsed.as_secs_f64()).collect();
    let rates: Vec<f64> = seconds.iter().map(|seconds| count as f64 / seconds.max(1e-9)).collect();
    let published = |seconds: f64, hardware: String| Published {
        throughput: row.items_published().map_or(0.0, |items| items as f64) / seconds,
        p95_ms: None,
        seconds: Some(seconds),
        hardware,
    };
    let besides = row
        .besides
        .into_iter()
        .flat_map(|besides| [(besides.titan, "Titan 0.5.4 on Cassandra"), (besides.neo4j, "Neo4j 2.0.1")]);
    // Communities of a graph whose edges were not published cannot be compared edge by edge: vertices are counted.
    RowReport {
        scenario: Some(row.test.name().to_owned()),
        unit: format!("{items}/s"),
        items: items.to_owned(),
        job_s: Some(seconds.iter().sum::<f64>() / seconds.len().max(1) as f64),
        published: row.published.map(|seconds| published(seconds, hardware.to_owned())),
        published_besides: besides
            .map(|(seconds, name)| published(seconds, format!("{name}, on the same machine as {hardware}")))
            .collect(),
        set_entities: usize::try_from(network.vertices).unwrap_or(usize::MAX),
        caveat: caveats(row, course, network, how).join("; "),
        ..measured(outcomes, &rates)
    }
}

fn caveats(row: &Row, course: &Course, network: &Network, how: &[String]) -> Vec<String> {
    let mut caveats = Vec::new();
    let (vertices, edges) = row.graph.published();
    if network.vertices < vertices {
        caveats.push(format!("{SCALED}{} of {vertices} vertices", network.vertices));
    }
    caveats.push(match edges {
        Some(_) => "a synthetic graph of the published numbers of vertices and edges, whose degrees follow a power law; the \
                    published data sets cannot be fetched here"
            .to_owned(),
        None => format!(
            "a synthetic graph with planted communities ({} edges); the published ones were made likewise, with \
             parameters that were not published",
            network.edges.len()
        ),
    });
    caveats.extend(row.trouble.clone());
    if row.depth > 0 {
        caveats
            .push("three sources one after the other; data set and direction were not published".to_owned());
    }
    if let Some(besides) = row.besides {
        caveats.push(format!("Titan {} s, Neo4j {} s", besides.titan, besides.neo4j));
    }
    caveats.extend(how.iter().cloned());
    if course.runs < 2 {
        caveats.push("one run".to_owned());
    }
    caveats
}
