//! Variables of a graph: JSON texts under names.

use std::sync::Arc;

use store::{LimitExceeded, Write};

use crate::records::{BACKOFF, Pending, damaged};
use crate::state::StateStore;
use crate::{Error, keys};

/// The most bytes of the name of a variable.
pub const VARIABLE_NAME_BYTES_MAX: usize = 256;
/// The most bytes of a variable.
pub const VARIABLE_BYTES_MAX: usize = 1024 * 1024;

/// The variables of a graph; clones share.
#[derive(Clone, Debug)]
pub struct Variables {
    state: Arc<StateStore>,
}

impl Variables {
    pub(crate) fn new(state: Arc<StateStore>) -> Self {
        Self { state }
    }

    /// Stores a variable. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a name that cannot be; [`Error::Limit`]; if the store refuses.
    pub async fn put(&self, name: &str, json: &str) -> Result<(), Error> {
        if name.is_empty() || name.len() > VARIABLE_NAME_BYTES_MAX {
            let max = VARIABLE_NAME_BYTES_MAX;
            return Err(Error::Invalid(format!("the name of a variable has 1 to {max} bytes")));
        }
        LimitExceeded::check("VARIABLE_BYTES_MAX", VARIABLE_BYTES_MAX, json.len())
            .map_err(|limit| Error::Limit { what: "a variable".into(), limit })?;
        let write = Write::Put(keys::variable(name), json.to_owned().into());
        self.commit(write).await
    }

    /// The JSON text of a variable. Cost: one read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get(&self, name: &str) -> Result<Option<String>, Error> {
        let row = self.state.records().get(&keys::variable(name)).await?;
        row.map(|row| text(&row.value)).transpose()
    }

    /// Removes a variable, if there is one. Cost: one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn delete(&self, name: &str) -> Result<(), Error> {
        self.commit(Write::Delete(keys::variable(name))).await
    }

    /// All variables by name. Cost: reads them all.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(&self) -> Result<Vec<(String, String)>, Error> {
        let records = self.state.records();
        let read_all = |snapshot| async move { records.all(&snapshot, keys::variables()).await };
        let rows = records.at_one_moment(read_all);
        let read = |(key, value): (bytes::Bytes, bytes::Bytes)| {
            let name = keys::name_of_variable(&key).ok_or_else(|| damaged("the name of a variable"))?;
            Ok((name.to_owned(), text(&value)?))
        };
        rows.await?.into_iter().map(read).collect()
    }

    async fn commit(&self, write: Write) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let pending = Pending { conditions: Vec::new(), writes: vec![write.clone()] };
            if self.state.records().commit(pending).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the variables").into())
    }
}

fn text(stored: &[u8]) -> Result<String, Error> {
    let text = std::str::from_utf8(stored).map_err(|_| damaged("a variable"))?;
    Ok(text.to_owned())
}
