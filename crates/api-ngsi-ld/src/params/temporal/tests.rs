use api_http::{Operation, Params};
use proptest::prelude::*;
use tenant_contexts::RequestContext;

use super::*;
use crate::params::HISTORY_QUERY;

const LIMITS: Limits = Limits {
    page_default: 20,
    page_max: 1000,
    batch_entities_max: 10,
    depth_max: 16,
    join_level_max: 4,
    join_entities_max: 10,
    temporal_instances_max: 100,
    q_nodes_max: 10,
    q_values_max: 20,
    geo_positions_max: 100,
    page_bytes_max: 1 << 20,
};

fn names() -> Names {
    Names::of(&RequestContext::core(), &["T", "a", "b", "c"])
}

fn request(query: &str) -> Request {
    const QUERYING: Operation = Operation::new("", "query", "").query(HISTORY_QUERY);
    Request { params: Params::parse(query).unwrap(), operation: &QUERYING, ..Request::default() }
}

/// What was understood: representation, time, span, the last so many, attributes.
fn print(params: &TemporalParams) -> String {
    let HistoryRequest { attributes, datasets, .. } = params.history(7);
    let TimeSpan { from, to } = params.span;
    let edge = |time: Timestamp| match time.0 {
        i64::MIN | i64::MAX => "*".to_owned(),
        micros => micros.to_string(),
    };
    let mut out = format!("{:?} {}..{}", params.time, edge(from), edge(to));
    match &params.form {
        TemporalForm::Instances => out += &format!(" {:?}", params.reading().form),
        TemporalForm::Values => out += " Values",
        TemporalForm::Aggregates { methods, period } => {
            let zero = Period::parse("PT0S").unwrap();
            let whole = params.begin.map_or(zero, |begin| zero.starting_at(begin));
            out += &format!(" {methods:?}{}", if *period == whole { "" } else { " in periods" });
        }
    }
    if let Some(last_n) = params.last_n {
        out += &format!(" last {last_n}");
    }
    let term = |term: &u32| if *term == TermId::SCOPE.0 { "scope".to_owned() } else { term.to_string() };
    let terms = |terms: Vec<u32>| terms.iter().map(term).collect::<Vec<_>>().join(",");
    match attributes {
        AttributeFilter::All => {}
        AttributeFilter::Only(names) => {
            out += &format!(" only {}", terms(names.into_iter().map(|name| name.unwrap().0).collect()));
        }
        AttributeFilter::Except(names) => {
            out += &format!(" except {}", terms(names.into_iter().map(|name| name.0).collect()));
        }
    }
    if !datasets.is_empty() {
        out += &format!(" {datasets:?}");
    }
    out
}

fn check(query: &str, expected: &str) {
    let found = TemporalParams::of_entity(&request(query), &names(), &LIMITS);
    let found = found.map_or_else(|problem| problem.detail, |params| print(&params));
    assert_eq!(found, expected, "{query}");
}

#[test]
fn without_parameters_all_that_was_observed_is_meant() {
    check("", "ObservedAt *..* Normalized");
}

#[test]
fn spans_are_half_open() {
    let second = "1970-01-01T00:00:01Z";
    check(&format!("timerel=before&timeAt={second}"), "ObservedAt *..1000000 Normalized");
    check(&format!("timerel=after&timeAt={second}"), "ObservedAt 1000000..* Normalized");
    check(
        &format!("timerel=between&timeAt={second}&endTimeAt=1970-01-01T00:00:02.5Z"),
        "ObservedAt 1000000..2500000 Normalized",
    );
    check(
        &format!("timerel=between&timeAt={second}&endTimeAt={second}"),
        "ObservedAt 1000000..1000000 Normalized",
    );
}

#[test]
fn every_time_property() {
    for (name, expected) in [
        ("observedAt", "ObservedAt"),
        ("createdAt", "CreatedAt"),
        ("modifiedAt", "ModifiedAt"),
        ("deletedAt", "DeletedAt"),
    ] {
        check(&format!("timeproperty={name}"), &format!("{expected} *..* Normalized"));
    }
}

#[test]
fn format_goes_before_options() {
    check("options=concise", "ObservedAt *..* Concise");
    check("options=temporalValues,sysAttrs", "ObservedAt *..* Values");
    check("options=temporalValues&format=normalized", "ObservedAt *..* Normalized");
    check("format=simplified", "ObservedAt *..* Values");
    check("options=temporalValues,temporalValues", "ObservedAt *..* Values");
    check("options=temporalValues,normalized", "parameter options asks for more than one representation");
}

#[test]
fn aggregates_have_methods_and_a_period() {
    let after = "timerel=after&timeAt=1970-01-01T00:00:01Z";
    check("format=aggregatedValues&aggrMethods=sum,avg,sum", "ObservedAt *..* [Sum, Avg]");
    check(
        &format!("options=aggregatedValues&aggrMethods=max&aggrPeriodDuration=PT1S&{after}"),
        "ObservedAt 1000000..* [Max] in periods",
    );
    check(
        &format!("options=aggregatedValues&aggrMethods=max&aggrPeriodDuration=P0D&{after}"),
        "ObservedAt 1000000..* [Max]",
    );
    check("aggrPeriodDuration=PT1S", "parameter aggrPeriodDuration needs options=aggregatedValues");
}

#[test]
fn projections_say_which_attributes_are_read() {
    check("attrs=a,b,unheard", "ObservedAt *..* Normalized only 1,2,scope");
    check("pick=id,c", "ObservedAt *..* Normalized only 3");
    check("pick=a,b&omit=c", "ObservedAt *..* Normalized only 1,2");
    check("pick=a,b&omit=b", "parameters pick and omit both name \"b\"");
    check("pick=scope", "ObservedAt *..* Normalized only scope");
    check("omit=a,scope", "ObservedAt *..* Normalized except 1,scope");
    check("omit=a,type", "ObservedAt *..* Normalized except 1");
    check("lastN=3&datasetId=@none", "ObservedAt *..* Normalized last 3 [None]");
    check(
        "pick=a{b}",
        "pick: a projection of linked entities needs join, and as much joinLevel as it is deep",
    );
}

#[test]
fn a_query_must_be_temporal() {
    let query = |text: &str| {
        let found = TemporalParams::of_query(&request(text), &names(), &LIMITS);
        found.map_or_else(|problem| problem.detail, |params| print(&params))
    };
    assert_eq!(query("type=T"), "a temporal query needs timerel and timeAt");
    let before = "timerel=before&timeAt=1970-01-01T00:00:01Z";
    assert_eq!(query(&format!("type=T&{before}")), "ObservedAt *..1000000 Normalized");
}

proptest! {
    #[test]
    fn never_panics(
        relation in "(before|after|between|x)?",
        at in "[0-9TZ:+.-]{0,25}",
        end in "(1970-01-01T00:00:0[0-9]Z)?",
        options in "(temporalValues|aggregatedValues|sysAttrs|,){0,3}",
        methods in "(sum|avg|max|,|x){0,4}",
        period in "-?P?[0-9YMWDTHS.,]{0,12}",
        last in "[0-9-]{0,22}",
    ) {
        let query = format!(
            "timerel={relation}&timeAt={}&endTimeAt={end}&options={options}&aggrMethods={methods}\
             &aggrPeriodDuration={period}&lastN={last}",
            at.replace('+', "%2B"),
        );
        let _ = TemporalParams::of_entity(&request(&query), &names(), &LIMITS);
        let body = format!("{{\"type\":\"Query\",\"temporalQ\":{{\"timerel\":\"{relation}\",\"timeAt\":\"{at}\"}}}}");
        let _ = super::super::parse_temporal_body(&body, &request(""), &names(), &LIMITS);
    }
}
