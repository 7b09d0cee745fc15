//! What is answered by a thread of its own, however busy the others are: health and metrics.

/// Beginnings of requests that are answered at the door.
const VITAL: [&[u8]; 2] = [b"GET /health/", b"GET /metrics"];

/// Whether a path is answered at the door.
pub(crate) fn is_vital(path: &str) -> bool {
    matches!(path, "/health/live" | "/health/ready" | "/metrics")
}

/// What the first bytes of a connection say; `None`: too few came.
pub(crate) fn begins_vital(bytes: &[u8]) -> Option<bool> {
    let mut open = false;
    for begin in VITAL {
        if bytes.starts_with(begin) {
            return Some(true);
        }
        open |= begin.starts_with(bytes);
    }
    if open { None } else { Some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &str, expected: Option<bool>) {
        assert_eq!(begins_vital(bytes.as_bytes()), expected, "{bytes}");
    }

    #[test]
    fn first_bytes_tell_who_serves() {
        for begun in ["", "G", "GET /", "GET /health", "GET /metric"] {
            check(begun, None);
        }
        check("GET /health/live HTTP/1.1\r\n", Some(true));
        check("GET /metrics HTTP/1.1\r\n", Some(true));
        for other in ["P", "PRI * HTTP/2.0", "GET /n", "GET /healthy", "POST /health/live", "\u{16}\u{3}"] {
            check(other, Some(false));
        }
    }
}
