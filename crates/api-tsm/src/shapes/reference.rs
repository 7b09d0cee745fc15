//! Series as addresses and values mention them: by ID or name.

use std::sync::Arc;

use model_series::{Definition, Error, Repository, SeriesRef};

/// What a text may mean as a series, likeliest first: digits are an ID before they are a name.
pub(crate) fn series_refs(text: &str) -> (SeriesRef<'_>, Option<SeriesRef<'_>>) {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_number => (SeriesRef::Id(number), Some(SeriesRef::Name(text))),
        _ => (SeriesRef::Name(text), None),
    }
}

/// The series that a text means, if there is one.
///
/// # Errors
///
/// If the store refuses.
pub(crate) async fn find_series(
    repository: &Repository,
    text: &str,
) -> Result<Option<Arc<Definition>>, Error> {
    let (first, second) = series_refs(text);
    let candidates: Vec<_> = [Some(first), second].into_iter().flatten().collect();
    Ok(repository.find_many(&candidates).await?.into_iter().flatten().next())
}
