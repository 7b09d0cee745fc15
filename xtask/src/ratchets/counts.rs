//! What is counted in the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::process::{crates, root};

/// Lines of a crate without its tests at most.
const CRATE_LINES_MAX: u64 = 10_000;
/// Lines of a file without its tests at most.
const FILE_LINES_MAX: u64 = 600;
/// What each count means, for who reads the file.
const MEANINGS: [(&str, &str); 11] = [
    ("async_locks", "Mutexes that may be held across an await, beside those that ARCHITECTURE lists."),
    ("crate_lines", "Crates over 10,000 lines without tests, in thousands."),
    ("file_lines", "Files over 600 lines without tests, in hundreds."),
    ("mod_rs", "Folders whose module is written in mod.rs; the others are x.rs beside x/."),
    ("own_attempts", "Limits of attempts outside store::retry."),
    ("own_commas", "Commas between members or elements of JSON that are set by hand, outside lang-json."),
    ("own_dates", "Civil dates or times that are read or written by hand, outside lang-time."),
    ("own_guards", "Kinds of addresses that are distinguished, outside egress."),
    ("own_pages", "Scans that go on by hand from where the page before ended, outside store::rows."),
    ("own_varints", "Functions of varints outside store::wire."),
    ("unwrap_or_default", "Calls of unwrap_or_default() outside tests; 90 in all is the aim."),
];

/// What the tree has once, and how a second copy of it would show.
struct Kit {
    name: &'static str,
    /// Where it may be: beginnings of paths.
    homes: &'static [&'static str],
    /// Text that only such code has.
    signs: &'static [&'static str],
    /// Whether it is counted for each crate, and not for each file.
    by_crate: bool,
}

const KITS: [Kit; 7] = [
    Kit {
        name: "async_locks",
        // The list of the invariant in ARCHITECTURE.md.
        homes: &[
            "crates/store/src/retry",
            "crates/store-contract/src/slots",
            "crates/store-contract/src/lives",
            "crates/model-entities/src/history/fold",
            "crates/model-entities/src/layout",
            "crates/api-http/src/multipart",
            "crates/model-series/src/catalogue/intents",
            "crates/api-http/src/budget",
        ],
        signs: &["tokio::sync::Mutex", "tokio::sync::{Mutex", "tokio::sync::RwLock", "tokio::sync::{RwLock"],
        by_crate: false,
    },
    Kit {
        name: "own_attempts",
        homes: &["crates/store/src/retry"],
        signs: &["const ATTEMPTS_MAX", "_ATTEMPTS_MAX:"],
        by_crate: false,
    },
    Kit {
        name: "own_commas",
        // CSV has commas, too; what campaign sends is made byte for byte as others published it.
        homes: &["crates/lang-json/", "crates/api-tsm/src/wire/csv", "crates/campaign"],
        signs: &["push(',')", "push(b',')", "push_str(\",\")"],
        by_crate: true,
    },
    Kit {
        name: "own_dates",
        homes: &["crates/lang-time/"],
        signs: &["146_097", "719_468", "719_162", "[b'T']", "b'T',"],
        by_crate: false,
    },
    Kit {
        name: "own_guards",
        homes: &["crates/egress/"],
        signs: &[
            ".is_private()",
            ".is_link_local()",
            ".is_unique_local()",
            ".is_unicast_link_local()",
            ".is_multicast()",
        ],
        by_crate: false,
    },
    Kit {
        name: "own_pages",
        homes: &["crates/store"],
        signs: &["&rest, Direction::", "scan(&rest,"],
        by_crate: true,
    },
    Kit {
        name: "own_varints",
        homes: &["crates/store/src/wire"],
        signs: &["fn varint(", "fn put_varint(", "fn read_varint(", "fn write_varint("],
        by_crate: false,
    },
];

/// What a count means.
pub(crate) fn meaning(name: &str) -> &'static str {
    MEANINGS.iter().find(|(known, _)| *known == name).map_or("", |(_, meaning)| meaning)
}

/// A file of a crate, read.
struct Source {
    of: String,
    /// In the workspace.
    path: String,
    /// Without its tests.
    text: String,
}

/// Everything that is counted, in all crates; what is none is left out.
///
/// # Errors
///
/// Source that cannot be read.
pub(crate) fn all() -> anyhow::Result<BTreeMap<String, BTreeMap<String, u64>>> {
    let sources = sources()?;
    let mut all: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (name, _) in MEANINGS {
        all.insert(name.to_owned(), BTreeMap::new());
    }
    let mut add = |name: &str, place: &str, count: u64| {
        if count > 0 {
            *all.entry(name.to_owned()).or_default().entry(place.to_owned()).or_default() += count;
        }
    };
    let mut lines_of_crates: BTreeMap<&str, u64> = BTreeMap::new();
    for source in &sources {
        let lines = source.text.lines().count() as u64;
        *lines_of_crates.entry(&source.of).or_default() += lines;
        add("file_lines", &source.path, if lines > FILE_LINES_MAX { lines.div_ceil(100) } else { 0 });
        add("mod_rs", &source.path, u64::from(source.path.ends_with("/mod.rs")));
        add("unwrap_or_default", &source.of, occurrences(&source.text, &["unwrap_or_default()"]));
        for kit in &KITS {
            if !kit.homes.iter().any(|home| source.path.starts_with(home)) {
                let place = if kit.by_crate { &source.of } else { &source.path };
                add(kit.name, place, occurrences(&source.text, kit.signs));
            }
        }
    }
    for (name, lines) in lines_of_crates {
        add("crate_lines", name, if lines > CRATE_LINES_MAX { lines.div_ceil(1000) } else { 0 });
    }
    Ok(all)
}

fn occurrences(text: &str, wanted: &[&str]) -> u64 {
    wanted.iter().map(|wanted| text.matches(wanted).count() as u64).sum()
}

fn sources() -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for of in crates()? {
        let mut files = Vec::new();
        let folder = root().join("crates").join(&of).join("src");
        walk(&folder, &mut files).with_context(|| format!("reading the source of {of}"))?;
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            let path = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
            sources.push(Source { of: of.clone(), path, text: without_tests(&text).to_owned() });
        }
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(sources)
}

/// All Rust files of a folder but those of tests.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_test =
            matches!(name.as_str(), "tests" | "testing" | "model" | "toy") || name.ends_with("_tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The text before the tests at its end: `#[cfg(test)]` and a module with a body at the margin.
pub(crate) fn without_tests(text: &str) -> &str {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find("\n#[cfg(test)]\n")) {
        let at = from + found + 1;
        let after = text.get(at..).unwrap_or_default();
        let is_module = after
            .lines()
            .skip(1)
            .find(|line| !line.starts_with("#["))
            .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
        if is_module {
            return text.get(..at).unwrap_or(text);
        }
        from = at;
    }
    text
}
