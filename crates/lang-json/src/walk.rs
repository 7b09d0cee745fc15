//! Walks over canonical text that was checked when it was stored: no error, only absence.

use std::borrow::Cow;

use crate::{Kind, Reader};

/// Stored text was checked against a smaller limit on its way in.
const STORED_DEPTH_MAX: usize = 1024;

/// The kind of the value in `text`, if it holds one.
pub fn kind(text: &str) -> Option<Kind> {
    Reader::new(text, STORED_DEPTH_MAX).peek().ok()
}

/// The members of an object, in order; none where `text` is no object.
pub fn members(text: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    let mut reader = Reader::new(text, STORED_DEPTH_MAX);
    let mut open = reader.begin_object().is_ok();
    std::iter::from_fn(move || {
        let next = open.then(|| Some((reader.next_key().ok()??, reader.raw().ok()?))).flatten();
        open = next.is_some();
        next
    })
}

/// The elements of an array, in order; none where `text` is no array.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let mut reader = Reader::new(text, STORED_DEPTH_MAX);
    let mut open = reader.begin_array().is_ok();
    std::iter::from_fn(move || {
        let more = open && reader.next_element().unwrap_or(false);
        let next = more.then(|| reader.raw().ok()).flatten();
        open = next.is_some();
        next
    })
}

/// The value of the member `name` of an object.
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    members(text).find(|(key, _)| key == name).map(|(_, value)| value)
}
