//! Who asks, as the header `Authorization` says it: by name and password (RFC 7617), or by a token (RFC 6750).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header;

use crate::Request;

/// How somebody says who he is.
#[derive(Clone, Eq, PartialEq)]
pub enum Credentials {
    /// By name and password.
    Password {
        /// The name of the user.
        user: String,
        /// The password.
        password: String,
    },
    /// By a token.
    Token(String),
}

/// The header does not say who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CredentialsError {
    /// It is not there.
    #[error("Authentication credentials are required")]
    Missing,
    /// It is given twice, or is of another scheme.
    #[error("Only HTTP Basic or Bearer authentication is supported")]
    Scheme,
    /// It is no name with a password.
    #[error("Invalid syntax for username and password")]
    Syntax,
}

impl Credentials {
    /// What a request says.
    ///
    /// # Errors
    ///
    /// [`CredentialsError`].
    pub fn of(request: &Request) -> Result<Self, CredentialsError> {
        let said = request.sole_header(&header::AUTHORIZATION).map_err(|_| CredentialsError::Scheme)?;
        let (scheme, said) =
            said.ok_or(CredentialsError::Missing)?.split_once(' ').ok_or(CredentialsError::Scheme)?;
        if scheme.eq_ignore_ascii_case("Bearer") {
            return Ok(Self::Token(said.trim().to_owned()));
        }
        if !scheme.eq_ignore_ascii_case("Basic") {
            return Err(CredentialsError::Scheme);
        }
        let said = BASE64.decode(said.trim()).map_err(|_| CredentialsError::Syntax)?;
        let said = String::from_utf8(said).map_err(|_| CredentialsError::Syntax)?;
        match said.split_once(':') {
            Some((user, password)) if !user.is_empty() && !password.is_empty() => {
                Ok(Self::Password { user: user.to_owned(), password: password.to_owned() })
            }
            _ => Err(CredentialsError::Syntax),
        }
    }
}

/// Never what is secret.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Password { user, .. } => {
                formatter.debug_struct("Password").field("user", user).finish_non_exhaustive()
            }
            Self::Token(_) => formatter.debug_struct("Token").finish_non_exhaustive(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(values: &[&str]) -> Result<Credentials, CredentialsError> {
        let mut request = Request::default();
        for value in values {
            request.headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        Credentials::of(&request)
    }

    fn basic(said: &str) -> String {
        format!("Basic {}", BASE64.encode(said))
    }

    #[test]
    fn the_header_says_who_asks() {
        let password = |user: &str, password: &str| Credentials::Password {
            user: user.into(),
            password: password.into(),
        };
        assert_eq!(of(&[&basic("admin:pa")]), Ok(password("admin", "pa")));
        assert_eq!(of(&[&basic("Zoë:a:b")]), Ok(password("Zoë", "a:b")));
        assert_eq!(of(&[&basic("a:b").replace("Basic", "basic")]), Ok(password("a", "b")));
        assert_eq!(of(&["Bearer abc"]), Ok(Credentials::Token("abc".into())));
        assert_eq!(of(&[]), Err(CredentialsError::Missing));
        assert_eq!(of(&["Digest abc"]), Err(CredentialsError::Scheme));
        assert_eq!(of(&["Basic"]), Err(CredentialsError::Scheme));
        assert_eq!(of(&[&basic("a:b"), &basic("a:b")]), Err(CredentialsError::Scheme));
        for said in ["admin", ":pa", "admin:"] {
            assert_eq!(of(&[&basic(said)]), Err(CredentialsError::Syntax), "{said}");
        }
        assert_eq!(of(&["Basic !"]), Err(CredentialsError::Syntax));
        assert!(!format!("{:?}", of(&[&basic("admin:secret")])).contains("secret"));
    }
}
