//! Whom the process may call: hosts and networks that always or never may be, and what holds for all others.

use std::net::IpAddr;
use std::str::FromStr;

use crate::{Error, is_public_address};

/// Whom the process may call. A denied target is never called, an allowed one always, be it private or not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    /// Hosts and networks that may be called whatever `others` says. A host counts by its name, for all its addresses.
    pub allowed: Vec<Target>,
    /// Hosts and networks that are never called. Stronger than `allowed`.
    pub denied: Vec<Target>,
    /// What holds for those on neither list.
    pub others: Others,
}

/// Which addresses may be called that no list names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Others {
    /// None.
    Nobody,
    /// Those of the public internet: not loopback, private, link-local, multicast or reserved ones.
    Public,
    /// All.
    Any,
}

/// A host or a network in a list of a policy: `example.org`, `*.example.org` (all hosts below it), `10.0.0.0/8`, `::1`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// The host of this name, in lower case.
    Host(Box<str>),
    /// All hosts below this name, in lower case.
    Below(Box<str>),
    /// All addresses that begin with so many bits of this one.
    Network(IpAddr, u8),
}

/// A text that is no target.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is neither a host (example.org, *.example.org) nor a network (10.0.0.0/8)")]
pub struct TargetError(Box<str>);

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError(text.into());
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Network(address, bits_of(address)));
        }
        if let Some((address, bits)) = text.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let bits: u8 = bits.parse().map_err(|_| wrong())?;
            return if bits <= bits_of(address) { Ok(Self::Network(address, bits)) } else { Err(wrong()) };
        }
        let (name, is_below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let is_label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if !name.split('.').all(is_label) {
            return Err(wrong());
        }
        let name = name.to_ascii_lowercase().into();
        Ok(if is_below { Self::Below(name) } else { Self::Host(name) })
    }
}

/// The bits of an address of its family.
fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl Target {
    /// Whether it has the host of this name.
    fn has_host(&self, name: &str) -> bool {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        match self {
            Self::Host(host) => **host == *name,
            Self::Below(parent) => {
                name.strip_suffix(&**parent).is_some_and(|head| head.len() > 1 && head.ends_with('.'))
            }
            Self::Network(..) => false,
        }
    }

    /// Whether it has this address. An IPv4 address written as one of IPv6 is the same address.
    fn has_address(&self, address: IpAddr) -> bool {
        let Self::Network(network, bits) = self else { return false };
        match (network.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                // Of a mapped network, the bits of the address itself.
                let bits = u32::from(*bits).saturating_sub(if self.is_mapped() { 96 } else { 0 });
                let differs = u32::from(network) ^ u32::from(address);
                differs.checked_shr(32 - bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differs = u128::from(network) ^ u128::from(address);
                differs.checked_shr(128 - u32::from(*bits)).unwrap_or(0) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }

    fn is_mapped(&self) -> bool {
        matches!(self, Self::Network(IpAddr::V6(network), _) if network.to_ipv4_mapped().is_some())
    }
}

/// Checks what holds whatever the policy: that this is a URL, of HTTP, with a host and a port that there can be.
///
/// # Errors
///
/// [`Error::Invalid`].
pub fn check_http_url(url: &str) -> Result<(), Error> {
    parse(url).map(|_| ())
}

fn parse(url: &str) -> Result<reqwest::Url, Error> {
    let url = reqwest::Url::parse(url).map_err(|error| Error::Invalid(format!("it is no URL: {error}")))?;
    check_parts(&url)?;
    Ok(url)
}

/// Checks scheme, host and port; answers the host.
fn check_parts(url: &reqwest::Url) -> Result<&str, Error> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::Invalid(format!("its scheme is {:?}, neither http nor https", url.scheme())));
    }
    if url.port() == Some(0) {
        return Err(Error::Invalid("there is no port 0".to_owned()));
    }
    url.host_str().ok_or_else(|| Error::Invalid("it names no host".to_owned()))
}

impl Policy {
    /// A policy without lists.
    pub fn of_others(others: Others) -> Self {
        Self { allowed: Vec::new(), denied: Vec::new(), others }
    }

    /// Checks what can be known of a URL before its name is resolved: the scheme, an address, a denied name.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::AddressForbidden`], [`Error::NameForbidden`].
    pub fn check_url(&self, url: &str) -> Result<(), Error> {
        self.check(&parse(url)?)
    }

    pub(crate) fn check(&self, url: &reqwest::Url) -> Result<(), Error> {
        let host = check_parts(url)?;
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if self.allows(None, address) => Ok(()),
            Ok(address) => Err(Error::AddressForbidden(address.to_string())),
            Err(_) if self.denied.iter().any(|target| target.has_host(host)) => {
                Err(Error::NameForbidden(host.to_owned()))
            }
            Err(_) => Ok(()),
        }
    }

    /// Whether this address may be called, by this name if it was found by one. Cost: a look at each entry of the lists.
    pub fn allows(&self, name: Option<&str>, address: IpAddr) -> bool {
        let has =
            |target: &Target| target.has_address(address) || name.is_some_and(|name| target.has_host(name));
        if self.denied.iter().any(has) {
            return false;
        }
        self.allowed.iter().any(has)
            || match self.others {
                Others::Nobody => false,
                Others::Public => is_public_address(address),
                Others::Any => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allowed: &[&str], denied: &[&str], others: Others) -> Policy {
        let targets = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Policy { allowed: targets(allowed), denied: targets(denied), others }
    }

    fn check(policy: &Policy, name: Option<&str>, address: &str, expected: bool) {
        assert_eq!(policy.allows(name, address.parse().unwrap()), expected, "{name:?} {address} {policy:?}");
    }

    #[test]
    fn lists_are_stronger_than_what_holds_for_others_and_denials_than_all() {
        let lists =
            policy(&["10.1.0.0/16", "intra.example"], &["10.1.2.0/24", "*.bad.example"], Others::Public);
        check(&lists, None, "10.1.1.1", true);
        check(&lists, None, "::ffff:10.1.1.1", true);
        check(&lists, None, "10.1.2.1", false);
        check(&lists, None, "::ffff:10.1.2.1", false);
        check(&lists, None, "10.2.0.1", false);
        check(&lists, Some("Intra.example."), "192.168.0.1", true);
        check(&lists, Some("intra.example"), "10.1.2.1", false);
        check(&lists, Some("a.bad.example"), "8.8.8.8", false);
        check(&lists, Some("bad.example"), "8.8.8.8", true);
        check(&lists, Some("notbad.example"), "8.8.8.8", true);
        check(&policy(&[], &[], Others::Nobody), None, "8.8.8.8", false);
        check(&policy(&[], &["::/0"], Others::Any), None, "::1", false);
        check(&policy(&[], &["::/0"], Others::Any), None, "127.0.0.1", true);
        check(&policy(&[], &["0.0.0.0/0"], Others::Any), None, "127.0.0.1", false);
        check(&policy(&[], &["::ffff:10.0.0.0/104"], Others::Any), None, "10.9.9.9", false);
    }

    #[test]
    fn urls_are_checked_before_anybody_is_asked() {
        let policy = policy(&[], &["bad.example"], Others::Public);
        for url in [
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://%31%32%37.0.0.1/",
            "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
            "http://127.0.0.1./",
            "http://127.0.0.1:8080/",
            "http://user:secret@127.0.0.1/",
            "http://example.org@127.0.0.1/",
            "http:\\\\127.0.0.1\\",
            "https://[::1]:443/",
            "http://[::ffff:10.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[2001:0:7f00:1::]/",
            "http://169.254.169.254/",
        ] {
            assert!(matches!(policy.check_url(url), Err(Error::AddressForbidden(_))), "{url}");
        }
        assert_eq!(policy.check_url("https://bad.example/"), Err(Error::NameForbidden("bad.example".into())));
        assert_eq!(policy.check_url("https://localhost/"), Ok(()), "known only once it is resolved");
        for url in ["file:///etc/passwd", "ftp://example.org/", "nothing", "http://example.org:0/"] {
            assert!(matches!(policy.check_url(url), Err(Error::Invalid(_))), "{url}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "a..b", "*.", "https://example.org", "a b"] {
            assert!(text.parse::<Target>().is_err(), "{text:?}");
        }
    }
}
