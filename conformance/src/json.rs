//! JSON text: files whose names say whether it is to be taken (`y_`), refused (`n_`), or answered somehow (`i_`).

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use anyhow::Context;

use crate::Case;

/// Containers inside each other: more than a front end lets in.
const DEPTH_MAX: usize = 1_000;

/// Runs every file of a folder, in order of names.
pub(crate) fn run(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().context("an entry without a name")?.to_string_lossy().into_owned();
        if !name.ends_with(".json") {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        cases.push(Case { failure: check(&name, &bytes), name });
    }
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

fn check(name: &str, bytes: &[u8]) -> Option<String> {
    let taken = catch_unwind(|| {
        // Bodies that are no text are refused before they come to the parser.
        std::str::from_utf8(bytes).is_ok_and(|text| lang_json::canonical(text, DEPTH_MAX).is_ok())
    });
    let Ok(taken) = taken else { return Some("the parser panics".to_owned()) };
    match (name.get(..2), taken) {
        (Some("y_"), false) => Some("is refused".to_owned()),
        (Some("n_"), true) => Some("is taken".to_owned()),
        (Some("y_" | "n_" | "i_"), _) => None,
        _ => Some("does not say whether it is to be taken".to_owned()),
    }
}
