//! What an operation asks of a body.

/// The NGSI-LD null (4.5.0): asks for a removal.
pub(crate) const NULL: &str = "urn:ngsi-ld:null";

/// In which representation attributes are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Representation {
    /// Normalized (4.5.2.2) or concise (4.5.2.3), told apart attribute by attribute.
    Normalized,
    /// Simplified (4.5.4), `keyValues`: the value alone.
    Simplified,
}

/// What `urn:ngsi-ld:null` does (5.5.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nulls {
    /// It is refused.
    Refused,
    /// It asks for the removal of an attribute or of a member of one, and must not be within a value (5.5.8).
    Deletes,
    /// It asks for removal, of what is within a value, too (5.5.12).
    Merges,
    /// As the value of an attribute it says that the attribute was removed (4.5.7).
    Records,
}

impl Nulls {
    /// Whether it asks for the removal of the member it is the value of.
    pub(super) const fn remove(self) -> bool {
        match self {
            Self::Deletes | Self::Merges => true,
            Self::Refused | Self::Records => false,
        }
    }
}

/// What an operation asks of a body.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The body must name the entity.
    pub id_required: bool,
    /// The body must name a type.
    pub type_required: bool,
    /// How attributes are written.
    pub representation: Representation,
    /// What `urn:ngsi-ld:null` does.
    pub nulls: Nulls,
    /// Instances may come without value or type and are laid over stored ones.
    pub partial: bool,
    /// An attribute may have several instances of one datasetId: its history (4.5.6).
    pub temporal: bool,
    /// The most nested containers in the body.
    pub depth_max: usize,
}

impl Rules {
    /// A whole entity (5.6.1, batch creation and upsert): id and type are required.
    pub const fn create(depth_max: usize) -> Self {
        Self {
            id_required: true,
            type_required: true,
            representation: Representation::Normalized,
            nulls: Nulls::Refused,
            partial: false,
            temporal: false,
            depth_max,
        }
    }

    /// An entity or fragment for a URL that names it (5.6.18 replacing, 5.6.3 appending).
    pub const fn fragment(depth_max: usize) -> Self {
        Self { id_required: false, type_required: false, ..Self::create(depth_max) }
    }

    /// A fragment that replaces stored attributes whole (5.6.2): nulls remove.
    pub const fn update(depth_max: usize) -> Self {
        Self { nulls: Nulls::Deletes, ..Self::fragment(depth_max) }
    }

    /// A fragment of an attribute that is laid over what is stored (5.6.4, 5.6.14): nulls remove members, and what is left
    /// out stays.
    pub const fn patch(depth_max: usize) -> Self {
        Self { partial: true, ..Self::update(depth_max) }
    }

    /// A fragment that is merged into what is stored (5.6.17): nulls remove at any depth, and what is left out stays.
    pub const fn merge(depth_max: usize) -> Self {
        Self { nulls: Nulls::Merges, ..Self::patch(depth_max) }
    }

    /// The history of an entity (5.6.11, 5.6.12).
    pub const fn temporal(depth_max: usize) -> Self {
        Self { id_required: true, temporal: true, nulls: Nulls::Records, ..Self::fragment(depth_max) }
    }

    /// The same rules for a body that must name its entity, as an element of a batch must; or need not.
    pub const fn with_id(self, id_required: bool) -> Self {
        Self { id_required, ..self }
    }

    /// The same rules for another representation.
    pub const fn in_representation(self, representation: Representation) -> Self {
        Self { representation, ..self }
    }
}

/// Whether a canonical value asks for the removal of what holds it.
pub(super) fn asks_removal(value: &str, nulls: Nulls) -> Option<bool> {
    let null = matches!(
        value,
        "null" | r#""urn:ngsi-ld:null""# | r#"{"@none":"urn:ngsi-ld:null"}"# | r#"["urn:ngsi-ld:null"]"#
    );
    match (null, nulls) {
        (false, _) => Some(false),
        (true, Nulls::Deletes | Nulls::Merges) => Some(true),
        (true, Nulls::Records) => (value != "null").then_some(true),
        (true, Nulls::Refused) => None,
    }
}
