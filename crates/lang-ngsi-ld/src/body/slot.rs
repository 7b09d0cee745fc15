//! The kinds of attributes, and the member that holds the value of each.

use model_entities::Kind;

/// The member that holds the value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Slot {
    Value,
    Object,
    LanguageMap,
    Vocab,
    Json,
    ValueList,
    ObjectList,
}

impl Slot {
    /// The slot that a member of this name is.
    pub(super) fn of(member: &str) -> Option<Self> {
        Some(match member {
            "value" => Self::Value,
            "object" => Self::Object,
            "languageMap" => Self::LanguageMap,
            "vocab" => Self::Vocab,
            "json" => Self::Json,
            "valueList" => Self::ValueList,
            "objectList" => Self::ObjectList,
            _ => return None,
        })
    }

    /// The slot of a kind.
    pub(super) fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Property | Kind::GeoProperty => Self::Value,
            Kind::Relationship => Self::Object,
            Kind::LanguageProperty => Self::LanguageMap,
            Kind::VocabProperty => Self::Vocab,
            Kind::JsonProperty => Self::Json,
            Kind::ListProperty => Self::ValueList,
            Kind::ListRelationship => Self::ObjectList,
        }
    }

    /// The member's name.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Object => "object",
            Self::LanguageMap => "languageMap",
            Self::Vocab => "vocab",
            Self::Json => "json",
            Self::ValueList => "valueList",
            Self::ObjectList => "objectList",
        }
    }

    /// The kind of an attribute that holds its value here and does not say its type, be it not a geometry.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Value => Kind::Property,
            Self::Object => Kind::Relationship,
            Self::LanguageMap => Kind::LanguageProperty,
            Self::Vocab => Kind::VocabProperty,
            Self::Json => Kind::JsonProperty,
            Self::ValueList => Kind::ListProperty,
            Self::ObjectList => Kind::ListRelationship,
        }
    }
}

/// The slot whose value before a change is in the member of this name, in notifications.
pub(super) fn previous_slot(name: &str) -> Option<Slot> {
    Some(match name {
        "previousValue" => Slot::Value,
        "previousObject" => Slot::Object,
        "previousLanguageMap" => Slot::LanguageMap,
        "previousVocab" => Slot::Vocab,
        "previousJson" => Slot::Json,
        "previousValueList" => Slot::ValueList,
        "previousObjectList" => Slot::ObjectList,
        _ => return None,
    })
}

/// The kind of an attribute by the name of its type, short or as IRI.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    Some(match name.strip_prefix("https://uri.etsi.org/ngsi-ld/").unwrap_or(name) {
        "Property" => Kind::Property,
        "GeoProperty" => Kind::GeoProperty,
        "Relationship" => Kind::Relationship,
        "LanguageProperty" => Kind::LanguageProperty,
        "VocabProperty" | "VocabularyProperty" => Kind::VocabProperty,
        "JsonProperty" => Kind::JsonProperty,
        "ListProperty" => Kind::ListProperty,
        "ListRelationship" => Kind::ListRelationship,
        _ => return None,
    })
}
