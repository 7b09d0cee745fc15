//! Whether whoever asks must say who he is.

use std::str::FromStr;

use crate::units::{Span, Switch};

use super::table::{Field, Table, above_zero, settings_table};

settings_table! {
    /// Whether whoever asks must say who he is.
    pub(crate) struct Auth, table "auth", flags "auth_", heading "Users" {
        /// Whether every API wants a login: `on` or `off`
        enabled as "auth": Switch = "off", "WHETHER";

        /// The password of the user `admin` in tenants where none was set since; better in a variable or the file than here
        admin_password: Secret = none, "PASSWORD";

        /// How long a token is good for
        token_duration: Span = "24h", "SPAN";
    }
}

/// A text that is never shown.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Secret(pub(crate) String);

impl FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Auth {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        above_zero(&[("auth_token_duration", self.token_duration)])?;
        let is_given = self.admin_password.as_ref().is_some_and(|password| !password.0.is_empty());
        anyhow::ensure!(
            is_given || self.enabled == Switch::Off,
            "auth is on, and auth_admin_password is not set: the user admin needs a password to begin with"
        );
        let longest = api_hugegraph::PASSWORD_BYTES_MAX;
        let length = self.admin_password.as_ref().map_or(0, |password| password.0.len());
        anyhow::ensure!(length <= longest, "auth_admin_password must have at most {longest} bytes");
        Ok(())
    }
}
