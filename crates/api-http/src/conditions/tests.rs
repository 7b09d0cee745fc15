use super::*;
use crate::json_response;
use crate::response::code_tag;

const STATE: u128 = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
const STATE_TEXT: &str = "0123456789abcdef0123456789abcdef";

fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// Status and tag of the answer to a read with these headers, or what refuses it.
fn read(fields: &[(&'static str, &str)]) -> Result<(u16, String), ConditionError> {
    let request = Request { headers: headers(fields), ..Request::default() };
    let answer = json_response(StatusCode::OK, "application/json", "{}");
    let answer = tagged(&request, STATE, answer)?;
    let tag = answer.headers().get(header::ETAG).unwrap().to_str().unwrap().to_owned();
    assert_eq!(answer.body().len_known() == 0, answer.status() == StatusCode::NOT_MODIFIED);
    Ok((answer.status().as_u16(), tag))
}

fn own() -> String {
    read(&[]).unwrap().1
}

#[test]
fn a_tag_names_state_and_representation() {
    let tag = own();
    assert_eq!(tag.len(), STATE_DIGITS + FORM_DIGITS + 3);
    assert!(tag.starts_with(&format!("\"{STATE_TEXT}-")) && tag.ends_with('"'), "{tag}");
    let other = json_response(StatusCode::OK, "application/json", "{} ");
    let other = tagged(&Request::default(), STATE, other).unwrap();
    assert_ne!(other.headers()[header::ETAG].to_str().unwrap(), tag);
    let refused = json_response(StatusCode::NOT_FOUND, "application/json", "{}");
    let refused = tagged(&Request::default(), STATE, refused).unwrap();
    assert!(!refused.headers().contains_key(header::ETAG));
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let own = own();
    for held in
        [own.clone(), format!("W/{own}"), format!("\"x,y\" , {own}"), "*".into(), format!(",, {own},")]
    {
        assert_eq!(read(&[("if-none-match", &held)]), Ok((304, own.clone())), "{held}");
    }
    assert_eq!(read(&[("if-none-match", "\"x\""), ("if-none-match", &own)]), Ok((304, own.clone())));
    for other in
        ["\"x\"".to_owned(), format!("\"{STATE_TEXT}\""), format!("\"{STATE_TEXT}-0000000000000000\"")]
    {
        assert_eq!(read(&[("if-none-match", &other)]), Ok((200, own.clone())), "{other}");
    }
}

#[test]
fn a_read_is_judged_before_its_answer_is_made() {
    let judge = |fields: &[(&'static str, &str)]| {
        let request = Request { headers: headers(fields), ..Request::default() };
        judge_read(&request, STATE, 7)
    };
    let own = format!("\"{STATE_TEXT}-0000000000000007\"");
    assert!(matches!(judge(&[]), Ok(ReadJudged::Changed(tag)) if tag == own && tag == entity_tag(STATE, 7)));
    let unchanged = judge(&[("if-none-match", &own)]).unwrap();
    assert!(matches!(unchanged, ReadJudged::Unchanged(answer) if answer.headers()[header::ETAG] == own));
    let other = format!("\"{STATE_TEXT}-0000000000000008\"");
    assert!(matches!(judge(&[("if-none-match", &other)]), Ok(ReadJudged::Changed(_))));
    assert!(matches!(judge(&[("if-match", &other)]), Err(ConditionError::Failed(IF_MATCH))));
}

#[test]
fn a_coded_answer_is_another_representation() {
    let own = own();
    let coded = format!("{}-gzip\"", own.trim_end_matches('"'));
    assert_eq!(read(&[("if-none-match", &coded)]), Ok((200, own.clone())));
    assert_eq!(read(&[("if-none-match", &coded), ("accept-encoding", "br")]), Ok((200, own.clone())));
    assert_eq!(read(&[("if-none-match", &coded), ("accept-encoding", "gzip")]), Ok((304, coded.clone())));
    let mut sent = headers(&[("etag", &own)]);
    code_tag(&mut sent, Coding::Gzip);
    assert_eq!(sent[header::ETAG], coded);
}

#[test]
fn a_read_of_another_state_is_refused() {
    let own = own();
    assert_eq!(read(&[("if-match", &own)]), Ok((200, own.clone())));
    assert_eq!(read(&[("if-match", "*")]), Ok((200, own.clone())));
    assert_eq!(read(&[("if-match", &own), ("if-none-match", &own)]), Ok((304, own.clone())));
    let failed = Err(ConditionError::Failed(IF_MATCH));
    assert_eq!(read(&[("if-match", "\"x\"")]), failed);
    assert_eq!(read(&[("if-match", &format!("W/{own}"))]), failed);
}

#[test]
fn writes_compare_states_alone() {
    let of = |name: &'static str, value: &str| Conditions::of(&headers(&[(name, value)])).unwrap();
    let tag = |suffix: &str| format!("\"{STATE_TEXT}{suffix}\"");
    for suffix in ["", "-0000000000000000", "-0000000000000000-zstd"] {
        assert_eq!(of("if-match", &tag(suffix)).one_of(), Some(States::These(vec![STATE])));
    }
    assert_eq!(of("if-match", "*").one_of(), Some(States::Any));
    assert_eq!(of("if-match", "*").none_of(), None);
    // A weak tag is never strongly equal; what is not of this server names no state.
    let (weak, shouted) = (format!("W/{}", tag("")), tag("").to_uppercase());
    for other in [&weak, &shouted, "\"x\"", "\"\""] {
        assert_eq!(of("if-match", other).one_of(), Some(States::These(Vec::new())), "{other}");
    }
    assert_eq!(of("if-none-match", &weak).none_of(), Some(States::These(vec![STATE])));
    assert_eq!(of("if-none-match", "*").none_of(), Some(States::Any));
    assert!(Conditions::of(&HeaderMap::new()).unwrap().is_empty());
}

#[test]
fn malformed_conditions_are_refused() {
    let many = "\"a\",".repeat(TAGS_MAX + 1);
    for value in ["", "x", "\"x", "\"a\" \"b\"", "*, \"a\"", "w/\"a\"", "W/ \"a\"", "\"a b\"", ",", &many] {
        let malformed = Conditions::of(&headers(&[("if-match", value)]));
        assert_eq!(malformed, Err(ConditionError::Malformed(IF_MATCH)), "{value:?}");
    }
}
