//! The CPS API as families ask it outside of any load: dataspaces, schema sets, anchors, trees read back.

use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use campaign::probe::Probe;
use campaign::target::Target;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;
use yang_samples::Module;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The header lines of requests whose body is JSON.
pub const HEADERS: &str = "Content-Type: application/json\r\nAccept: application/json\r\n";
/// Between the parts of an upload.
const BOUNDARY: &str = "----twinfold-campaign-7b1f0c2d";
/// What needs no encoding in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// The path of version 2 of the API.
const BASE: &str = "/cps/api/v2";

/// A path or a name as a query has it.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// A dataspace of a server: the paths below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataspace {
    /// Its name.
    pub name: String,
}

impl Dataspace {
    /// The path of the dataspace.
    pub fn path(&self) -> String {
        format!("{BASE}/dataspaces/{}", self.name)
    }

    /// The path of a schema set.
    pub fn schema_set(&self, name: &str) -> String {
        format!("{}/schema-sets/{name}", self.path())
    }

    /// The path that creates an anchor.
    pub fn new_anchor(&self, schema_set: &str, anchor: &str) -> String {
        format!("{}/anchors?schema-set-name={schema_set}&anchor-name={anchor}", self.path())
    }

    /// The path of an anchor.
    pub fn anchor(&self, anchor: &str) -> String {
        format!("{}/anchors/{anchor}", self.path())
    }

    /// The path of nodes to write: `what` is `nodes` or `list-nodes`.
    pub fn write(&self, anchor: &str, what: &str, xpath: &str) -> String {
        format!("{}/{what}?xpath={}", self.anchor(anchor), encoded(xpath))
    }

    /// The path that reads a node; `descendants` is `none`, `direct` or `all`.
    pub fn read(&self, anchor: &str, xpath: &str, descendants: &str) -> String {
        format!("{}/node?xpath={}&descendants={descendants}", self.anchor(anchor), encoded(xpath))
    }

    /// The path that queries an anchor.
    pub fn query(&self, anchor: &str, cps_path: &str, descendants: &str) -> String {
        format!(
            "{}/nodes/query?cps-path={}&descendants={descendants}",
            self.anchor(anchor),
            encoded(cps_path)
        )
    }

    /// The path that queries all anchors of the dataspace.
    pub fn query_all(&self, cps_path: &str, descendants: &str) -> String {
        format!("{}/nodes/query?cps-path={}&descendants={descendants}", self.path(), encoded(cps_path))
    }
}

/// A server, asked one thing after the other.
#[derive(Debug)]
pub struct Cps {
    probe: Probe,
    uploads: Probe,
}

impl Cps {
    /// The server at `target`.
    ///
    /// # Errors
    ///
    /// If no runtime can be had.
    pub fn new(target: &Target) -> Result<Self> {
        Ok(Self {
            probe: Probe::new(target.address, &target.host, HEADERS)?,
            uploads: Probe::new(target.address, &target.host, &upload_headers())?,
        })
    }

    /// Creates a dataspace unless there is one of the name.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn create_dataspace(&mut self, dataspace: &Dataspace) -> Result<()> {
        let path = format!("{BASE}/dataspaces?dataspace-name={}", dataspace.name);
        let (status, body) = self.probe.send("POST", &path, b"")?;
        ensure!(matches!(status, 201 | 409), "POST {path}: {status} {}", shortened(&body));
        Ok(())
    }

    /// Uploads `modules` as a schema set; how long the server took, or nothing if it had it already.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn create_schema_set(
        &mut self,
        dataspace: &Dataspace,
        name: &str,
        modules: &[Module],
    ) -> Result<Option<Duration>> {
        let path = schema_set_path(dataspace, name);
        let body = upload(modules)?;
        let begun = Instant::now();
        let (status, answer) = self.uploads.send("POST", &path, &body)?;
        let took = begun.elapsed();
        ensure!(matches!(status, 201 | 409), "POST {path}: {status} {}", shortened(&answer));
        Ok((status == 201).then_some(took))
    }

    /// Sends `body`; what came must be `expected`.
    ///
    /// # Errors
    ///
    /// If it was not.
    pub fn send(&mut self, method: &'static str, path: &str, body: &[u8], expected: u16) -> Result<Vec<u8>> {
        let (status, answer) = self.probe.send(method, path, body)?;
        ensure!(status == expected, "{method} {path}: {status}, not {expected}: {}", shortened(&answer));
        Ok(answer)
    }

    /// The JSON at `path`.
    ///
    /// # Errors
    ///
    /// If the status is not 200, or the answer no JSON.
    pub fn get(&mut self, path: &str) -> Result<Json> {
        let answer = self.send("GET", path, b"", 200)?;
        parsed(&answer).with_context(|| format!("GET {path}"))
    }

    /// Like [`Cps::get`]; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// If the status is neither 200 nor 404, or the answer no JSON.
    pub fn get_if_there(&mut self, path: &str) -> Result<Option<Json>> {
        let (status, answer) = self.probe.send("GET", path, b"")?;
        match status {
            200 => parsed(&answer).with_context(|| format!("GET {path}")).map(Some),
            404 => Ok(None),
            other => bail!("GET {path}: {other} {}", shortened(&answer)),
        }
    }

    /// The names of the anchors of a dataspace.
    ///
    /// # Errors
    ///
    /// If they are not answered.
    pub fn anchors(&mut self, dataspace: &Dataspace) -> Result<Vec<String>> {
        let answer = self.get(&format!("{}/anchors", dataspace.path()))?;
        let list = answer.as_array().context("the anchors are no list")?;
        let name = |anchor: &Json| anchor.get("name").and_then(Json::as_str).map(str::to_owned);
        list.iter().map(|anchor| name(anchor).with_context(|| format!("{anchor} has no name"))).collect()
    }
}

/// The path that creates a schema set.
pub fn schema_set_path(dataspace: &Dataspace, name: &str) -> String {
    format!("{}/schema-sets?schema-set-name={name}", dataspace.path())
}

/// The header lines of uploads.
pub fn upload_headers() -> String {
    format!("Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nAccept: application/json\r\n")
}

/// `modules` as the body of an upload: one as it is, more in an archive.
///
/// # Errors
///
/// If they make no archive.
pub fn upload(modules: &[Module]) -> Result<Vec<u8>> {
    match modules {
        [module] => Ok(part("file", &module.file, module.text.as_bytes())),
        modules => Ok(part("file", "modules.zip", &archive(modules)?)),
    }
}

/// `bytes` as the only part of the body of an upload.
pub fn part(name: &str, file: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let tail = format!("\r\n--{BOUNDARY}--\r\n");
    [head.as_bytes(), bytes, tail.as_bytes()].concat()
}

fn archive(modules: &[Module]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for module in modules {
        zip.start_file(module.file.as_str(), SimpleFileOptions::default()).context("packing modules")?;
        zip.write_all(module.text.as_bytes()).context("packing modules")?;
    }
    Ok(zip.finish().context("packing modules")?.into_inner())
}

/// The JSON of an answer.
///
/// # Errors
///
/// If it is none.
pub fn parsed(body: &[u8]) -> Result<Json> {
    serde_json::from_slice(body).with_context(|| format!("no JSON: {}", shortened(body)))
}

/// The beginning of an answer, for messages.
pub fn shortened(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded_for_queries() {
        let dataspace = Dataspace { name: "d".to_owned() };
        assert_eq!(
            dataspace.read("a", "/n[@id='x y/1']", "all"),
            "/cps/api/v2/dataspaces/d/anchors/a/node?xpath=/n%5B%40id%3D%27x%20y/1%27%5D&descendants=all"
        );
    }

    #[test]
    fn modules_are_uploaded_as_they_are_or_in_an_archive() {
        let one = Module::named("a", "module a {}");
        let body = String::from_utf8(upload(std::slice::from_ref(&one)).unwrap()).unwrap();
        assert!(body.contains("filename=\"a.yang\"\r\n") && body.contains("\r\n\r\nmodule a {}\r\n--"));
        let two = [one, Module::named("b", "module b {}")];
        let mut archive = zip::ZipArchive::new(Cursor::new(archive(&two).unwrap())).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut archive.by_name("b.yang").unwrap(), &mut text).unwrap();
        assert_eq!((archive.len(), text.as_str()), (2, "module b {}"));
    }
}
