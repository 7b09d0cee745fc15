//! Patterns against values they take and refuse.

use super::Pattern;

fn check(pattern: &str, takes: &[&str], refuses: &[&str]) {
    let pattern = Pattern::new(pattern, false);
    pattern.compile().expect("a pattern");
    for value in takes {
        assert!(pattern.allows(value), "{} takes {value:?}", pattern.text());
    }
    for value in refuses {
        assert!(!pattern.allows(value), "{} refuses {value:?}", pattern.text());
    }
}

fn refused(pattern: &str, message: &str) {
    let error = Pattern::new(pattern, false).compile().expect_err(pattern);
    assert_eq!(&*error.message, message, "{pattern}");
    assert!(!Pattern::new(pattern, false).allows(""), "{pattern}");
}

#[test]
fn a_pattern_matches_the_whole_value() {
    check("a|bc", &["a", "bc"], &["ac", "xa", "bcd", "", "a\n"]);
    check("", &[""], &["a"]);
    check("^a$", &["^a$"], &["a"]);
    check(r"[a-z][a-z0-9+.-]*:.*", &["x:", "urn:a b"], &["l2-topo-example", "X:", "x:\n", "x:\r"]);
}

#[test]
fn escapes_stand_for_classes() {
    check(r"\i\c*", &["a", "_x-1.b", ":", "Ünal"], &["1a", "-", "a b", ""]);
    check(r"\I\C", &["1 ", "-/"], &["a ", "1a"]);
    check(r"\d{2}", &["07", "٠٩"], &["7", "0x"]);
    check(r"\D\S\s", &["ab ", "-1\t"], &["1b ", "a  "]);
    check(r"\w\W", &["a.", "+ "], &["..", "aa"]);
    check(r"[\i-[:]]+", &["abc"], &["a:b"]);
    check(r"\(\)\.\-\$\/", &["().-$/"], &["()a-$/"]);
}

#[test]
fn categories_and_blocks_have_names() {
    check(r"\p{Lu}\P{Lu}", &["Aa"], &["aA"]);
    check(r"\p{IsBasicLatin}+", &["az~"], &["é"]);
    check(r"[\p{IsGreek}\p{IsCyrillic}]", &["α", "ж"], &["a"]);
    check(r"\P{IsLatin-1Supplement}", &["a"], &["é"]);
    check(r"\p{IsSpecials}", &["\u{FEFF}", "\u{FFFD}"], &["\u{FF00}"]);
    refused(r"\p{IsNowhere}", "no block of characters \"Nowhere\" (character 13)");
    refused(r"\p{Greek}", "no category of characters \"Greek\" (character 9)");
    refused(r"\pL", "\"\\p\" needs a category or a block in braces (character 2)");
    refused(r"\p{L", "\"{\" without \"}\" (character 3)");
}

#[test]
fn classes_are_subtracted_and_negated() {
    check("[a-z-[aeiou]]+", &["xyz"], &["xyza"]);
    check("[a-z-[a-m-[c]]]", &["c", "z"], &["a", "m"]);
    check("[^a-c-[x]]", &["d", "1"], &["a", "x"]);
    check("[-a]+[a-][&~^]", &["-a-&", "a--^"], &["b--&"]);
    check(r"[\w-.]", &["a", "-", "."], &[",", "a."]);
    check(r"[\-\]\[\\]+", &[r"-][\"], &["a"]);
    refused("[]", "a character class without characters (character 2)");
    refused("[a-[b]c]", "nothing may follow what is subtracted from a character class (character 6)");
    refused("[z-a]", "the range \"z-a\" ends before it begins (character 4)");
    refused("[a", "\"[\" without \"]\" (character 2)");
    refused("a]", "\"]\" without \"[\" (character 2)");
}

#[test]
fn quantities_repeat_what_is_before_them() {
    check("a{2}b{1,}c{0,2}d?", &["aab", "aabbccd"], &["ab", "aabccc"]);
    check("(ab)+?", &["ab", "abab"], &["aba"]);
    refused("*a", "nothing that \"*\" could repeat (character 1)");
    refused("a|+", "nothing that \"+\" could repeat (character 3)");
    refused("a**", "nothing that \"*\" could repeat (character 3)");
    refused("a{x}", "a quantity is {n}, {n,} or {n,m} (character 3)");
    refused("((((a{1000}){1000}){1000}){1000}){1000}", "it compiles to more than 1048576 bytes");
}

#[test]
fn what_is_not_of_the_standard_is_refused() {
    refused("(a", "\"(\" without \")\" (character 2)");
    refused("a)", "\")\" without \"(\" (character 2)");
    refused("(?=a)", "\"(?\" is not of XML Schema (character 2)");
    refused(r"\bword", "\"\\b\" is not of XML Schema (character 2)");
    refused("a\\", "nothing follows the last backslash (character 2)");
    let deep = format!("{}a{}", "(".repeat(51), ")".repeat(51));
    refused(&deep, "groups nest deeper than 50 (character 51)");
    let deep = format!("{}a{}", "[b-".repeat(60), "]".repeat(60));
    refused(&deep, "character classes nest deeper than 50 (character 151)");
}

#[test]
fn an_inverted_pattern_takes_what_it_does_not_match() {
    let pattern = Pattern::new("[xX][mM][lL].*", true);
    assert!(pattern.allows("abc"));
    assert!(!pattern.allows("xml-a"));
    assert!(!Pattern::new("(", true).allows("abc"), "one that cannot be compiled takes nothing");
}

#[test]
fn what_a_pattern_takes_is_bounded() {
    let small = Pattern::new("[a-z]+", false);
    let large = Pattern::new("(a|b){1000}", false);
    assert_eq!((small.program_bytes(), small.value_bytes_max()), (8 << 10, 256 << 10));
    assert!(
        large.program_bytes() > small.program_bytes() && large.value_bytes_max() < small.value_bytes_max()
    );
    assert!(large.memory_bytes() > large.program_bytes());
    let (fits, long) = ("a".repeat(256 << 10), "a".repeat((256 << 10) + 1));
    assert!(small.allows(&fits));
    assert!(!small.allows(&long));
    assert!(!Pattern::new("[0-9]+", true).allows(&long), "inverted ones are not applied either");
    let error = Pattern::new(&"a?".repeat(5_000), false).compile().unwrap_err();
    assert!(error.is_too_large);
    assert_eq!(&*error.message, "its text has 10000 bytes, more than 8192");
    assert!(Pattern::new("a{60000}", false).compile().unwrap_err().is_too_large);
    assert!(!Pattern::new("(", false).compile().unwrap_err().is_too_large);
}
