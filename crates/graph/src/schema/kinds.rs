//! What parts of a schema may be set to.

use crate::codes::coded;

coded! {
    /// The kinds of parts of a schema.
    SchemaKind {
        /// A property key.
        PropertyKey = 1, "PROPERTY_KEY";
        /// A vertex label.
        VertexLabel = 2, "VERTEX_LABEL";
        /// An edge label.
        EdgeLabel = 3, "EDGE_LABEL";
        /// An index label.
        IndexLabel = 4, "INDEX_LABEL";
    }
}

impl SchemaKind {
    /// How messages call it.
    pub fn readable_name(self) -> &'static str {
        match self {
            Self::PropertyKey => "property key",
            Self::VertexLabel => "vertex label",
            Self::EdgeLabel => "edge label",
            Self::IndexLabel => "index label",
        }
    }
}

coded! {
    /// What becomes of a value that is written where there is one.
    AggregateType {
        /// The new value counts.
        None = 0, "NONE";
        /// The greater one.
        Max = 1, "MAX";
        /// The smaller one.
        Min = 2, "MIN";
        /// Their sum.
        Sum = 3, "SUM";
        /// The old value stays.
        Old = 4, "OLD";
        /// The values of both, each once.
        Set = 5, "SET";
        /// The values of both, one after the other.
        List = 6, "LIST";
    }
}

impl AggregateType {
    /// Whether it computes with numbers or dates.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Max | Self::Min | Self::Sum)
    }

    /// Whether it unites several values.
    pub fn is_union(self) -> bool {
        matches!(self, Self::Set | Self::List)
    }

    /// Whether there may be an index on values that become so.
    pub fn is_indexable(self) -> bool {
        matches!(self, Self::None | Self::Max | Self::Min | Self::Old)
    }
}

coded! {
    /// Who writes the values of a property, and which index they get.
    WriteType {
        /// Writers of elements.
        Oltp = 1, "OLTP";
        /// Computations; no index.
        OlapCommon = 2, "OLAP_COMMON";
        /// Computations; found by value.
        OlapSecondary = 3, "OLAP_SECONDARY";
        /// Computations; found by range.
        OlapRange = 4, "OLAP_RANGE";
    }
}

impl WriteType {
    /// Whether computations write it.
    pub fn is_olap(self) -> bool {
        self != Self::Oltp
    }
}

coded! {
    /// Where the ids of vertices come from.
    IdStrategy {
        /// Primary keys, if there are some; else automatic. Only in drafts: a vertex label has one of the others.
        Default = 0, "DEFAULT";
        /// A number that is made for each new vertex.
        Automatic = 1, "AUTOMATIC";
        /// The values of the primary keys, after the number of the label.
        PrimaryKey = 2, "PRIMARY_KEY";
        /// A text that the writer gives.
        CustomizeString = 3, "CUSTOMIZE_STRING";
        /// A number that the writer gives.
        CustomizeNumber = 4, "CUSTOMIZE_NUMBER";
        /// A UUID that the writer gives.
        CustomizeUuid = 5, "CUSTOMIZE_UUID";
    }
}

coded! {
    /// How an edge label relates to others.
    EdgeLabelKind {
        /// Not at all.
        Normal = 1, "NORMAL";
        /// It unites its sub labels, and has no edges of its own.
        Parent = 2, "PARENT";
        /// Its edges count as those of its parent, too.
        Sub = 3, "SUB";
        /// Not at all; it has a link as a normal one does (HugeGraph 1.7 asks for one of all but parents).
        General = 4, "GENERAL";
    }
}

coded! {
    /// How many edges of a label there may be from one vertex to another.
    Frequency {
        /// One.
        Single = 1, "SINGLE";
        /// One for each value of the sort keys.
        Multiple = 2, "MULTIPLE";
    }
}

coded! {
    /// What is asked of an index.
    IndexKind {
        /// Equal values, of a prefix of the fields.
        Secondary = 1, "SECONDARY";
        /// A range of numbers or dates.
        Range = 2, "RANGE";
        /// Words of a text.
        Search = 3, "SEARCH";
        /// Equal values of a prefix of the fields, and a range of the next.
        Shard = 4, "SHARD";
        /// No two elements with equal values.
        Unique = 5, "UNIQUE";
    }
}

coded! {
    /// The type of an index: its kind; of ranges also what of.
    IndexType {
        /// Equal values, of a prefix of the fields.
        Secondary = 1, "SECONDARY";
        /// A range of bytes or ints.
        RangeInt = 2, "RANGE_INT";
        /// A range of floats.
        RangeFloat = 3, "RANGE_FLOAT";
        /// A range of longs or dates.
        RangeLong = 4, "RANGE_LONG";
        /// A range of doubles.
        RangeDouble = 5, "RANGE_DOUBLE";
        /// Words of a text.
        Search = 6, "SEARCH";
        /// Equal values of a prefix of the fields, and a range of the next.
        Shard = 7, "SHARD";
        /// No two elements with equal values.
        Unique = 8, "UNIQUE";
    }
}

impl IndexType {
    /// What is asked of it.
    pub fn kind(self) -> IndexKind {
        match self {
            Self::Secondary => IndexKind::Secondary,
            Self::RangeInt | Self::RangeFloat | Self::RangeLong | Self::RangeDouble => IndexKind::Range,
            Self::Search => IndexKind::Search,
            Self::Shard => IndexKind::Shard,
            Self::Unique => IndexKind::Unique,
        }
    }
}

coded! {
    /// The state of a part of a schema.
    SchemaStatus {
        /// In use.
        Created = 1, "CREATED";
        /// An index that is written, but not read: elements that were there before are being entered.
        Creating = 2, "CREATING";
        /// An index that is built anew: written, but not read.
        Rebuilding = 3, "REBUILDING";
        /// About to go.
        Deleting = 4, "DELETING";
        /// Gone.
        Deleted = 5, "DELETED";
        /// Its removal failed.
        Undeleted = 6, "UNDELETED";
        /// An index whose build failed or was cancelled.
        Invalid = 7, "INVALID";
    }
}
