//! Which values a property may have: the type of one value, and how many there are.

use crate::codes::coded;

coded! {
    /// The type of a single value.
    DataType {
        /// Any value: stored as the JSON text that was given.
        Object = 1, "OBJECT";
        /// True or false.
        Boolean = 2, "BOOLEAN";
        /// A signed number of one byte.
        Byte = 3, "BYTE";
        /// A signed number of four bytes.
        Int = 4, "INT";
        /// A signed number of eight bytes.
        Long = 5, "LONG";
        /// A float of four bytes.
        Float = 6, "FLOAT";
        /// A float of eight bytes.
        Double = 7, "DOUBLE";
        /// Text in UTF-8.
        Text = 8, "TEXT";
        /// Bytes.
        Blob = 9, "BLOB";
        /// A moment in milliseconds, UTC.
        Date = 10, "DATE";
        /// A number of 128 bits.
        Uuid = 11, "UUID";
    }
}

impl DataType {
    /// Whether its values are numbers: byte, int, long, float or double.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Byte | Self::Int | Self::Long | Self::Float | Self::Double)
    }
}

coded! {
    /// How many values a property has.
    Cardinality {
        /// One.
        Single = 1, "SINGLE";
        /// Any number, in order, repeated ones too.
        List = 2, "LIST";
        /// Any number, each once.
        Set = 3, "SET";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back() {
        for kind in DataType::ALL {
            assert_eq!(DataType::from_code(kind.code()), Some(*kind));
            assert_eq!(DataType::from_name(kind.name()), Some(*kind));
        }
        for kind in Cardinality::ALL {
            assert_eq!(Cardinality::from_code(kind.code()), Some(*kind));
            assert_eq!(Cardinality::from_name(kind.name()), Some(*kind));
        }
        assert_eq!((DataType::from_code(0), DataType::from_name("text")), (None, None));
    }
}
