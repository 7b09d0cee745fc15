//! What families ask outside of any load: where the graph is, its schema, and elements read back.

use std::borrow::Cow;
use std::io::Read as _;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value as Json;

use campaign::probe::Probe;
use campaign::target::Target;

/// The header lines of every request.
pub const HEADERS: &str = "Content-Type: application/json\r\nAccept: application/json\r\n";
/// Where the graph is, on servers with graph spaces and on older ones.
const GRAPHS: [&str; 2] = ["/graphspaces/DEFAULT/graphs/hugegraph", "/graphs/hugegraph"];
/// How the bytes of a gzip stream begin: HugeGraph compresses lists whether or not it was asked to.
const GZIP: [u8; 2] = [0x1F, 0x8B];
/// The most bytes that one answer may have once it is inflated.
const INFLATED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// One graph of a server, asked one thing after the other.
#[derive(Debug)]
pub struct Rest {
    probe: Probe,
    /// The path of the graph.
    pub graph: &'static str,
}

impl Rest {
    /// The graph `hugegraph` of `target`, by the paths that it knows.
    ///
    /// # Errors
    ///
    /// If no answer comes.
    pub fn new(target: &Target) -> Result<Self> {
        let mut probe = Probe::new(target.address, &target.host, HEADERS)?;
        let [new, old] = GRAPHS;
        let (status, _) = probe.get(new)?;
        Ok(Self { probe, graph: if status == 404 { old } else { new } })
    }

    /// The same graph, whose path is known.
    ///
    /// # Errors
    ///
    /// If no runtime can be had.
    pub fn at(target: &Target, graph: &'static str) -> Result<Self> {
        Ok(Self { probe: Probe::new(target.address, &target.host, HEADERS)?, graph })
    }

    /// GETs what is at `path` below the graph.
    ///
    /// # Errors
    ///
    /// If the status is not 200 or the answer is no JSON.
    pub fn get(&mut self, path: &str) -> Result<Json> {
        let body = self.bytes(path)?;
        parsed(&body).with_context(|| format!("GET {path}"))
    }

    /// GETs what is at `path` below the graph, as it came.
    ///
    /// # Errors
    ///
    /// If the status is not 200.
    pub fn bytes(&mut self, path: &str) -> Result<Vec<u8>> {
        let (status, body) = self.probe.get(&format!("{}{path}", self.graph))?;
        ensure!(status == 200, "GET {path}: {status} {}", shortened(&body));
        Ok(body)
    }

    /// Removes everything, the schema too.
    ///
    /// # Errors
    ///
    /// If it is not accepted.
    pub fn clear(&mut self) -> Result<()> {
        let message = encoded("I'm sure to delete all data");
        let path = format!("{}/clear?confirm_message={message}", self.graph);
        let (status, body) = self.probe.send("DELETE", &path, b"")?;
        ensure!((200..300).contains(&status), "DELETE {path}: {status} {}", shortened(&body));
        Ok(())
    }

    /// POSTs `body` to `path` below the graph.
    ///
    /// # Errors
    ///
    /// If it is not accepted or the answer is no JSON.
    pub fn post(&mut self, path: &str, body: &Json) -> Result<Json> {
        let body = body.to_string();
        let (status, answer) = self.probe.send("POST", &format!("{}{path}", self.graph), body.as_bytes())?;
        ensure!((200..300).contains(&status), "POST {path}: {status} {}", shortened(&answer));
        parsed(&answer).with_context(|| format!("POST {path}"))
    }

    /// Creates an element of the schema unless there is one of its name.
    ///
    /// # Errors
    ///
    /// If it is not accepted.
    pub fn create(&mut self, kind: &str, draft: &Json) -> Result<()> {
        let mut draft = draft.clone();
        if let Some(members) = draft.as_object_mut() {
            members.insert("check_exist".to_owned(), Json::Bool(false));
        }
        self.post(&format!("/schema/{kind}"), &draft).map(drop)
    }

    /// The number of elements of `label` among `kind` ("vertices" or "edges"), page by page.
    ///
    /// # Errors
    ///
    /// If a page is not answered, or there is no end of them.
    pub fn count(&mut self, kind: &str, label: &str, pages_max: usize) -> Result<u64> {
        const PAGE: usize = 1_000;
        let (mut page, mut count) = (String::new(), 0);
        for _ in 0..pages_max {
            let page_text = encoded(&page);
            let answer = self.get(&format!("/graph/{kind}?label={label}&limit={PAGE}&page={page_text}"))?;
            let found = answer.get(kind).and_then(Json::as_array).context("no list in the answer")?;
            count += found.len() as u64;
            match answer.get("page") {
                Some(Json::String(next)) => next.clone_into(&mut page),
                _ => return Ok(count),
            }
        }
        bail!("more than {pages_max} pages of {kind}")
    }
}

/// The JSON of an answer, compressed or not.
///
/// # Errors
///
/// If it is none.
pub fn parsed(body: &[u8]) -> Result<Json> {
    let body = plain(body);
    serde_json::from_slice(&body).with_context(|| format!("no JSON: {}", shortened(&body)))
}

/// The bytes of an answer, inflated if they were compressed; what cannot be inflated comes as it is.
pub fn plain(body: &[u8]) -> Cow<'_, [u8]> {
    if !body.starts_with(&GZIP) {
        return Cow::Borrowed(body);
    }
    let mut plain = Vec::new();
    let mut inflated = flate2::read::GzDecoder::new(body).take(INFLATED_BYTES_MAX);
    match inflated.read_to_end(&mut plain) {
        Ok(_) => Cow::Owned(plain),
        Err(_) => Cow::Borrowed(body),
    }
}

/// Percent-encodes all but letters, digits and what never needs it.
pub fn encoded(text: &str) -> String {
    let mut out = Vec::new();
    encode(text.as_bytes(), &mut out);
    String::from_utf8(out).expect("what is encoded is ASCII")
}

/// Appends `text`, percent-encoded.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let hex = |nibble: u8| *HEX.get(usize::from(nibble)).expect("four bits");
    for byte in text {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(*byte);
        } else {
            out.extend_from_slice(&[b'%', hex(byte >> 4), hex(byte & 0xF)]);
        }
    }
}

fn shortened(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_read_compressed_or_not() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(br#"{"a":1}"#).unwrap();
        assert_eq!(parsed(&gzip.finish().unwrap()).unwrap(), json!({"a": 1}));
        assert_eq!(parsed(br#"{"a":1}"#).unwrap(), json!({"a": 1}));
        assert!(parsed(b"no").unwrap_err().to_string().contains("no JSON"));
    }

    #[test]
    fn ids_are_percent_encoded_in_paths() {
        assert_eq!(encoded("\"1:amara.ito\""), "%221%3Aamara.ito%22");
        assert_eq!(encoded("S1:a>1>>S1:b"), "S1%3Aa%3E1%3E%3ES1%3Ab");
    }
}
