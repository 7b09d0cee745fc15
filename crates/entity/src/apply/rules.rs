//! What an edit does with attributes and instances: those that exist, those that are given, those that are removed.

use crate::{Instances, MergeOptions, TermId};

/// What an edit does with attributes and instances that exist, and with those that do not.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Attributes that are not given stay.
    pub others_stay: bool,
    /// Instances that are not given stay, in attributes that are.
    pub siblings_stay: bool,
    pub on_existing: OnExisting<'a>,
    pub on_missing: OnMissing,
}

/// What happens to an existing instance that is given.
#[derive(Clone, Copy)]
pub(super) enum OnExisting<'a> {
    /// It stays, and that is reported.
    Keep,
    /// The given one replaces it.
    Replace,
    /// Given members replace existing ones; its kind stays.
    Patch,
    /// The given one is merged into it, at all depths.
    Merge(&'a MergeOptions),
}

/// What happens to a given instance that does not exist.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum OnMissing {
    Add,
    Refuse,
}

/// What a removal removes.
pub(super) enum Cut<'a> {
    Instances(TermId, &'a Instances),
    Attributes { names: &'a [TermId], keep: bool },
}

impl Rules<'_> {
    /// What is given is all there is.
    pub(super) fn replacing() -> Self {
        Self {
            others_stay: false,
            siblings_stay: false,
            on_existing: OnExisting::Replace,
            on_missing: OnMissing::Add,
        }
    }
}
