//! Tokens: JSON Web Tokens (RFC 7519) signed with HMAC-SHA256, which this server alone reads.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use ring::hmac;
use serde::{Deserialize, Serialize};

/// The longest token that is looked at.
const TOKEN_BYTES_MAX: usize = 4096;
/// `{"alg":"HS256"}`
const HEADER: &str = "eyJhbGciOiJIUzI1NiJ9";

/// What a token says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Claims {
    pub(crate) user_name: String,
    pub(crate) user_id: String,
    /// When it expires, in seconds since 1970.
    pub(crate) exp: i64,
    /// Its own name, by which it is given back.
    pub(crate) jti: String,
    /// Of which password: a new one ends the tokens of the old one.
    pub(crate) pwd: String,
}

/// A token that says this.
pub(crate) fn signed(claims: &Claims, key: &hmac::Key) -> String {
    let claims = serde_json::to_vec(claims).expect("texts and numbers are always JSON");
    let said = format!("{HEADER}.{}", BASE64URL.encode(claims));
    let signature = BASE64URL.encode(hmac::sign(key, said.as_bytes()));
    format!("{said}.{signature}")
}

/// What a token says, before its signature is looked at: by whose key is it signed?
pub(crate) fn said(token: &str) -> Option<Claims> {
    if token.len() > TOKEN_BYTES_MAX {
        return None;
    }
    let (said, _) = token.rsplit_once('.')?;
    let claims = said.strip_prefix(HEADER)?.strip_prefix('.')?;
    serde_json::from_slice(&BASE64URL.decode(claims).ok()?).ok()
}

/// Whether a token is signed by this key. Takes as long whatever differs.
pub(crate) fn is_signed(token: &str, key: &hmac::Key) -> bool {
    let Some((said, signature)) = token.rsplit_once('.') else { return false };
    let Ok(signature) = BASE64URL.decode(signature) else { return false };
    hmac::verify(key, said.as_bytes(), &signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_and_not_forged() {
        let key = |byte: u8| hmac::Key::new(hmac::HMAC_SHA256, &[byte; 32]);
        let claims = Claims {
            user_name: "boss".into(),
            user_id: "-63:boss".into(),
            exp: 7,
            jti: "j".into(),
            pwd: "p".into(),
        };
        let token = signed(&claims, &key(1));
        assert_eq!(BASE64URL.decode(HEADER).unwrap(), br#"{"alg":"HS256"}"#);
        assert_eq!(said(&token), Some(claims.clone()));
        assert!(is_signed(&token, &key(1)));
        assert!(!is_signed(&token, &key(2)));
        let later = signed(&Claims { exp: 8, ..claims }, &key(1));
        let (forged, _) = later.rsplit_once('.').unwrap();
        let (_, signature) = token.rsplit_once('.').unwrap();
        assert!(!is_signed(&format!("{forged}.{signature}"), &key(1)));
        for broken in ["", ".", "..", "a.b.c", &token[1..], HEADER] {
            assert!(said(broken).is_none() || !is_signed(broken, &key(1)), "{broken}");
        }
        assert_eq!(said(&"x".repeat(TOKEN_BYTES_MAX + 1)), None);
    }
}
