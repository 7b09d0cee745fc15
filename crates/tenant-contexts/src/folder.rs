//! The folder of preloaded contexts: `contexts.toml` says which file answers for which URL.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use lang_jsonld::{Documents, Edition, ParseError, Url, parse, read};
use serde_json::Value;

/// The file that maps URLs to files.
const INDEX: &str = "contexts.toml";

/// Texts of documents, by URL.
pub(crate) type Texts = HashMap<Box<str>, Arc<str>>;

/// Why the folder of contexts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file of the folder of contexts cannot be read.
    #[error("reading context file {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// A file of the folder of contexts is broken: which, and where in it.
    #[error("context file {}: {problem}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
}

/// Reads every document that the index of `folder` names, and checks each: it must be a context,
/// and (unless others may be fetched) refer to nothing that is missing.
///
/// # Errors
///
/// The first broken or missing file.
pub(crate) fn load(folder: &Path, may_fetch: bool) -> Result<Texts, FolderError> {
    let index = folder.join(INDEX);
    let broken = |problem: String| FolderError::Broken { file: index.clone(), problem };
    let entries: BTreeMap<String, String> =
        toml::from_str(&read_file(&index)?).map_err(|error| broken(error.to_string()))?;
    let mut texts = Texts::new();
    let mut files = Vec::new();
    for (url, name) in &entries {
        let url = Url::parse(url).map_err(|problem| broken(format!("{url:?} is no URL: {problem}")))?;
        if Edition::of_url(url.as_str()).is_some() {
            return Err(broken(format!(
                "{url} is the core context, which is built in and cannot be replaced"
            )));
        }
        if !is_inside(name) {
            return Err(broken(format!("{name:?}, the file of {url}, is no name inside the folder")));
        }
        let file = folder.join(name);
        texts.insert(url.as_str().into(), Arc::from(read_file(&file)?));
        files.push((url, file));
    }
    let urls: HashSet<&Url> = files.iter().map(|(url, _)| url).collect();
    if urls.len() < files.len() {
        return Err(broken("two entries are the same URL, spelled differently".into()));
    }
    let mut trees = Documents::new();
    for (url, file) in &files {
        let text = texts.get(url.as_str()).expect("each file was read above");
        let broken = |problem| FolderError::Broken { file: file.clone(), problem };
        let tree = read(text).map_err(|problem| broken(format!("@context {url} {problem}")))?;
        trees.insert(url.as_str().into(), tree.into());
    }
    for (url, file) in files {
        let broken = |problem: String| FolderError::Broken { file, problem };
        match parse(&Value::String(url.into()), &trees) {
            Err(ParseError::Missing(_)) if may_fetch => {}
            Err(ParseError::Missing(missing)) => {
                return Err(broken(format!(
                    "refers to {missing}, which is not in {INDEX} and may not be fetched"
                )));
            }
            Err(ParseError::Invalid(problem)) => return Err(broken(problem)),
            Ok(_) => {}
        }
    }
    Ok(texts)
}

fn read_file(file: &Path) -> Result<String, FolderError> {
    fs::read_to_string(file).map_err(|source| FolderError::Read { file: file.into(), source })
}

/// Whether a file name stays inside the folder.
fn is_inside(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn check_broken(files: &[(&str, &str)], file: &str, said: &str) {
        let folder = folder(files);
        let error = load(folder.path(), false).map(drop).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&format!("{file}: {said}")) || message.ends_with(file), "{message}");
        assert!(message.contains(said), "{message:?} lacks {said:?}");
    }

    #[test]
    fn files_stand_for_urls() {
        let index = "\"https://example.org\" = \"a.jsonld\"\n\"http://example.org/b\" = \"b.jsonld\"\n";
        let folder = folder(&[
            ("contexts.toml", index),
            ("a.jsonld", r#"{"@context": ["http://example.org/b", {"a": "b:a"}]}"#),
            ("b.jsonld", r#"{"@context": {"b": "https://example.org/#"}}"#),
        ]);
        let texts = load(folder.path(), false).unwrap();
        assert_eq!(texts.len(), 2);
        assert!(texts.contains_key("https://example.org/"));
    }

    #[test]
    fn the_example_folder_loads() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/contexts");
        let texts = load(&folder, false).unwrap();
        let trees = texts.iter().map(|(url, text)| (url.clone(), Arc::new(read(text).unwrap()))).collect();
        let context = parse(&"https://example.org/city/context.jsonld".into(), &trees).unwrap();
        assert_eq!(context.expand("TramStop"), "https://example.org/city/TramStop");
        assert_eq!(context.expand("platformLength"), "https://example.org/units#platformLength");
    }

    #[test]
    fn broken_files_are_named_with_the_position() {
        let index = "contexts.toml";
        check_broken(&[], index, "reading");
        check_broken(&[(index, "\n\n\"a\" =")], index, "TOML parse error at line 3");
        check_broken(&[(index, "a = 7")], index, "TOML parse error at line 1");
        check_broken(&[(index, "x = \"a\"")], index, "\"x\" is no URL");
        check_broken(
            &[(index, "\"http://x/\" = \"../a\"")],
            index,
            "\"../a\", the file of http://x/, is no name",
        );
        check_broken(
            &[(index, "\"http://x\" = \"a\"\n\"http://x/\" = \"a\""), ("a", "{}")],
            index,
            "two entries",
        );

        let core = "\"http://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld\" = \"a\"";
        check_broken(
            &[(index, core), ("a", "{}")],
            index,
            "http://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld is the core context",
        );

        let one = (index, "\"https://example.org/a\" = \"a.jsonld\"");
        check_broken(&[one], "a.jsonld", "reading");
        let broken = [one, ("a.jsonld", "{\"@context\":\n{\"a\":}}")];
        check_broken(
            &broken,
            "a.jsonld",
            "@context https://example.org/a is no JSON: expected value at line 2 column 6",
        );
        let cyclic = [one, ("a.jsonld", r#"{"@context": "a"}"#)];
        check_broken(
            &cyclic,
            "a.jsonld",
            "@context https://example.org/a: https://example.org/a refers to itself",
        );
        let missing = [one, ("a.jsonld", r#"{"@context": "b"}"#)];
        check_broken(&missing, "a.jsonld", "refers to https://example.org/b, which is not in contexts.toml");
        let folder = folder(&missing);
        assert_eq!(load(folder.path(), true).unwrap().len(), 1);
    }
}
