//! Whose data a request means: by the header `NGSILD-Tenant`, or by `Fiware-Service`, under which clients of older brokers
//! send the same; many send both.

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
}

/// The name of the tenant, and the header that says it as it is spelled; `None`: the default tenant. Cost: two header look-ups.
///
/// # Errors
///
/// [`TenantError`].
pub fn tenant(request: &Request) -> Result<Option<(&'static str, &str)>, TenantError> {
    match (request.sole_header(&TENANT)?, request.sole_header(&FIWARE_SERVICE)?) {
        (None, None) => Ok(None),
        (Some(name), Some(other)) if name != other => Err(TenantError::Different(name.into(), other.into())),
        (Some(name), _) => Ok(Some(("NGSILD-Tenant", name))),
        (None, Some(name)) => Ok(Some(("Fiware-Service", name))),
    }
}
