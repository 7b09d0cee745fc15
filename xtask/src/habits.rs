//! Habits of tests, checked over all crates: property tests scale with `PROPTEST_CASES` and keep what failed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::root;

pub(crate) fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Every line of all crates that `is_wrong`, with its place.
fn lines(is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file");
        let wrong = text.lines().enumerate().filter(|(_, line)| is_wrong(line));
        let name = file.strip_prefix(root()).expect("a file of the workspace").display();
        found.extend(wrong.map(|(index, line)| format!("{name}:{}: {}", index + 1, line.trim())));
    }
    found
}

fn number_after(line: &str, before: &str) -> bool {
    line.split(before).skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[test]
fn property_tests_scale() {
    let pinned = lines(|line| {
        number_after(line, "with_cases(") || (line.contains("Config {") && number_after(line, "cases: "))
    });
    assert!(
        pinned.is_empty(),
        "cases that PROPTEST_CASES does not multiply; write \
         ProptestConfig::with_cases((N * ProptestConfig::default().cases).div_ceil(256)):\n{}",
        pinned.join("\n")
    );
}

#[test]
fn failures_of_property_tests_are_kept() {
    let lost = lines(|line| line.contains("failure_persistence: None"));
    assert!(lost.is_empty(), "a failure is forgotten:\n{}", lost.join("\n"));
    let ignored = fs::read_to_string(root().join(".gitignore")).expect("the list of what git ignores");
    assert!(!ignored.contains("regressions"), "git forgets what failed");
}

#[test]
fn seeds_are_named_and_can_be_given() {
    let loops = lines(|line| {
        line.contains("for seed in ") && number_after(line, "for seed in ") && !line.contains("_u32")
    });
    assert!(
        loops.is_empty(),
        "seeds that nobody can give; loop over store::testing::seeds:\n{}",
        loops.join("\n")
    );
}

#[test]
fn no_test_is_switched_off() {
    // What makes a fixture is no test.
    let ignored =
        lines(|line| line.trim_start().starts_with("#[ignore") && !line.contains("writes a fixture"));
    assert!(ignored.is_empty(), "tests that nobody runs:\n{}", ignored.join("\n"));
}

/// A test that passes because the machine lacks something has shown nothing; in CI that is a failure.
#[test]
fn what_skips_is_strict_in_ci() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).expect("a file");
        let skips = text.contains("\"SKIPPED") && !text.contains("TWINFOLD_TEST_STRICT");
        assert!(!skips, "{} skips, whatever TWINFOLD_TEST_STRICT says", file.display());
    }
    let ci = fs::read_to_string(root().join(".ci/run")).expect("what CI runs");
    assert!(ci.contains("export TWINFOLD_TEST_STRICT=1"), "CI skips what the machine lacks");
}

/// Whoever looks for a decision finds all of them, by their titles, on one page.
#[test]
fn decisions_are_listed() {
    let folder = root().join("docs/decisions");
    let list = fs::read_to_string(folder.join("README.md")).expect("the list of decisions");
    let mut listed = 0;
    for entry in fs::read_dir(&folder).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name in UTF-8");
        if name == "README.md" {
            continue;
        }
        let text = fs::read_to_string(folder.join(&name)).expect("a decision");
        let heading = text.lines().next().unwrap_or("");
        let (number, title) =
            heading.strip_prefix("# ").and_then(|rest| rest.split_once(": ")).unwrap_or(("", ""));
        assert!(name.starts_with(number) && number.len() == 4, "{name} begins with {heading:?}");
        assert!(list.contains(&format!("- [{number}]({name}): {title}\n")), "{name} is not in the list");
        listed += 1;
    }
    assert_eq!(list.matches("\n- [").count(), listed, "the list names what is not there");
}
