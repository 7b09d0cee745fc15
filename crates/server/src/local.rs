//! Whether a request was sent straight from this machine, and by no proxy and no page in a browser.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri, header};

/// Fields that only proxies and browsers send.
const SENT_BY_OTHERS: [HeaderName; 4] =
    [header::ORIGIN, header::FORWARDED, header::VIA, HeaderName::from_static("x-real-ip")];
/// And all fields that begin so.
const SENT_BY_PROXIES: &str = "x-forwarded-";

/// Whether the head of a request names this machine, and nothing in it shows a proxy or a browser.
/// A name that merely resolves to this machine is not enough: a page may have made it do so.
pub(crate) fn is_direct(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut named = uri.authority().is_some();
    if uri.authority().is_some_and(|authority| !is_loopback(authority)) {
        return false;
    }
    for host in headers.get_all(header::HOST) {
        named = true;
        if !Authority::try_from(host.as_bytes()).is_ok_and(|authority| is_loopback(&authority)) {
            return false;
        }
    }
    let sent_by_other =
        |name: &HeaderName| SENT_BY_OTHERS.contains(name) || name.as_str().starts_with(SENT_BY_PROXIES);
    named && !headers.keys().any(sent_by_other)
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    !authority.as_str().contains('@')
        && match v6 {
            Some(v6) => v6.parse() == Ok(Ipv6Addr::LOCALHOST),
            None => {
                host.eq_ignore_ascii_case("localhost")
                    || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
            }
        }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(uri: &str, fields: &[(&'static str, &'static str)], direct: bool) {
        let headers: HeaderMap = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        assert_eq!(is_direct(&uri.parse().unwrap(), &headers), direct, "{uri} {fields:?}");
    }

    #[test]
    fn the_host_is_this_machine() {
        for host in ["localhost", "LocalHost:1026", "127.0.0.1", "127.8.9.1:80", "[::1]", "[::1]:1026"] {
            check("/admin/backup", &[("host", host)], true);
        }
        for host in [
            "",
            "twins.example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "10.0.0.1:1026",
            "[::2]",
        ] {
            check("/admin/backup", &[("host", host)], false);
        }
        check("/admin/backup", &[("host", "localhost@example.org")], false);
        check("/admin/backup", &[("host", "x@localhost")], false);
        check("/admin/backup", &[], false);
        // HTTP/2 names the host in the target, as HTTP/1.1 may.
        check("http://localhost:1026/admin/backup", &[], true);
        check("http://example.org/admin/backup", &[("host", "localhost")], false);
        check("http://localhost/admin/backup", &[("host", "example.org")], false);
    }

    #[test]
    fn nobody_speaks_for_another() {
        for name in [
            "origin",
            "forwarded",
            "via",
            "x-real-ip",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-x",
        ] {
            check("/admin/backup", &[("host", "localhost"), (name, "a")], false);
        }
        check("/admin/backup", &[("host", "localhost"), ("x-request-id", "a")], true);
    }
}
