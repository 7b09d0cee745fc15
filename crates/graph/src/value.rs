//! Values of properties: their types, one value, several, and all properties of an element as they are stored.

mod kinds;
mod scalar;
mod properties;
#[cfg(test)]
mod tests;

pub use kinds::{Cardinality, DataType};
pub use properties::{
    Properties, PropertiesBuilder, PropertiesIter, PropertiesRef, ScalarsIter, ScalarsRef, ValueRef,
};
pub use scalar::{Scalar, ScalarRef};

/// What a property has: one value, or several.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// That of a property key of cardinality SINGLE.
    One(Scalar),
    /// Those of a LIST, or of a SET: each once.
    Many(Vec<Scalar>),
}

impl Value {
    /// The values one by one.
    pub fn scalars(&self) -> &[Scalar] {
        match self {
            Self::One(scalar) => std::slice::from_ref(scalar),
            Self::Many(scalars) => scalars,
        }
    }
}
