//! What a reader must know before comparing a row with its published figure.

use crate::course::{Ran, SCALED};
use crate::family::Bench;
use crate::profile::{Observed, Setup};
use crate::target::Source;

use super::PAGE_ENTITIES;
use super::instances::INSTANCE_USERS;
use super::rows::{Kind, PastForm, Row};
use super::sets::{BATCH_ENTITIES, Set, TARGETS};

/// The caveats of a row, each a short sentence.
pub(super) fn caveats(bench: &Bench<'_, Row>, set: &Set, ran: &Ran<'_>) -> Vec<String> {
    let mut caveats = Vec::new();
    scale(bench, set, ran, &mut caveats);
    protocol(bench, ran, &mut caveats);
    caveats
}

fn scale(bench: &Bench<'_, Row>, set: &Set, ran: &Ran<'_>, caveats: &mut Vec<String>) {
    let (row, course) = (bench.row, bench.course);
    let calls = ran.outcomes.iter().map(|outcome| outcome.record.calls()).max().unwrap_or(0);
    let by_time =
        if ran.outcomes.iter().any(|outcome| outcome.out_of_time) { " (ended by time)" } else { "" };
    if calls < row.iterations {
        caveats.push(format!("{SCALED}{calls} of {} iterations{by_time}", row.iterations));
    }
    if set.shape.entities < row.entities {
        caveats.push(format!("{SCALED}{} of {} entities", set.shape.entities, row.entities));
    }
    if set.shape.instances < row.instances {
        caveats.push(format!("{SCALED}{} of {} instances an entity", set.shape.instances, row.instances));
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

fn protocol(bench: &Bench<'_, Row>, ran: &Ran<'_>, caveats: &mut Vec<String>) {
    let (row, course) = (bench.row, bench.course);
    if ran.prepared.is_some() {
        caveats.push(match course.setup {
            Setup::Sequential => "set created by one user, one entity a request, as published".to_owned(),
            Setup::Batch => {
                format!("set created in batches of {BATCH_ENTITIES}, not as published: no k6-style rate")
            }
        });
    }
    if ran.rows_before > 0 {
        caveats.push("on the set of the row before".to_owned());
    }
    match row.kind {
        Kind::Create | Kind::Get => {}
        Kind::TemporalAggregated
        | Kind::TemporalNormalized
        | Kind::TemporalValues
        | Kind::TemporalQueryAggregated
        | Kind::TemporalQueryNormalized
        | Kind::TemporalQueryValues => temporal(bench, ran, caveats),
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

fn temporal(bench: &Bench<'_, Row>, ran: &Ran<'_>, caveats: &mut Vec<String>) {
    let (row, course) = (bench.row, bench.course);
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
