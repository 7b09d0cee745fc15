//! Entity tags, and requests that hang on them (RFC 9110, sections 8.8.3 and 13): `ETag`, `If-Match`, `If-None-Match`.
//!
//! A tag is `"STATE-FORM"`: the fingerprint of what is stored, in 32 hexadecimal digits, and a hash of the answer's body,
//! in 16, so that answers of one state in two representations have two tags. A coded answer's tag ends in the name of the
//! coding (`-gzip`). Reads compare whole tags; writes compare the state, whatever representation the client read.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::media::{Coding, accept_coding};
use crate::stream::Body;
use crate::{Request, Response, Tagging, empty_response};

/// Digits of a state.
const STATE_DIGITS: usize = 32;
/// Digits of the hash of a body.
const FORM_DIGITS: usize = 16;
/// The header that demands a state.
const IF_MATCH: &str = "If-Match";
/// Tags that a condition may list.
const TAGS_MAX: usize = 256;

/// Why a conditional request is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// 400: the condition cannot be read.
    #[error("header {0} must be * or entity tags such as \"a\", W/\"b\" (at most {TAGS_MAX})")]
    Malformed(&'static str),
    /// 412: the condition does not hold.
    #[error("header {0} does not admit the state of the resource")]
    Failed(&'static str),
}

/// The conditions of a request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Conditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Tags {
    Any,
    These(Vec<Tag>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Tag {
    opaque: Box<str>,
    is_weak: bool,
}

/// States that a condition names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum States {
    /// `*`: whatever is stored.
    Any,
    /// The fingerprints in the tags; tags that are none of ours name no state.
    These(Vec<u128>),
}

impl Conditions {
    /// The conditions of a request. Cost without any: two look-ups among its headers.
    ///
    /// # Errors
    ///
    /// [`ConditionError::Malformed`].
    pub fn of(headers: &HeaderMap) -> Result<Self, ConditionError> {
        Ok(Self {
            if_match: tags(headers, &header::IF_MATCH, IF_MATCH)?,
            if_none_match: tags(headers, &header::IF_NONE_MATCH, "If-None-Match")?,
        })
    }

    /// Whether the request has none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// For writes: what is stored must be one of these. A weak tag names no state: it is never strongly equal.
    pub fn one_of(&self) -> Option<States> {
        self.if_match.as_ref().map(|tags| tags.states(|tag| !tag.is_weak))
    }

    /// For writes: what is stored must be none of these.
    pub fn none_of(&self) -> Option<States> {
        self.if_none_match.as_ref().map(|tags| tags.states(|_| true))
    }

    /// Both for a model: what is stored must be one of the former and none of the latter, in the model's words for whatever is
    /// stored and for the states of some fingerprints.
    pub fn states<S>(&self, any: &S, these: impl Fn(Vec<u128>) -> S) -> (Option<S>, Option<S>)
    where
        S: Clone,
    {
        let states = |states| match states {
            States::Any => any.clone(),
            States::These(states) => these(states),
        };
        (self.one_of().map(states), self.none_of().map(states))
    }

    /// Judges a read whose answer has this tag: `Some` is the tag of the representation that the client has already.
    fn judge(&self, tag: &str, accept_encoding: Option<&str>) -> Result<Option<String>, ConditionError> {
        let coding = accept_encoding.and_then(accept_coding);
        if let Some(wanted) = &self.if_match
            && wanted.find(tag, coding, |tag| !tag.is_weak).is_none()
        {
            return Err(ConditionError::Failed(IF_MATCH));
        }
        Ok(self.if_none_match.as_ref().and_then(|held| held.find(tag, coding, |_| true)))
    }
}

impl Tags {
    fn states(&self, counts: impl Fn(&Tag) -> bool) -> States {
        match self {
            Self::Any => States::Any,
            Self::These(tags) => {
                let counted = tags.iter().filter(|tag| counts(tag));
                States::These(counted.filter_map(|tag| state_of(&tag.opaque)).collect())
            }
        }
    }

    /// The first tag that means the answer with the tag `own`, as it is or in the coding it would be sent in.
    fn find(&self, own: &str, coding: Option<Coding>, counts: impl Fn(&Tag) -> bool) -> Option<String> {
        let Self::These(tags) = self else { return Some(own.to_owned()) };
        let is_own = |tag: &&Tag| match tag.opaque.strip_prefix(own) {
            Some("") => true,
            Some(suffix) => coding.is_some_and(|coding| suffix.strip_prefix('-') == Some(coding.name())),
            None => false,
        };
        tags.iter().filter(|tag| counts(tag)).find(is_own).map(|tag| tag.opaque.to_string())
    }
}

/// The state that a tag of ours names.
fn state_of(opaque: &str) -> Option<u128> {
    let (state, _) = opaque.split_once('-').unwrap_or((opaque, ""));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_state = state.len() == STATE_DIGITS && state.bytes().all(is_digit);
    u128::from_str_radix(state, 16).ok().filter(|_| is_state)
}

/// The tags of a header field, over all its lines.
fn tags(
    headers: &HeaderMap,
    header: &HeaderName,
    name: &'static str,
) -> Result<Option<Tags>, ConditionError> {
    let mut lines = headers.get_all(header).iter().peekable();
    if lines.peek().is_none() {
        return Ok(None);
    }
    let (mut tags, mut is_any) = (Vec::new(), false);
    for line in lines {
        // Tags of others may hold bytes beyond ASCII; they are equal to none of ours.
        let line = String::from_utf8_lossy(line.as_bytes());
        if line.trim_matches([' ', '\t']) == "*" {
            is_any = true;
        } else if take_tags(&line, &mut tags).is_none() {
            return Err(ConditionError::Malformed(name));
        }
    }
    match (is_any, tags.is_empty()) {
        (true, true) => Ok(Some(Tags::Any)),
        (false, false) => Ok(Some(Tags::These(tags))),
        _ => Err(ConditionError::Malformed(name)),
    }
}

/// Reads `W/"a", "b"`, with elements that may be empty. `None`: it is something else, or too many.
fn take_tags(line: &str, tags: &mut Vec<Tag>) -> Option<()> {
    let mut rest = line.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let (is_weak, quoted) = rest.strip_prefix("W/").map_or((false, rest), |quoted| (true, quoted));
        let (opaque, behind) = quoted.strip_prefix('"')?.split_once('"')?;
        if opaque.contains([' ', '\t']) || tags.len() == TAGS_MAX {
            return None;
        }
        tags.push(Tag { opaque: opaque.into(), is_weak });
        let behind = behind.trim_start_matches([' ', '\t']);
        rest = behind.trim_start_matches([' ', '\t', ',']);
        if !behind.is_empty() && !behind.starts_with(',') {
            return None;
        }
    }
    Some(())
}

/// Refuses a write with `If-Match` whose operation is about nothing that has tags: no state is the one demanded.
///
/// # Errors
///
/// [`ConditionError`].
pub fn check_untagged(request: &Request) -> Result<(), ConditionError> {
    let has_tags = request.operation.tagging == Tagging::One;
    let is_write = request.method != Method::GET && request.method != Method::HEAD;
    if !is_write || has_tags || !request.headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    Conditions::of(&request.headers)?;
    Err(ConditionError::Failed(IF_MATCH))
}

/// The answer to a read of one thing whose stored state has this fingerprint: with its `ETag`, or 304 if the client has
/// it. Answers that are streamed, or no success, pass as they are.
///
/// Cost: a hash of the body, about a nanosecond for twenty bytes, and a header.
///
/// # Errors
///
/// [`ConditionError`]: the answer is not to be sent.
pub fn tagged(request: &Request, state: u128, mut response: Response) -> Result<Response, ConditionError> {
    let Body::Whole(body) = response.body() else { return Ok(response) };
    if !response.status().is_success() {
        return Ok(response);
    }
    match judge_read(request, state, xxhash_rust::xxh3::xxh3_64(body))? {
        ReadJudged::Unchanged(unchanged) => return Ok(unchanged),
        ReadJudged::Changed(tag) => response.headers_mut().insert(header::ETAG, tag),
    };
    Ok(response)
}

/// What becomes of a read, by its conditions.
#[derive(Debug)]
pub enum ReadJudged {
    /// 304, with the tag: the client has the answer.
    Unchanged(Response),
    /// The answer is to be made and sent, with this `ETag`.
    Changed(HeaderValue),
}

/// Judges a read before its answer is made, which may be a stream: by the state that is stored, and by a hash of whatever decides
/// how the answer shows it. Cost without conditions: the text of the tag.
///
/// # Errors
///
/// [`ConditionError`]: the answer is not to be sent.
pub fn judge_read(request: &Request, state: u128, form: u64) -> Result<ReadJudged, ConditionError> {
    let quoted = quoted_tag(state, form);
    let conditions = Conditions::of(&request.headers)?;
    if !conditions.is_empty() {
        let own = quoted.get(1..quoted.len() - 1).and_then(|own| std::str::from_utf8(own).ok());
        let own = own.expect("hexadecimal digits and a hyphen between quotes");
        if let Some(cached) = conditions.judge(own, request.header("accept-encoding"))? {
            let cached = HeaderValue::try_from(format!("\"{cached}\""));
            let mut unchanged = empty_response(StatusCode::NOT_MODIFIED);
            unchanged
                .headers_mut()
                .insert(header::ETAG, cached.expect("our own tag, or one of a header field"));
            return Ok(ReadJudged::Unchanged(unchanged));
        }
    }
    Ok(ReadJudged::Changed(tag_value(quoted)))
}

/// The value of `ETag` for this state in a representation with this hash: what a write made, say.
pub fn entity_tag(state: u128, form: u64) -> HeaderValue {
    tag_value(quoted_tag(state, form))
}

fn tag_value(quoted: Vec<u8>) -> HeaderValue {
    HeaderValue::from_maybe_shared(Bytes::from(quoted)).expect("ASCII between quotes")
}

/// `"STATE-FORM"`.
fn quoted_tag(state: u128, form: u64) -> Vec<u8> {
    let mut tag = Vec::with_capacity(STATE_DIGITS + FORM_DIGITS + 3);
    tag.push(b'"');
    put_hex(&mut tag, state.to_be_bytes());
    tag.push(b'-');
    put_hex(&mut tag, form.to_be_bytes());
    tag.push(b'"');
    tag
}

fn put_hex<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    // No branch and no look-up: the bytes of an array go side by side.
    let digit = |nibble: u8| nibble + b'0' + u8::from(nibble > 9) * (b'a' - b'0' - 10);
    let pairs = bytes.map(|byte| [digit(byte >> 4), digit(byte & 0xf)]);
    out.extend_from_slice(pairs.as_flattened());
}
