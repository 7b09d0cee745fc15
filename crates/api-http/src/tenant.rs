//! Whose data a request means: by the header `NGSILD-Tenant`, or by `Fiware-Service`, under which clients of older brokers
//! send the same; many send both.

use std::fmt::Display;

use http::HeaderName;

use crate::{HeaderError, Request};

/// The header that names the tenant (NGSI-LD 6.3.14).
pub const TENANT: HeaderName = HeaderName::from_static("ngsild-tenant");
/// Another name for it.
pub const FIWARE_SERVICE: HeaderName = HeaderName::from_static("fiware-service");

/// The headers do not say whose data is meant.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TenantError {
    /// One cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// They name two.
    #[error("headers NGSILD-Tenant and Fiware-Service name different tenants: {0:?}, {1:?}")]
    Different(String, String),
    /// One names what cannot be a tenant: which, and what is wrong.
    #[error("{0}: {1}")]
    Invalid(&'static str, String),
}

/// The tenant that a request names, as `read` reads its name; the default one if it names none. Cost without the headers: two
/// header look-ups.
///
/// # Errors
///
/// [`TenantError`].
pub fn tenant<T, E>(request: &Request, read: impl FnOnce(&str) -> Result<T, E>) -> Result<T, TenantError>
where
    T: Default,
    E: Display,
{
    let (header, name) = match (request.sole_header(&TENANT)?, request.sole_header(&FIWARE_SERVICE)?) {
        (None, None) => return Ok(T::default()),
        (Some(name), Some(other)) if name != other => {
            return Err(TenantError::Different(name.into(), other.into()));
        }
        (Some(name), _) => ("NGSILD-Tenant", name),
        (None, Some(name)) => ("Fiware-Service", name),
    };
    read(name).map_err(|error| TenantError::Invalid(header, error.to_string()))
}
