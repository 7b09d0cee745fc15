//! Doors for fuzzing: readers of what clients send and of stored forms, which are private. Not part of the API.

use ring::hmac;

use crate::{passwords, tokens};

/// A key that tokens of tests are signed with.
fn key() -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, b"of tests")
}

/// Tokens and stored passwords to begin with.
pub fn examples() -> Vec<String> {
    let claims = tokens::Claims {
        user_name: "ops".to_owned(),
        user_id: "-30:ops".to_owned(),
        exp: 4_102_444_800,
        jti: "1".to_owned(),
        pwd: "x".to_owned(),
    };
    let hash = "A".repeat(86);
    vec![tokens::signed(&claims, &key()), format!("$pbkdf2-sha512$i=10$c2FsdA==${hash}==")]
}

/// Reads a text as a token and as a stored password.
///
/// # Panics
///
/// If a token that was not made by [`examples`] passes for one that is signed, or what a token says is not read when it is signed.
pub fn read(text: &str) {
    let made = examples();
    if tokens::is_signed(text, &key()) {
        assert!(made.iter().any(|token| token == text), "a forged token");
    }
    if let Some(claims) = tokens::said(text) {
        assert_eq!(tokens::said(&tokens::signed(&claims, &key())), Some(claims), "written and read");
    }
    passwords::parsed(text);
}
