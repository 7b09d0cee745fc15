//! The numbers that stand for the parts of a schema in keys and stored values. Each kind of part is counted from 1, and a number
//! is never given twice.

/// Defines a number of one kind of part of a schema.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub u32);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// The number of a property key.
    PropertyKeyId
}
number! {
    /// The number of a vertex label or of an edge label: each of the two kinds has numbers of its own.
    LabelId
}
number! {
    /// The number of an index label.
    IndexLabelId
}
