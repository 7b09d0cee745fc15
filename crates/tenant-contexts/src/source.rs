//! What a context was made from, how answers name it, and the ids of contexts that this server serves.

use lang_jsonld::{CORE_URL, Url, text_bytes};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What a context was made from, for answers to name it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ContextSource {
    /// The URL of one document.
    Url(Box<str>),
    /// An `@context` member that is more than one URL.
    Inline {
        /// What the server calls it (see [`identify`]).
        id: Box<str>,
        /// Its canonical JSON text.
        text: Box<str>,
    },
}

impl ContextSource {
    /// A URL as it was given.
    pub(crate) fn url(url: &str) -> Self {
        Self::Url(url.into())
    }

    /// The canonical text of an `@context` member.
    pub(crate) fn inline(text: &str) -> Self {
        Self::Inline { id: identify(text), text: text.into() }
    }

    /// How much memory the source takes on the heap, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Url(url) => text_bytes(url.len()),
            Self::Inline { id, text } => text_bytes(id.len()) + text_bytes(text.len()),
        }
    }

    /// The URL of the context, or its path on this server; visible ASCII characters only.
    pub(crate) fn link(&self) -> Box<str> {
        match self {
            Self::Url(url) if url.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '<' | '>')) => {
                // A path of this server is no URL.
                let encode = || utf8_percent_encode(url, NOT_IN_LINKS).to_string();
                Url::parse(url).map_or_else(|_| encode(), String::from).into()
            }
            Self::Url(url) => url.clone(),
            Self::Inline { id, .. } => [LOCAL_PATH, id].concat().into(),
        }
    }

    /// The JSON text of the `@context` member. The core context comes last (4.4), unless the user's contexts refer to it
    /// anyway: its terms are protected, wherever it is named.
    pub(crate) fn member(&self, reaches_core: bool) -> Box<str> {
        match self {
            Self::Url(url) if reaches_core => lang_json::string_to(url).into(),
            Self::Url(url) => format!("[{},\"{CORE_URL}\"]", lang_json::string_to(url)).into(),
            Self::Inline { text, .. } if reaches_core => text.clone(),
            Self::Inline { text, .. } => with_core(text),
        }
    }
}

/// The canonical text of an `@context` member, with the core context last.
fn with_core(text: &str) -> Box<str> {
    match text.strip_suffix(']').filter(|_| text.starts_with('[')) {
        Some("[") => format!("\"{CORE_URL}\"").into(),
        Some(open) => format!("{open},\"{CORE_URL}\"]").into(),
        None => format!("[{text},\"{CORE_URL}\"]").into(),
    }
}

/// What cannot be part of a reference in a `Link` header.
const NOT_IN_LINKS: &AsciiSet = &CONTROLS.add(b' ').add(b'<').add(b'>');

/// Where the server serves contexts by their ids.
pub const LOCAL_PATH: &str = "/ngsi-ld/v1/jsonldContexts/";

/// What ids of contexts start with.
const ID_PREFIX: &str = "urn:ngsi-ld:jsonldContext:";

/// The id of a context that is known by a text: its URL, or its own.
pub(crate) fn identify(text: &str) -> Box<str> {
    id_of(xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// The id of this number.
pub(crate) fn id_of(number: u128) -> Box<str> {
    format!("{ID_PREFIX}{number:032x}").into()
}

/// The id in a URL that is, by its path, one of a context on this server.
pub(crate) fn local_id(url: &str) -> Option<&str> {
    let (_, id) = url.split_once(LOCAL_PATH)?;
    id.starts_with(ID_PREFIX).then_some(id)
}
