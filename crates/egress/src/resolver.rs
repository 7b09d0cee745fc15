//! Names to addresses that may be called.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{Error, Policy};

/// Who says which addresses a name has.
#[derive(Clone, Debug, Default)]
pub enum Names {
    /// The system.
    #[default]
    System,
    /// This list, and nobody else.
    Fixed(Arc<HashMap<Box<str>, Vec<IpAddr>>>),
}

/// Resolves names, and gives only addresses that may be called: what is connected to is what was checked.
pub(crate) struct CheckedResolver {
    pub(crate) policy: Arc<Policy>,
    pub(crate) names: Names,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, names) = (Arc::clone(&self.policy), self.names.clone());
        Box::pin(async move {
            let name = name.as_str();
            let mut found = names.find(name).await?;
            found.retain(|address| policy.allows(Some(name), address.ip()));
            if found.is_empty() {
                return Err(Error::NameForbidden(name.to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

impl Names {
    /// The addresses of a name; the client puts the port of the URL in.
    async fn find(&self, name: &str) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        match self {
            Self::System => Ok(tokio::net::lookup_host((name, 0)).await?.collect()),
            Self::Fixed(names) => {
                let found = names.get(name).ok_or_else(|| format!("the name {name} is not in the list"))?;
                Ok(found.iter().map(|address| SocketAddr::new(*address, 0)).collect())
            }
        }
    }
}
