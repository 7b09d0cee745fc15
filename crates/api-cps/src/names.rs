//! Names of dataspaces, schema sets and anchors, as clients may give them.

use crate::problem::Problem;

/// What no name may hold, beside control characters.
const FORBIDDEN: &str = "=!\" #$%&'()*+,./\\:;<>?@[]^`{|}~";

/// Checks a name that is given to something new.
///
/// # Errors
///
/// 400, with the place of the first character that a name may not hold.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    // Columns count from one; the place that is named is the one behind them.
    let found =
        name.chars().zip(1_usize..).find(|(letter, _)| FORBIDDEN.contains(*letter) || letter.is_control());
    let detail = match found {
        Some((_, place)) => format!("{name} invalid token encountered at position {place}"),
        None if name.is_empty() => "a name has at least one character".to_owned(),
        None => return Ok(()),
    };
    Err(Problem::bad_request("Name or ID Validation Error.", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) {
        let refused = check_name(name).err().map(|problem| problem.details);
        assert_eq!(refused.as_deref(), expected, "{name:?}");
    }

    #[test]
    fn the_first_wrong_character_is_named_by_its_place() {
        check("plain-name_1", None);
        check("männer", None);
        check("bad name", Some("bad name invalid token encountered at position 4"));
        check("a\u{7}b", Some("a\u{7}b invalid token encountered at position 2"));
        check("tab\t", Some("tab\t invalid token encountered at position 4"));
        check("c1\u{85}", Some("c1\u{85} invalid token encountered at position 3"));
        check("", Some("a name has at least one character"));
        for letter in FORBIDDEN.chars() {
            let name = format!("ä{letter}b{letter}");
            check(&name, Some(&format!("{name} invalid token encountered at position 2")));
        }
    }
}
