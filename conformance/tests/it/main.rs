//! The small suites of ours, and what becomes of failures.

use std::fs;
use std::path::PathBuf;

use conformance::{Case, Expected, Judgement, SUITES, judge};

#[test]
fn small_suites_pass() {
    let small = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("small");
    for suite in SUITES.iter().filter(|suite| suite.name != "transcripts") {
        let cases = suite.run(&small, None).expect("a suite").expect("cases");
        let judgement = judge(&cases, &Expected::default());
        assert!(judgement.is_good() && judgement.passed >= 4, "{}: {judgement:?}", suite.name);
    }
}

#[test]
fn a_suite_that_is_not_there_is_left_out() {
    let nowhere = tempfile::tempdir().expect("a folder");
    assert!(
        SUITES
            .iter()
            .all(|suite| suite.run(nowhere.path(), Some("http://127.0.0.1:1")).expect("nothing").is_none())
    );
}

#[test]
fn failures_are_found() {
    let suites = tempfile::tempdir().expect("a folder");
    let folder = suites.path().join("json-parsing/test_parsing");
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in
        [("y_a.json", "[1"), ("n_b.json", "[1]"), ("i_c.json", "[\"\\ud800\"]"), ("y_d.json", "[]")]
    {
        fs::write(folder.join(name), text).expect("a file");
    }
    let cases = SUITES[0].run(suites.path(), None).expect("a suite").expect("cases");
    let expected = Expected::parse("# Ours.\ny_a.json broken off on purpose\n").expect("a list");
    let judgement = judge(&cases, &expected);
    assert_eq!(
        judgement,
        Judgement {
            passed: 2,
            listed: 1,
            failed: vec!["n_b.json: is taken".to_owned()],
            outdated: Vec::new()
        }
    );
}

#[test]
fn a_list_only_shrinks() {
    let case = |name: &str, failure: Option<&str>| Case {
        name: name.to_owned(),
        failure: failure.map(str::to_owned),
    };
    let cases = [case("a", None), case("b", Some("wrong"))];
    let judgement = judge(&cases, &Expected::parse("a once\nb so\nc gone\n").expect("a list"));
    assert!(!judgement.is_good());
    assert_eq!((judgement.passed, judgement.listed, judgement.failed.len()), (0, 1, 0));
    assert_eq!(judgement.outdated.len(), 2, "{judgement:?}");
}

#[test]
fn a_test_is_listed_once_and_with_a_reason() {
    assert!(Expected::parse("a\n").is_err());
    assert!(Expected::parse("a x\na y\n").is_err());
}
