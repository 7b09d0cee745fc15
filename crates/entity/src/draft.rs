//! An entity, or a part of one, as a client gives it: owned, not yet stored.

use smallvec::SmallVec;
use store::Timestamp;

use crate::TermId;

/// What a client sent of one entity; what an operation makes of it is `apply`'s business.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The entity's id (a URI); front ends check its form.
    pub id: Box<str>,
    /// Its types; empty where the client gave none.
    pub types: SmallVec<[TermId; 1]>,
    /// Its scopes; `None` where the client said nothing of them.
    pub scopes: Option<Vec<Box<str>>>,
    /// When it ceases to be (transient entities).
    pub expires_at: Option<Timestamp>,
    /// Its attributes, each name once, in the order they were sent.
    pub attributes: Vec<Attribute>,
}

/// One attribute and its instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: TermId,
    /// Its instances, distinguished by `dataset`, in the order they were sent.
    pub instances: SmallVec<[Instance; 1]>,
}

/// The kind of an attribute (NGSI-LD 4.5.2 to 4.5.24). Numbers are stored: never reuse one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Kind {
    /// A JSON value, or a JSON-LD typed value.
    Property = 1,
    /// A GeoJSON geometry.
    GeoProperty = 2,
    /// A URI or an array of URIs.
    Relationship = 3,
    /// An object of strings or string arrays by language tag.
    LanguageProperty = 4,
    /// An IRI or an array of IRIs.
    VocabProperty = 5,
    /// Any JSON, never expanded.
    JsonProperty = 6,
    /// An ordered array of JSON values.
    ListProperty = 7,
    /// An ordered array of URIs.
    ListRelationship = 8,
}

/// One instance of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What kind of value it has; `None` where the client did not say and it follows from what is stored
    /// (a partial update): then it is the stored instance's kind, or else a Property's.
    pub kind: Option<Kind>,
    /// The datasetId (a URI); `None` is the default instance.
    pub dataset: Option<Box<str>>,
    /// Canonical JSON text; `None` where a partial update leaves it as it is.
    pub value: Option<Box<str>>,
    /// When the value was observed.
    pub observed_at: Option<Timestamp>,
    /// The unit (UN/CEFACT common code, usually).
    pub unit_code: Option<Box<str>>,
    /// When the instance ceases to be.
    pub expires_at: Option<Timestamp>,
    /// Members that are neither attributes nor named above: canonical JSON text by tag.
    pub extras: SmallVec<[(Extra, Box<str>); 1]>,
    /// Sub-attributes (NGSIv2: metadata).
    pub members: Vec<Attribute>,
    /// The client asked for this instance's removal (`urn:ngsi-ld:null`).
    pub remove: bool,
    /// Members of this instance a merge removes (`urn:ngsi-ld:null`), by name.
    pub remove_members: Vec<TermId>,
    /// Members that are no attributes and that a merge removes (`urn:ngsi-ld:null`).
    pub remove_fields: SmallVec<[Field; 1]>,
}

/// A member of an instance that is no attribute and can be removed alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Field {
    /// observedAt
    ObservedAt,
    /// unitCode
    UnitCode,
    /// expiresAt
    ExpiresAt,
    /// A member that rides along.
    Extra(Extra),
}

/// Members of an instance that ride along. Numbers are stored: never reuse one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Extra {
    /// objectType of a Relationship: an IRI or an array of IRIs.
    ObjectType = 1,
    /// valueType of a Property: an IRI or an array.
    ValueType = 2,
    /// The NGSIv2 attribute or metadata type, a JSON string.
    V2Type = 3,
    /// ngsildproof, any JSON.
    Proof = 4,
}

impl Draft {
    /// Its scopes; none where the client said nothing of them.
    pub fn scopes(&self) -> &[Box<str>] {
        self.scopes.as_deref().unwrap_or_default()
    }
}

impl Instance {
    /// An instance of `kind` with this value and nothing else.
    pub fn new(kind: Kind, value: impl Into<Box<str>>) -> Self {
        Self {
            kind: Some(kind),
            dataset: None,
            value: Some(value.into()),
            observed_at: None,
            unit_code: None,
            expires_at: None,
            extras: SmallVec::new(),
            members: Vec::new(),
            remove: false,
            remove_members: Vec::new(),
            remove_fields: SmallVec::new(),
        }
    }
}

impl Kind {
    /// The kind of a stored number.
    pub fn from_stored(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Property,
            2 => Self::GeoProperty,
            3 => Self::Relationship,
            4 => Self::LanguageProperty,
            5 => Self::VocabProperty,
            6 => Self::JsonProperty,
            7 => Self::ListProperty,
            8 => Self::ListRelationship,
            _ => return None,
        })
    }
}

impl Extra {
    /// The tag of a stored number.
    pub fn from_stored(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::ObjectType,
            2 => Self::ValueType,
            3 => Self::V2Type,
            4 => Self::Proof,
            _ => return None,
        })
    }
}
