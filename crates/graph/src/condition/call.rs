//! The text form of a predicate: `P.gt(18)`. What is between the parentheses is left to who knows JSON.

/// What a predicate asks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Predicate {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// From the first value on, less than the second.
    Between,
    /// Greater than the first value, less than the second.
    Inside,
    /// Less than the first value, or greater than the second.
    Outside,
    /// Equal to one of the values.
    Within,
    /// A text with the value in it.
    TextContains,
    /// Several values, one of which is equal.
    Contains,
}

/// A predicate as text, with what is between its parentheses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PredicateCall<'a> {
    /// What it asks.
    pub predicate: Predicate,
    /// Its values, as they were written: JSON values with commas between them.
    pub values: &'a str,
}

/// Why a text that begins like a predicate is none.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CallError {
    /// It is not of the form `P.name(values)`.
    #[error("Invalid predicate: {0}")]
    Form(Box<str>),
    /// There is no predicate of this name.
    #[error("Not support predicate '{0}'")]
    Unknown(Box<str>),
}

/// What predicates begin with.
const BEGIN: &str = "P.";

impl Predicate {
    /// All.
    pub const ALL: [Self; 12] = [
        Self::Eq,
        Self::Neq,
        Self::Lt,
        Self::Lte,
        Self::Gt,
        Self::Gte,
        Self::Between,
        Self::Inside,
        Self::Outside,
        Self::Within,
        Self::TextContains,
        Self::Contains,
    ];

    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Neq => "neq",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Between => "between",
            Self::Inside => "inside",
            Self::Outside => "outside",
            Self::Within => "within",
            Self::TextContains => "textcontains",
            Self::Contains => "contains",
        }
    }

    /// Whether it asks which value is greater.
    pub fn is_order(self) -> bool {
        match self {
            Self::Lt | Self::Lte | Self::Gt | Self::Gte | Self::Between | Self::Inside | Self::Outside => {
                true
            }
            Self::Eq | Self::Neq | Self::Within | Self::TextContains | Self::Contains => false,
        }
    }
}

impl<'a> PredicateCall<'a> {
    /// What a text says, if it begins like a predicate; else it is a plain value.
    ///
    /// # Errors
    ///
    /// [`CallError`] if it only begins so.
    pub fn parse(text: &'a str) -> Option<Result<Self, CallError>> {
        let call = text.strip_prefix(BEGIN)?;
        Some(Self::parse_call(call).unwrap_or_else(|| Err(CallError::Form(text.into()))))
    }

    fn parse_call(call: &'a str) -> Option<Result<Self, CallError>> {
        let (name, values) = call.strip_suffix(')')?.split_once('(')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        // No line ends, as the original has it.
        if !is_name || values.contains(|next: char| next.is_ascii_whitespace() && next != ' ') {
            return None;
        }
        let found = Predicate::ALL.into_iter().find(|predicate| predicate.name() == name);
        Some(match found {
            Some(predicate) => Ok(Self { predicate, values }),
            None => Err(CallError::Unknown(name.into())),
        })
    }
}

impl std::fmt::Display for PredicateCall<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{BEGIN}{}({})", self.predicate.name(), self.values)
    }
}
