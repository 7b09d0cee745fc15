//! Parameters as clients write them, and what is refused.

use api_http::{Operation, Params};

use super::*;

const READING: Operation = Operation::new("", "read", "").query(&[READ]);
const SEARCHING: Operation = Operation::new("", "search", "").query(&[SEARCH, PAGE, ANY]);
const LISTING: Operation = Operation::new("", "list", "").query(&[QUOTATIONS, ANY]);
const GETTING: Operation = Operation::new("", "get", "").query(&[ANY]);

fn request(operation: &'static Operation, query: &str) -> Request {
    Request { params: Params::parse(query).unwrap(), operation, ..Request::default() }
}

fn read(query: &str) -> Result<ReadGiven, String> {
    let request = request(&READING, query);
    check(&request).map_err(|problem| problem.message)?;
    ReadGiven::new(&Given::of(&request)).map_err(|problem| problem.message)
}

fn check_refused(query: &str, word: &str) {
    let message = read(query).unwrap_err();
    assert!(message.contains(word), "{query}: {message}");
}

#[test]
fn a_read_is_told_by_its_parameters() {
    let given = read(
        "from=2026-03-01&to=2026-04-01T00:00:00+02:00&interval=day&intervalMultiplier=2&dayStart=06:00\
         &unit=MWh&timezone=Europe/Berlin&aggregation=avg&gaps=Linear&asOf=2026-01-01T00:00:00.5Z\
         &quotation=latestBefore(2026-01-01T00:00:00Z)&form=compact",
    )
    .unwrap();
    assert!(matches!(given.from, Some(Moment::Day(_))));
    assert_eq!(given.to, Some(Moment::Instant(1_774_994_400_000_000_000)));
    assert_eq!(given.form, Some(Form::Compact));
    let expected = ReadRequest {
        interval: Some(Interval::new(IntervalUnit::Day, 2)),
        zone: Some(Zone::get("Europe/Berlin").unwrap()),
        day_start_seconds: Some(6 * 3600),
        unit: Some("MWh".into()),
        aggregation: Some(Aggregation::Average),
        gaps: Gaps::Linear,
        as_of: Some(Timestamp(1_767_225_600_500_000)),
        quotation: Quotation::LatestBefore(1_767_225_600_000_000_000),
        ..ReadRequest::default()
    };
    assert_eq!(given.request(&Zone::utc()).unwrap(), expected);
    let given = read("").unwrap();
    assert_eq!((given.from, given.to), (None, None));
    assert_eq!(given.request(&Zone::utc()).unwrap(), ReadRequest::default());
}

#[test]
fn dates_are_taken_wherever_an_instant_is() {
    let berlin = Zone::get("Europe/Berlin").unwrap();
    let request = |query: &str| read(query).unwrap().request(&berlin).unwrap();
    let midnight = 1_767_222_000_000_000_000; // 2025-12-31T23:00:00Z
    assert_eq!(request("asOf=2026-01-01").as_of, Some(Timestamp(midnight / 1000)));
    for (text, expected) in [
        ("2026-01-01", Quotation::At(midnight)),
        ("at(2026-01-01)", Quotation::At(midnight)),
        ("latestBefore(2026-01-01)", Quotation::LatestBefore(midnight)),
    ] {
        assert_eq!(request(&format!("quotation={text}")).quotation, expected, "{text}");
    }
    let request = super::tests::request(&LISTING, "before=2026-01-01");
    assert_eq!(instant(&Given::of(&request), &BEFORE, &berlin).unwrap(), Some(midnight));
}

#[test]
fn numbers_and_names_of_other_clients_are_taken() {
    let interval = |query: &str| read(query).unwrap().request(&Zone::utc()).unwrap().interval;
    assert_eq!(interval("interval=2&intervalMultiplier=15"), Some(Interval::new(IntervalUnit::Minute, 15)));
    assert_eq!(parse_alignment("2"), Ok(Alignment::Begin));
    for none in ["0", "No", "no", "No&intervalMultiplier=15"] {
        assert_eq!(interval(&format!("interval={none}")), None, "{none}");
    }
    check_refused("interval=10", "parameter interval");
    assert!(parse_alignment("3").is_err());
    let form = |query: &str| read(query).unwrap().form;
    assert_eq!(form("format=timestamp"), Some(Form::Rows));
    assert_eq!(form("format=csv"), Some(Form::Csv));
    assert_eq!(form("mediaType=application/json;indented=true"), Some(Form::Rows));
    assert_eq!(form("mediaType=text/csv"), Some(Form::Csv));
    assert_eq!(form("mediaType=text/csv&form=arrow"), Some(Form::Arrow));
    check_refused("form=csv&format=csv", "parameter format");
    check_refused("mediaType=image/png", "image/png");
    let search = |query| check(&request(&SEARCHING, query));
    assert!(search("mediaType=application/json").is_ok());
    assert_eq!(search("mediaType=text/csv").unwrap_err().status, 406);
}

#[test]
fn quotations_are_named_in_five_ways() {
    let check = |text: &str, expected| assert_eq!(parse_quotation(text), Ok(expected), "{text}");
    let second = Moment::Instant(1_000_000_000);
    check("latest", QuotationGiven::Latest);
    check("1970-01-01T00:00:01Z", QuotationGiven::At(second));
    check("at(1970-01-01T00:00:01Z)", QuotationGiven::At(second));
    check("latestBefore(1970-01-01T00:00:01Z)", QuotationGiven::LatestBefore(second));
    check("before(P1DT1H0.5S)", QuotationGiven::Before(90_000_500_000_000));
    for text in ["before(P1M)", "before(-P1D)", "before(P10000000D)", "soon", "after(P1D)", "at(x)"] {
        assert!(parse_quotation(text).is_err(), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    check_refused("form=2", "parameter form");
    check_refused("from=tomorrow", "parameter from");
    check_refused("to=2026-01-01T00:00:00", "parameter to");
    check_refused("interval=Fortnight", "parameter interval");
    check_refused("intervalMultiplier=2", "needs parameter interval");
    check_refused("interval=Day&intervalMultiplier=0", "parameter intervalMultiplier");
    check_refused("dayStart=6", "parameter dayStart");
    check_refused("timezone=Europe/Atlantis", "parameter timezone");
    check_refused("aggregation=median", "TimeWeightedMean");
    check_refused("gaps=some", "parameter gaps");
    check_refused("asOf=2026-13-01", "parameter asOf");
    check_refused("quotation=soon", "parameter quotation");
    check_refused("quotation=before(x)", "not a duration");
    check_refused("from=2026-01-01&from=2026-01-02", "given twice");
    check_refused("form=rows&frm=x", "no parameter \"frm\"");
    let refused = |operation| check(&request(operation, "x=1")).unwrap_err().message;
    assert_eq!(refused(&GETTING), "this resource has no parameters, so not \"x\"");
    assert_eq!(refused(&LISTING), "this resource has no parameter \"x\"; it has before, limit");
}
