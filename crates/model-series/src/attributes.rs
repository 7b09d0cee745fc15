//! Attributes of series: values of a type, each for a range of time.

use std::borrow::Cow;

/// A value of an attribute on a series, and when it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name of its type.
    pub name: Box<str>,
    /// What it says; fits the type.
    pub value: AttributeValue,
    /// The first instant it holds, in nanoseconds since 1970 UTC; always before `to` if none is given.
    pub from: Option<i64>,
    /// The first instant it no longer holds; for ever if none is given.
    pub to: Option<i64>,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// One of the categories of its type.
    Category(Box<str>),
    /// Any text.
    Text(Box<str>),
    /// A day.
    Date(jiff::civil::Date),
    /// Yes or no.
    YesOrNo(bool),
    /// Another series of the repository, by number.
    Series(u32),
    /// A node of the tree of its type, as the path to it (`Europe/Austria`).
    Node(Box<str>),
}

/// What kind of values an attribute has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AttributeKind {
    /// One of these.
    Category(Vec<Box<str>>),
    /// Any text.
    Text,
    /// A day.
    Date,
    /// Yes or no.
    YesOrNo,
    /// Another series.
    Series,
    /// A node of this tree, given by the paths to its nodes; parents need not be given.
    Node(Vec<Box<str>>),
}

/// A type of attributes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttributeType {
    /// Unique in its repository: 1 to [`crate::NAME_BYTES_MAX`] bytes, no control characters, no `|`.
    pub name: Box<str>,
    /// What values it takes.
    pub kind: AttributeKind,
    /// Whether a series may have several at a time.
    pub is_multiple: bool,
    /// For people.
    pub description: Box<str>,
}

impl Attribute {
    /// Whether it holds at `time`.
    pub(crate) fn holds_at(&self, time: i64) -> bool {
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time < to)
    }
}

impl Attribute {
    /// Whether both hold at some instant.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let is_before =
            |one: &Self, other: &Self| one.to.is_some_and(|to| other.from.is_some_and(|from| to <= from));
        !is_before(self, other) && !is_before(other, self)
    }
}

impl AttributeValue {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Category(_) => "Category",
            Self::Text(_) => "Text",
            Self::Date(_) => "Date",
            Self::YesOrNo(_) => "YesOrNo",
            Self::Series(_) => "Series",
            Self::Node(_) => "Node",
        }
    }

    /// The value as text: a date as `2026-01-31`, yes or no as `Yes` or `No`, a series as its number.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Category(text) | Self::Text(text) | Self::Node(text) => Cow::Borrowed(text),
            Self::Date(date) => Cow::Owned(date.to_string()),
            Self::YesOrNo(yes) => Cow::Borrowed(if *yes { "Yes" } else { "No" }),
            Self::Series(number) => Cow::Owned(number.to_string()),
        }
    }

    /// Each text that it is found by: its own, and for a node those of its parents.
    pub(crate) fn each_text(&self, mut each: impl FnMut(&str)) {
        let text = self.text();
        if let Self::Node(path) = self {
            for (end, _) in path.match_indices('/') {
                path.get(..end).into_iter().for_each(&mut each);
            }
        }
        each(&text);
    }
}

impl AttributeKind {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Category(_) => "Category",
            Self::Text => "Text",
            Self::Date => "Date",
            Self::YesOrNo => "YesOrNo",
            Self::Series => "Series",
            Self::Node(_) => "Node",
        }
    }
}
