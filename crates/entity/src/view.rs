//! The stored form of an entity, read in place: nothing is copied, nothing is built.
//! The layout stands in `encode.rs`.

#[cfg(test)]
mod tests;

use store::Timestamp;
use store::wire::Reader;

use crate::encode::{
    FLAG_DATASET, FLAG_EXPIRES, FLAG_EXTRAS, FLAG_OBSERVED, FLAG_TRANSIENT, FLAG_UNIT, FORMAT,
};
use crate::{Extra, Kind, TermId};

/// Stored bytes that are no entity of a known format.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("stored bytes are no entity")]
pub struct Malformed;

/// Reads fields off the front of stored bytes, for views that read some hundred of them a microsecond: short ones in place, all others by
/// [`Reader`].
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Begins at the first byte.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What was not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether everything was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A time of eight bytes.
    #[inline]
    pub fn time(&mut self) -> Option<Timestamp> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(Timestamp(i64::from_le_bytes(*first)))
    }

    /// A number of variable length.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        match *self.0 {
            [low, ref rest @ ..] if low < 0x80 => {
                self.0 = rest;
                Some(u64::from(low))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Option<u64> {
        let mut reader = Reader::new(self.0);
        let number = reader.varint().ok()?;
        self.0 = reader.rest();
        Some(number)
    }

    /// A term.
    #[inline]
    pub fn term(&mut self) -> Option<TermId> {
        self.number().and_then(|number| u32::try_from(number).ok()).map(TermId)
    }

    /// Bytes with their length before them.
    #[inline]
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    /// A text with its length before it.
    #[inline]
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// A stored entity.
#[derive(Clone, Copy, Debug)]
pub struct EntityView<'a> {
    whole: &'a [u8],
    created_at: Timestamp,
    modified_at: Timestamp,
    expires_at: Option<Timestamp>,
    transient: bool,
    names: &'a [u8],
    id: &'a [u8],
    types: (u64, Fields<'a>),
    scopes: (u64, Fields<'a>),
    scoped_at: Option<Timestamp>,
    attributes: Fields<'a>,
}

impl<'a> EntityView<'a> {
    /// Reads the header and checks the bounds of every attribute. Cost: a few dozen nanoseconds.
    ///
    /// # Errors
    ///
    /// If the bytes are no entity of a known format.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let view = Self::peek(bytes)?;
        std::str::from_utf8(view.id).map_err(|_| Malformed)?;
        let mut rest = view.attributes;
        while !rest.is_empty() {
            rest.term().and_then(|_| rest.bytes()).ok_or(Malformed)?;
        }
        Ok(view)
    }

    /// Reads the header alone, for readers that mostly pass over entities: no more of the bytes is
    /// touched than is asked for, and attributes end where they are damaged.
    ///
    /// # Errors
    ///
    /// If the header is none of a known format.
    #[inline]
    pub fn peek(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::header(bytes).ok_or(Malformed)
    }

    fn header(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        if fields.byte()? != FORMAT {
            return None;
        }
        let (created_at, modified_at) = (fields.time()?, fields.time()?);
        let flags = fields.byte()?;
        let expires_at = if flags & FLAG_EXPIRES == 0 { None } else { Some(fields.time()?) };
        let names = fields.rest();
        let id = fields.bytes()?;
        let types = (fields.number()?, fields);
        for _ in 0..types.0 {
            fields.term()?;
        }
        let count = fields.number()?;
        let scoped_at = if count == 0 { None } else { Some(fields.time()?) };
        let scopes = (count, fields);
        for _ in 0..scopes.0 {
            fields.bytes()?;
        }
        Some(Self {
            whole: bytes,
            created_at,
            modified_at,
            expires_at,
            transient: flags & FLAG_TRANSIENT != 0,
            names: names.get(..names.len() - fields.rest().len())?,
            id,
            types,
            scopes,
            scoped_at,
            attributes: fields,
        })
    }

    /// The stored bytes.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.whole
    }

    /// The stored bytes before the attributes.
    #[inline]
    pub fn head(&self) -> &'a [u8] {
        let end = self.whole.len() - self.attributes.rest().len();
        self.whole.get(..end).expect("attributes are the end of an entity")
    }

    /// The stored bytes of id, types and scopes.
    #[inline]
    pub fn names(&self) -> &'a [u8] {
        self.names
    }

    /// The id.
    #[inline]
    pub fn id(&self) -> &'a str {
        std::str::from_utf8(self.id).unwrap_or_default()
    }

    /// When it was created.
    #[inline]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[inline]
    pub fn modified_at(&self) -> Timestamp {
        self.modified_at
    }

    /// When it ceases to be.
    #[inline]
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Whether it, or an instance of one of its attributes, ceases to be at some time.
    #[inline]
    pub fn is_transient(&self) -> bool {
        self.transient
    }

    /// The types, in the order they were given.
    #[inline]
    pub fn types(&self) -> impl Iterator<Item = TermId> + use<'a> {
        let (count, mut fields) = self.types;
        (0..count).map_while(move |_| fields.term())
    }

    /// The scopes, in the order they were given.
    #[inline]
    pub fn scopes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (count, mut fields) = self.scopes;
        (0..count).map_while(move |_| fields.text())
    }

    /// Since when it has had scopes, whichever; `None` if it has none.
    #[inline]
    pub fn scoped_at(&self) -> Option<Timestamp> {
        self.scoped_at
    }

    /// The attributes, in the order they were first written.
    #[inline]
    pub fn attributes(&self) -> impl Iterator<Item = AttributeView<'a>> + Clone + use<'a> {
        attributes(self.attributes)
    }

    /// The attribute of this name. Cost: passes over those before it.
    #[inline]
    pub fn attribute(&self, name: TermId) -> Option<AttributeView<'a>> {
        self.attributes().find(|attribute| attribute.name == name)
    }
}

pub(crate) fn attributes<'a>(
    mut fields: Fields<'a>,
) -> impl Iterator<Item = AttributeView<'a>> + Clone + use<'a> {
    std::iter::from_fn(move || {
        let whole = fields.rest();
        let name = fields.term()?;
        let instances = fields.bytes()?;
        let length = whole.len() - fields.rest().len();
        Some(AttributeView { name, whole: whole.get(..length)?, instances: Fields::new(instances) })
    })
}

/// A stored attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttributeView<'a> {
    name: TermId,
    whole: &'a [u8],
    instances: Fields<'a>,
}

impl<'a> AttributeView<'a> {
    /// The name.
    #[inline]
    pub fn name(&self) -> TermId {
        self.name
    }

    /// The stored bytes: name, length and instances.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.whole
    }

    /// The instances, in the order they were first written.
    #[inline]
    pub fn instances(&self) -> impl Iterator<Item = InstanceView<'a>> + use<'a> {
        let mut fields = self.instances;
        std::iter::from_fn(move || {
            let whole = fields.rest();
            let body = fields.bytes()?;
            let length = whole.len() - fields.rest().len();
            InstanceView::body(body, whole.get(..length)?)
        })
    }

    /// The instance with this datasetId (`None`: the default instance).
    #[inline]
    pub fn instance(&self, dataset: Option<&str>) -> Option<InstanceView<'a>> {
        self.instances().find(|instance| instance.dataset == dataset.map(str::as_bytes))
    }
}

/// A stored instance of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct InstanceView<'a> {
    whole: &'a [u8],
    kind: Kind,
    created_at: Timestamp,
    modified_at: Timestamp,
    observed_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    /// Texts are checked when they are read: most instances are passed over.
    dataset: Option<&'a [u8]>,
    unit_code: Option<&'a [u8]>,
    value: &'a [u8],
    extras: (u64, Fields<'a>),
    members: Fields<'a>,
}

impl<'a> InstanceView<'a> {
    /// Reads the body of an instance; `whole` is what [`Self::bytes`] answers.
    pub fn body(body: &'a [u8], whole: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        let kind = Kind::from_stored(fields.byte()?)?;
        let flags = fields.byte()?;
        let (created_at, modified_at) = (fields.time()?, fields.time()?);
        let observed_at = if flags & FLAG_OBSERVED == 0 { None } else { Some(fields.time()?) };
        let expires_at = if flags & FLAG_EXPIRES == 0 { None } else { Some(fields.time()?) };
        let dataset = if flags & FLAG_DATASET == 0 { None } else { Some(fields.bytes()?) };
        let unit_code = if flags & FLAG_UNIT == 0 { None } else { Some(fields.bytes()?) };
        let value = fields.bytes()?;
        let count = if flags & FLAG_EXTRAS == 0 { 0 } else { fields.number()? };
        let extras = (count, fields);
        for _ in 0..count {
            fields.byte()?;
            fields.bytes()?;
        }
        Some(Self {
            whole,
            kind,
            created_at,
            modified_at,
            observed_at,
            expires_at,
            dataset,
            unit_code,
            value,
            extras,
            members: fields,
        })
    }

    /// The stored bytes: length and body.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.whole
    }

    /// What kind of value it holds.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// When it was created.
    #[inline]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[inline]
    pub fn modified_at(&self) -> Timestamp {
        self.modified_at
    }

    /// When the value was observed.
    #[inline]
    pub fn observed_at(&self) -> Option<Timestamp> {
        self.observed_at
    }

    /// When it ceases to be.
    #[inline]
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// The datasetId; `None` for the default instance.
    #[inline]
    pub fn dataset(&self) -> Option<&'a str> {
        self.dataset.and_then(|dataset| std::str::from_utf8(dataset).ok())
    }

    /// The unit.
    #[inline]
    pub fn unit_code(&self) -> Option<&'a str> {
        self.unit_code.and_then(|unit| std::str::from_utf8(unit).ok())
    }

    /// The value: canonical JSON text. Cost: a check of its bytes; damaged ones read as `null`.
    #[inline]
    pub fn value(&self) -> &'a str {
        std::str::from_utf8(self.value).unwrap_or("null")
    }

    /// How many bytes the value takes. Cost: none of them is read.
    #[inline]
    pub fn value_length(&self) -> usize {
        self.value.len()
    }

    /// Members that ride along: canonical JSON text by tag.
    #[inline]
    pub fn extras(&self) -> impl Iterator<Item = (Extra, &'a str)> + use<'a> {
        let (count, mut fields) = self.extras;
        (0..count).map_while(move |_| Some((Extra::from_stored(fields.byte()?)?, fields.text()?)))
    }

    /// How many extras there are, and the stored bytes of extras and members.
    #[inline]
    pub fn tail(&self) -> (u64, &'a [u8]) {
        (self.extras.0, self.extras.1.rest())
    }

    /// The stored bytes of the members.
    #[inline]
    pub fn member_bytes(&self) -> &'a [u8] {
        self.members.rest()
    }

    /// Sub-attributes.
    #[inline]
    pub fn members(&self) -> impl Iterator<Item = AttributeView<'a>> + Clone + use<'a> {
        attributes(self.members)
    }

    /// The sub-attribute of this name.
    #[inline]
    pub fn member(&self, name: TermId) -> Option<AttributeView<'a>> {
        self.members().find(|member| member.name == name)
    }
}
