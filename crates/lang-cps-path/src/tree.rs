//! A path as a tree.

use std::borrow::Cow;

/// A CPS path: the nodes that it starts from, what they must hold, and what is answered instead of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CpsPath {
    /// From where the first step goes.
    pub origin: Origin,
    /// Containers and lists, each below the one before it. None: the path `/`, all that is at the top.
    pub steps: Vec<Step>,
    /// `/leaf[text()='value']`: what a leaf or leaf-list of the last step must hold.
    pub text: Option<TextCondition>,
    /// `[contains(@leaf,'part')]`: what a leaf of the last step must contain.
    pub contains: Option<Contains>,
    /// `/ancestor::a/b`: the end of the path of the ancestors that are answered instead. None: no ancestors are asked for.
    pub ancestor: Vec<Step>,
    /// `/@leaf`: the leaf whose distinct values are answered instead.
    pub attribute: Option<Name>,
}

/// Where the first step of a path begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// `/`: at the top.
    Absolute,
    /// `//`: anywhere.
    Descendant,
}

/// One container or list, and what it must hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: Name,
    /// What it must hold.
    pub predicate: Predicate,
}

/// The name of a container, list or leaf.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name {
    /// What is before the `:`, if there is one: the prefix or name of a module.
    pub prefix: Option<Box<str>>,
    /// The name itself.
    pub local: Box<str>,
}

/// Leaf conditions, as alternatives (`or`) of conditions that hold together (`and`, which binds tighter).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Predicate {
    /// None: everything matches. No alternative is empty.
    pub alternatives: Vec<Vec<LeafCondition>>,
}

/// `@leaf = value`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeafCondition {
    /// Which leaf.
    pub leaf: Name,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub value: Literal,
}

/// How a leaf is compared with a literal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `>`.
    Greater,
    /// `<`.
    Less,
    /// `>=`.
    GreaterOrEqual,
    /// `<=`.
    LessOrEqual,
}

impl Comparison {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Greater => ">",
            Self::Less => "<",
            Self::GreaterOrEqual => ">=",
            Self::LessOrEqual => "<=",
        }
    }
}

/// A value of a condition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Literal {
    /// Digits, perhaps with a minus: any number of 64 bits, with or without sign.
    Integer(i128),
    /// What stands between quotes, doubled quotes made single.
    Text(Box<str>),
}

impl Literal {
    /// The text of it: of an integer its digits. Cost: O(length).
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Integer(number) => Cow::Owned(number.to_string()),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// `/leaf[text()='value']`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TextCondition {
    /// The leaf or leaf-list.
    pub leaf: Name,
    /// The whole value of the leaf, or of an entry of the leaf-list.
    pub value: Box<str>,
}

/// `[contains(@leaf,'part')]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Contains {
    /// The leaf.
    pub leaf: Name,
    /// The part of its value.
    pub part: Box<str>,
}

impl CpsPath {
    /// Whether this is `/`, the top of a tree.
    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether the path names nodes by steps from the top alone, without `text()`, `contains()`, ancestors or an attribute: the
    /// form that addresses a node to be read or written.
    pub fn is_address(&self) -> bool {
        self.origin == Origin::Absolute
            && self.text.is_none()
            && self.contains.is_none()
            && self.ancestor.is_empty()
            && self.attribute.is_none()
    }
}

impl Predicate {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// The conditions, if they are equalities that hold together, as the keys of a list entry are given; none of an empty one.
    pub fn equalities(&self) -> Option<&[LeafCondition]> {
        match self.alternatives.as_slice() {
            [] => Some(&[]),
            [all] if all.iter().all(|one| one.comparison == Comparison::Equal) => Some(all),
            _ => None,
        }
    }

    /// All conditions, in the order of the text.
    pub fn conditions(&self) -> impl Iterator<Item = &LeafCondition> {
        self.alternatives.iter().flatten()
    }
}
