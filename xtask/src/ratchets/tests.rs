use super::*;

/// Says what to do, where it does not hold.
#[test]
fn what_shall_end_only_shrinks() {
    let allowed = Ratchets::read().expect("the file of what is left");
    let tree = Ratchets::of_the_tree().expect("the source of all crates");
    let (more, less) = allowed.differences(&tree);
    assert!(
        more.is_empty(),
        "{} more than {FILE} allows; `cargo xtask layers CRATE` shows where:\n  {}",
        more.len(),
        more.join("\n  ")
    );
    assert!(
        less.is_empty(),
        "{} no longer needed in {FILE}: run `cargo xtask shrink` and commit it:\n  {}",
        less.len(),
        less.join("\n  ")
    );
}

#[test]
fn the_file_is_as_it_is_printed() {
    let allowed = Ratchets::read().expect("the file of what is left");
    let text = fs::read_to_string(root().join(FILE)).expect(FILE);
    assert_eq!(allowed.print().expect("text"), text);
}

#[test]
fn tests_are_not_counted() {
    let text = "fn a() {}\n\n#[cfg(test)]\nuse b;\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
    assert_eq!(counts::without_tests(text), "fn a() {}\n\n#[cfg(test)]\nuse b;\n\n");
    let listed = "#[cfg(test)]\nmod tests;\nmod b;\n";
    assert_eq!(counts::without_tests(listed), listed);
}
