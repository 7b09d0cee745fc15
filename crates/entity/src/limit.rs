//! Named limits, and what goes beyond one of them.

use std::fmt;

/// Which limit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LimitName {
    /// Bytes of a stored entity.
    EntityBytes,
    /// Bytes of an entity's id.
    IdBytes,
    /// Bytes of a scope.
    ScopeBytes,
    /// Types of an entity.
    Types,
    /// Scopes of an entity.
    Scopes,
    /// Attributes of an entity.
    Attributes,
    /// Sub-attributes of an instance of an attribute.
    SubAttributes,
    /// Instances of an attribute.
    Instances,
    /// Index rows of an entity: one commit must be able to replace them all.
    IndexRows,
    /// Bytes of the index rows of an entity.
    IndexBytes,
    /// Bytes of the name of a type or attribute.
    NameBytes,
    /// Names of types and attributes of a tenant.
    Names,
    /// Bytes of a consumer's name.
    ConsumerNameBytes,
    /// Consumers of a tenant.
    Consumers,
    /// Entities that a query looks at.
    ScannedEntities {
        /// Whether attributes that it asks for are being indexed, so that it may fit later.
        is_indexing: bool,
    },
    /// Entities that a query follows Relationships to.
    LinkedEntities,
    /// Sorted entities that offset and limit reach to.
    SortedEntities,
    /// Bytes of the keys that entities are sorted by.
    SortKeyBytes,
    /// Instances of one attribute at the same time, which one answer must hold together.
    InstancesOfOneTime,
}

/// Something that is beyond a limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// Which limit.
    pub name: LimitName,
    /// The most that is allowed.
    pub max: usize,
    /// How much there is; at least so much, where nobody counted to the end.
    pub got: usize,
}

impl LimitName {
    /// What the constant or the setting is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EntityBytes => "entity_bytes_max",
            Self::IdBytes => "ID_BYTES_MAX",
            Self::ScopeBytes => "SCOPE_BYTES_MAX",
            Self::Types => "TYPES_MAX",
            Self::Scopes => "SCOPES_MAX",
            Self::Attributes => "ATTRIBUTES_MAX",
            Self::SubAttributes => "SUB_ATTRIBUTES_MAX",
            Self::Instances => "INSTANCES_MAX",
            Self::IndexRows => "ENTITY_INDEX_ROWS_MAX",
            Self::IndexBytes => "ENTITY_INDEX_BYTES_MAX",
            Self::NameBytes => "NAME_BYTES_MAX",
            Self::Names => "terms_max",
            Self::ConsumerNameBytes => "CONSUMER_NAME_BYTES_MAX",
            Self::Consumers => "CONSUMERS_MAX",
            Self::ScannedEntities { .. } | Self::LinkedEntities => "scan_entities_max",
            Self::SortedEntities => "sort_entities_max",
            Self::SortKeyBytes => "KEYS_BYTES_MAX",
            Self::InstancesOfOneTime => "instances_max",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, max, got } = self;
        let label = name.as_str();
        let of_entity = |out: &mut fmt::Formatter<'_>, parts: &str| {
            write!(out, "an entity of {got} {parts}: at most {max} are allowed ({label})")
        };
        match name {
            LimitName::EntityBytes => of_entity(out, "bytes as it is stored"),
            LimitName::Types => of_entity(out, "types"),
            LimitName::Scopes => of_entity(out, "scopes"),
            LimitName::Attributes => of_entity(out, "attributes"),
            LimitName::IdBytes => write!(out, "an id of {got} bytes: at most {max} are allowed ({label})"),
            LimitName::ScopeBytes => {
                write!(out, "a scope of {got} bytes: at most {max} are allowed ({label})")
            }
            LimitName::SubAttributes => {
                write!(out, "an attribute of {got} sub-attributes: at most {max} are allowed ({label})")
            }
            LimitName::Instances => {
                write!(out, "an attribute of {got} instances: at most {max} are allowed ({label})")
            }
            LimitName::IndexRows => write!(
                out,
                "the entity has {got} index rows, at most {max} are allowed ({label}): one for each type with each attribute and \
                 each value of its arrays"
            ),
            LimitName::IndexBytes => write!(
                out,
                "the entity has index rows of {got} bytes, at most {max} are allowed ({label}): one for each type with each \
                 attribute and each value of its arrays, each with the entity's id"
            ),
            LimitName::NameBytes => {
                write!(out, "a name of {got} bytes: at most {max} are allowed ({label})")
            }
            LimitName::Names => write!(out, "more than {max} names of types and attributes ({label})"),
            LimitName::ConsumerNameBytes => {
                write!(out, "a consumer's name of {got} bytes: 1 to {max} are allowed ({label})")
            }
            LimitName::Consumers => write!(out, "more than {max} consumers of a tenant's entities ({label})"),
            LimitName::ScannedEntities { is_indexing } => {
                write!(out, "the query looks at more than {max} entities ({label})")?;
                match is_indexing {
                    true => out.write_str("; what it asks for is being indexed: try again later"),
                    false => Ok(()),
                }
            }
            LimitName::LinkedEntities => {
                write!(out, "the query follows links to more than {max} entities ({label})")
            }
            LimitName::SortedEntities => {
                write!(out, "offset and limit reach beyond {max} sorted entities ({label})")
            }
            LimitName::SortKeyBytes => write!(
                out,
                "what entities are sorted by takes more than {max} bytes ({label}): ask for fewer, or for fewer keys"
            ),
            LimitName::InstancesOfOneTime => write!(
                out,
                "an attribute has more than {max} instances of the same time, which one answer must hold together ({label})"
            ),
        }
    }
}
