//! What a reader must know before comparing a row with its published figure.

use std::time::Duration;

use crate::profile::{Observed, Setup};
use crate::stellio::PAGE_ENTITIES;
use crate::stellio::sets::{BATCH_ENTITIES, TARGETS};
use crate::target::Source;
use crate::workloads::{Kind, PastForm, Row};

use super::{Course, INSTANCE_USERS, Ran, Stand};

/// Above this share of its threads' time the generator may be what limits the rate.
const GENERATOR_SHARE_MAX: f64 = 0.9;

/// The caveats of a row, each a short sentence.
pub(super) fn caveats(row: &Row, course: &Course, stand: &Stand, ran: &Ran) -> Vec<String> {
    let mut caveats = Vec::new();
    scale(row, course, stand, ran, &mut caveats);
    protocol(row, course, stand, ran, &mut caveats);
    if cfg!(debug_assertions) {
        caveats.push("this program was compiled without optimisation: the figure is of no use".to_owned());
    }
    let share = generator_share(ran, course.threads);
    if share > GENERATOR_SHARE_MAX {
        caveats.push(format!(
            "the generator was busy {:.0} % of its time: the server may be faster",
            share * 100.0
        ));
    }
    caveats
}

fn scale(row: &Row, course: &Course, stand: &Stand, ran: &Ran, caveats: &mut Vec<String>) {
    let calls = ran.outcomes.iter().map(|outcome| outcome.record.calls()).max().unwrap_or_default();
    let by_time =
        if ran.outcomes.iter().any(|outcome| outcome.out_of_time) { " (ended by time)" } else { "" };
    if calls < row.iterations {
        caveats.push(format!("scaled: {calls} of {} iterations{by_time}", row.iterations));
    }
    if stand.set.shape.entities < row.entities {
        caveats.push(format!("scaled: {} of {} entities", stand.set.shape.entities, row.entities));
    }
    if stand.set.shape.instances < row.instances {
        caveats
            .push(format!("scaled: {} of {} instances an entity", stand.set.shape.instances, row.instances));
    }
    if let Some(users) = course.users.filter(|users| *users != row.users) {
        caveats.push(format!("{users} users, published with {}", row.users));
    }
    if row.published.is_none() {
        caveats.push("row of ours, nothing published".to_owned());
    } else if course.runs < 3 {
        caveats.push(format!(
            "{} run{}, published as mean of 3",
            course.runs,
            if course.runs == 1 { "" } else { "s" }
        ));
    }
}

fn protocol(row: &Row, course: &Course, stand: &Stand, ran: &Ran, caveats: &mut Vec<String>) {
    if stand.loaded.is_some() {
        caveats.push(match course.setup {
            Setup::Sequential => "set created by one user, one entity a request, as published".to_owned(),
            Setup::Batch => {
                format!("set created in batches of {BATCH_ENTITIES}, not as published: no k6-style rate")
            }
        });
    }
    if stand.rows_before > 0 {
        caveats.push("on the set of the row before".to_owned());
    }
    match row.kind {
        Kind::Create | Kind::Get => {}
        Kind::TemporalAggregated
        | Kind::TemporalNormalized
        | Kind::TemporalValues
        | Kind::TemporalQueryAggregated
        | Kind::TemporalQueryNormalized
        | Kind::TemporalQueryValues => temporal(row, course, ran, caveats),
        Kind::PartialUpdate | Kind::Update => {
            if row.published.is_some() {
                caveats.push("the published rate probably includes the creation of the set".to_owned());
            }
        }
        Kind::QueryValue | Kind::QueryRelationship => {
            caveats.push(
                "the published rate very probably includes the sequential creation of the set: compare p95, or the \
                 k6-style rate"
                    .to_owned(),
            );
            caveats.push(format!("limit={PAGE_ENTITIES} stated, published with the broker's default"));
        }
    }
    if row.kind == Kind::QueryRelationship {
        caveats.push(format!("{TARGETS} relationship targets assumed, the number was not published"));
    }
    if !row.server.is_empty() {
        caveats.push(match course.source {
            Source::Own { .. } => format!("the server was started with {}", row.server.join(" ")),
            Source::Foreign { .. } => format!("meant for a server started with {}", row.server.join(" ")),
        });
    }
    if matches!(course.source, Source::Foreign { .. }) && row.kind == Kind::Create {
        caveats.push("the server was used as it was found, not empty".to_owned());
    }
}

fn temporal(row: &Row, course: &Course, ran: &Ran, caveats: &mut Vec<String>) {
    if row.published.is_some() {
        caveats.push(
            "the published rate very probably includes the sequential creation of the set: compare p95, or the \
             k6-style rate"
                .to_owned(),
        );
    }
    let instances = match course.setup {
        Setup::Sequential => "by one user, one after the other, as published".to_owned(),
        Setup::Batch => format!("by {INSTANCE_USERS} users at once, each with entities of its own"),
    };
    caveats.push(format!("instances written {instances}"));
    let Some((form, by_query)) = row.kind.past() else { return };
    let (looked_at, parts) = (ran.findings.pasts, ran.findings.parts);
    let each = ran.findings.past_values as f64 / looked_at.max(1) as f64;
    if by_query {
        caveats.push(format!("limit={PAGE_ENTITIES} stated, the suite leaves it to the broker"));
        if matches!(course.source, Source::Foreign { .. }) {
            caveats.push("what else of this type the server held, is answered too".to_owned());
        }
    }
    if parts > 0 {
        caveats.push(format!(
            "{parts} of {looked_at} answers looked at were a part (206): the rest was not asked for, as in the suite"
        ));
    }
    if form != PastForm::Aggregated {
        caveats.push(format!("{each:.0} instances an answer"));
        return;
    }
    let observed = match course.observed {
        Observed::Now => "observed when written, so a faster server makes fewer buckets",
        Observed::Spread => "observed a hundred a second, whatever the setup took",
    };
    caveats.push(format!("{each:.0} buckets of a second an answer, all series together, {observed}"));
}

fn generator_share(ran: &Ran, threads: usize) -> f64 {
    let busy: Duration = ran.outcomes.iter().filter_map(|outcome| outcome.generator_cpu).sum();
    let elapsed: Duration = ran.outcomes.iter().map(|outcome| outcome.elapsed).sum();
    if elapsed.is_zero() { 0.0 } else { busy.as_secs_f64() / (elapsed.as_secs_f64() * threads.max(1) as f64) }
}
