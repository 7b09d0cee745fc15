//! Which media type a client wants (RFC 9110, section 12.5.1), and which coding (12.5.3).

/// A media type a front end can answer with.
pub type MediaType = &'static str;

/// How well a client's range fits an offer.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Fit {
    /// `*/*`.
    Anything,
    /// `type/*`.
    Family,
    /// `type/subtype`.
    Exact,
}

/// The offered media type that `accept` (the field's value; `None`: anything) prefers: by quality,
/// then by how exactly it is named, then by the order of `offered`. `None`: none is acceptable.
///
/// Parameters other than `q` are passed over; a range that cannot be read counts for nothing.
/// Cost: no allocation, `O(ranges × offers)`.
pub fn accept(accept: Option<&str>, offered: &[MediaType]) -> Option<MediaType> {
    let Some(field) = accept.filter(|field| !field.trim().is_empty()) else {
        return offered.first().copied();
    };
    let mut best: Option<(u16, Fit, MediaType)> = None;
    for offer in offered {
        let Some((fit, quality)) = judge(field, offer) else { continue };
        let better = best.is_none_or(|(best_quality, best_fit, _)| (quality, fit) > (best_quality, best_fit));
        if quality > 0 && better {
            best = Some((quality, fit, offer));
        }
    }
    best.map(|(_, _, offer)| offer)
}

/// The most exact range of `field` that fits `offer`, with its quality.
fn judge(field: &str, offer: &str) -> Option<(Fit, u16)> {
    split_outside_quotes(field, b',')
        .filter_map(|item| {
            let mut parts = split_outside_quotes(item, b';');
            let fit = fit(parts.next()?.trim(), offer)?;
            Some((fit, quality(parts)))
        })
        // The first of two equally exact ranges decides.
        .fold(None, |best: Option<(Fit, u16)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
}

fn fit(range: &str, offer: &str) -> Option<Fit> {
    if range == "*/*" || range == "*" {
        return Some(Fit::Anything);
    }
    if range.eq_ignore_ascii_case(offer) {
        return Some(Fit::Exact);
    }
    let family = range.strip_suffix("/*")?;
    let (offered_family, _) = offer.split_once('/')?;
    family.eq_ignore_ascii_case(offered_family).then_some(Fit::Family)
}

/// The quality among a range's parameters in thousandths; one if it is not said or malformed.
fn quality<'a>(parameters: impl Iterator<Item = &'a str>) -> u16 {
    const FULL: u16 = 1000;
    for parameter in parameters {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        if !name.trim().eq_ignore_ascii_case("q") {
            continue;
        }
        return thousandths(value.trim()).unwrap_or(FULL);
    }
    FULL
}

/// `0`, `1`, `0.5`, `0.125` … in thousandths.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u16 = whole.parse().ok().filter(|whole| *whole <= 1)?;
    let digits: u16 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scale = match fraction.len() {
        1 => 100,
        2 => 10,
        _ => 1,
    };
    Some((whole * 1000 + digits * scale).min(1000))
}

/// Content codings this server writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Coding {
    /// `gzip`.
    Gzip,
    /// `zstd`.
    Zstd,
}

impl Coding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The coding `accept_encoding` prefers; zstd, the cheaper one, if it likes both. `None`: as it is.
pub(crate) fn accept_coding(accept_encoding: &str) -> Option<Coding> {
    let wanted = |name: &str| {
        let mut wildcard = 0;
        for item in accept_encoding.split(',') {
            let mut parts = item.split(';');
            let coding = parts.next().expect("a split has a first piece").trim();
            if coding.eq_ignore_ascii_case(name) {
                return quality(parts);
            }
            if coding == "*" {
                wildcard = quality(parts);
            }
        }
        wildcard
    };
    let (zstd, gzip) = (wanted("zstd"), wanted("gzip"));
    match (zstd, gzip) {
        (0, 0) => None,
        _ if zstd >= gzip => Some(Coding::Zstd),
        _ => Some(Coding::Gzip),
    }
}

/// The essence of a media type: the type without its parameters, trimmed.
pub fn essence(media: &str) -> &str {
    media.split_once(';').map_or(media, |(essence, _)| essence).trim()
}

/// Splits at `separator` where it is not inside a quoted string.
fn split_outside_quotes(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => return byte == separator && !quoted,
            }
            false
        });
        // The separator is one ASCII byte, so both halves are whole characters.
        let (item, after) = match end {
            Some(end) => (text.get(..end)?, text.get(end + 1..)),
            None => (text, None),
        };
        rest = after;
        Some(item)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JSON: &str = "application/json";
    const LD: &str = "application/ld+json";
    const GEO: &str = "application/geo+json";

    fn check(field: Option<&str>, expected: Option<&str>) {
        assert_eq!(accept(field, &[JSON, LD, GEO]), expected, "{field:?}");
    }

    #[test]
    fn without_a_wish_the_first_offer_is_given() {
        check(None, Some(JSON));
        check(Some(""), Some(JSON));
        check(Some("*/*"), Some(JSON));
        check(Some("*"), Some(JSON));
        check(Some("application/*"), Some(JSON));
    }

    #[test]
    fn exact_names_go_before_wildcards() {
        check(Some("application/ld+json"), Some(LD));
        check(Some("*/*, application/ld+json"), Some(LD));
        check(Some("application/*, APPLICATION/GEO+JSON"), Some(GEO));
        check(Some("application/ld+json, application/json"), Some(JSON));
    }

    #[test]
    fn quality_decides_first() {
        check(Some("application/json;q=0.5, application/ld+json;q=0.9"), Some(LD));
        check(Some("application/json; Q=0.1 , */*;q=0.2"), Some(LD));
        check(Some("application/json;q=0, */*"), Some(LD));
        check(Some("application/ld+json;q=0.125,application/geo+json;q=0.13"), Some(GEO));
    }

    #[test]
    fn what_is_not_offered_is_not_given() {
        check(Some("text/html"), None);
        check(Some("text/*"), None);
        check(Some("application/json;q=0"), None);
        check(Some("*/*;q=0"), None);
        check(Some("garbage"), None);
    }

    #[test]
    fn parameters_and_quotes_are_passed_over() {
        check(Some("application/ld+json;profile=\"http://a,b;q=0\";q=0.9, text/html"), Some(LD));
        check(Some("application/json;q=oops"), Some(JSON));
        check(Some("text/html, application/xhtml+xml, */*;q=0.8"), Some(JSON));
    }

    #[test]
    fn codings_are_chosen_by_quality() {
        let check = |field: &str, expected| assert_eq!(accept_coding(field), expected, "{field}");
        check("gzip, deflate, br", Some(Coding::Gzip));
        check("gzip, deflate, br, zstd", Some(Coding::Zstd));
        check("zstd;q=0.5, gzip;q=0.8", Some(Coding::Gzip));
        check("zstd;q=0, *", Some(Coding::Gzip));
        check("identity", None);
        check("*;q=0", None);
        check("", None);
    }

    proptest! {
        #[test]
        fn no_field_panics(field in "[a-z/*;,=q0-9.\"\\\\ é]{0,60}") {
            let chosen = accept(Some(&field), &[JSON, LD]);
            prop_assert!(chosen.is_none_or(|chosen| chosen == JSON || chosen == LD));
            let _ = accept_coding(&field);
        }
    }
}
