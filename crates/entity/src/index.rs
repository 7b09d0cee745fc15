//! The index rows of an entity: exactly those derived here stand beside it in its partition, of attributes those that
//! are indexed.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use smallvec::SmallVec;
use store::Write;

use crate::cells::cells_of_geometry;
use crate::keys::{self, IndexValue};
use crate::{AttributeView, EntityView, InstanceView, Kind, TermId};

/// Names of attributes: those that are indexed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Indexed {
    /// Whatever attribute.
    All,
    /// These, in order.
    Of(Box<[TermId]>),
    #[default]
    /// No attribute.
    None,
}

impl Indexed {
    /// Cost: a search in those that are.
    pub fn holds(&self, name: TermId) -> bool {
        match self {
            Self::All => true,
            Self::Of(names) => names.binary_search(&name).is_ok(),
            Self::None => false,
        }
    }
}

const IN_BUFFER: &str = "a row lies in the buffer of keys";

/// Rows, packed into one buffer. Once [`finished`](Self::finish): sorted by key, each key once.
#[derive(Debug, Default)]
pub struct IndexRows {
    keys: Vec<u8>,
    rows: SmallVec<[IndexRow; 8]>,
}

#[derive(Clone, Copy, Debug)]
struct IndexRow {
    start: u32,
    end: u32,
}

/// All index rows of an entity. Cost: one pass over its bytes.
pub fn index_rows(view: &EntityView<'_>, indexed: &Indexed) -> IndexRows {
    let mut rows = IndexRows::with_capacity(if *indexed == Indexed::None { 128 } else { 2048 });
    let types: SmallVec<[TermId; 4]> = view.types().collect();
    rows.add_types(view.id(), &types);
    rows.add_scopes(view.id(), view.scopes());
    rows.add_attributes(view, &types, indexed);
    if view.is_transient() {
        rows.add_expiries(view);
    }
    rows.finish();
    rows
}

/// The index rows of some attributes of an entity. Cost: one pass over its bytes.
pub fn attribute_rows(view: &EntityView<'_>, indexed: &Indexed) -> IndexRows {
    let mut rows = IndexRows::with_capacity(512);
    let types: SmallVec<[TermId; 4]> = view.types().collect();
    rows.add_attributes(view, &types, indexed);
    rows.finish();
    rows
}

impl IndexRows {
    /// Room for keys of so many bytes in all.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { keys: Vec::with_capacity(bytes), rows: SmallVec::new() }
    }

    /// Rows `T`.
    pub fn add_types(&mut self, id: &str, types: &[TermId]) {
        for of_type in types {
            self.add(|out| keys::put_type(out, *of_type, id));
        }
    }

    /// Rows `S`.
    pub fn add_scopes<'a>(&mut self, id: &str, scopes: impl Iterator<Item = &'a str>) {
        for scope in scopes {
            self.add(|out| keys::put_scope(out, scope, id));
        }
    }

    /// Rows `X`: of the entity and of its attributes' instances.
    pub fn add_expiries(&mut self, view: &EntityView<'_>) {
        let instances = view.attributes().flat_map(|attribute| attribute.instances());
        let times = instances.filter_map(|instance| instance.expires_at()).chain(view.expires_at());
        for time in times {
            self.add(|out| keys::put_expiry(out, time, view.id()));
        }
    }

    fn add_attributes(&mut self, view: &EntityView<'_>, types: &[TermId], indexed: &Indexed) {
        if *indexed == Indexed::None {
            return;
        }
        for attribute in view.attributes().filter(|attribute| indexed.holds(attribute.name())) {
            self.add_attribute(view.id(), types, &attribute);
        }
    }

    /// Rows `V` and `G` of one attribute, under each type of its entity.
    pub fn add_attribute(&mut self, id: &str, types: &[TermId], attribute: &AttributeView<'_>) {
        let Some((first_type, other_types)) = types.split_first() else {
            return;
        };
        let first = self.rows.len();
        for instance in attribute.instances() {
            self.add_instance(id, *first_type, attribute.name(), &instance);
        }
        self.sort_from(first);
        let end = self.rows.len();
        for of_type in other_types {
            for index in first..end {
                self.copy_for_type(index, *of_type);
            }
        }
    }

    fn add_instance(&mut self, id: &str, of_type: TermId, name: TermId, instance: &InstanceView<'_>) {
        let before = self.rows.len();
        let kind = instance.kind();
        each_value(kind, instance.value(), &mut |value| {
            self.add(|out| put_value(out, of_type, name, value, id));
        });
        if self.rows.len() == before {
            self.add(|out| put_value(out, of_type, name, IndexValue::Exists, id));
        }
        if kind == Kind::GeoProperty {
            for cell in cells_of_geometry(instance.value()) {
                self.add(|out| keys::put_cell(out, of_type, name, cell, id));
            }
        }
    }

    fn add(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        let start = offset(&self.keys);
        put(&mut self.keys);
        self.rows.push(IndexRow { start, end: offset(&self.keys) });
    }

    /// The row at `index` once more, with another type.
    fn copy_for_type(&mut self, index: usize, of_type: TermId) {
        let row = *self.rows.get(index).expect("one of the rows that are there");
        let start = offset(&self.keys);
        self.keys.extend_from_within(row.start as usize..row.end as usize);
        let slot = self.keys.get_mut(start as usize + 1..start as usize + 5);
        slot.expect("a key by attribute has a type").copy_from_slice(&of_type.0.to_be_bytes());
        self.rows.push(IndexRow { start, end: offset(&self.keys) });
    }

    /// Sorts all rows and drops repeated ones.
    pub fn finish(&mut self) {
        self.sort_from(0);
    }

    fn sort_from(&mut self, first: usize) {
        let keys = &self.keys;
        let key = |row: &IndexRow| keys.get(row.start as usize..row.end as usize).expect(IN_BUFFER);
        let tail = self.rows.get_mut(first..).expect("a part of the rows");
        if tail.is_sorted_by(|one, two| key(one) < key(two)) {
            return;
        }
        tail.sort_unstable_by(|one, two| key(one).cmp(key(two)));
        let mut end = first;
        for index in first..self.rows.len() {
            let row = *self.rows.get(index).expect("an index of the rows");
            let before = end.checked_sub(1).filter(|_| end > first).and_then(|before| self.rows.get(before));
            if before.is_none_or(|before| key(before) != key(&row)) {
                *self.rows.get_mut(end).expect("not behind the row that is read") = row;
                end += 1;
            }
        }
        self.rows.truncate(end);
    }

    fn key(&self, row: &IndexRow) -> &[u8] {
        self.keys.get(row.start as usize..row.end as usize).expect(IN_BUFFER)
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of their keys.
    pub fn bytes(&self) -> usize {
        self.keys().map(<[u8]>::len).sum()
    }

    /// The keys, in the order they have now.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|row| self.key(row))
    }
}

fn offset(keys: &[u8]) -> u32 {
    u32::try_from(keys.len()).expect("the index keys of an entity take less than 4 GiB")
}

fn put_value(out: &mut Vec<u8>, of_type: TermId, name: TermId, value: IndexValue<'_>, id: &str) {
    keys::put_attribute_prefix(out, keys::VALUE, of_type, name);
    value.put(out);
    out.extend_from_slice(id.as_bytes());
}

/// The values of an instance under which it is found; none where it holds no scalar.
pub fn each_value(kind: Kind, text: &str, found: &mut impl FnMut(IndexValue<'_>)) {
    match text.as_bytes().first() {
        Some(b'[') => {
            for element in lang_json::elements(text) {
                element_value(kind, element, found);
            }
        }
        Some(b'{') if kind == Kind::LanguageProperty => {
            for (_, strings) in lang_json::members(text) {
                each_value(Kind::JsonProperty, strings, found);
            }
        }
        _ => element_value(kind, text, found),
    }
}

fn element_value(kind: Kind, text: &str, found: &mut impl FnMut(IndexValue<'_>)) {
    match text.as_bytes().first() {
        Some(b'"') => {
            if let Some(text) = lang_json::string_value(text) {
                found(IndexValue::Text(&text));
            }
        }
        Some(b't') => found(IndexValue::Bool(true)),
        Some(b'f') => found(IndexValue::Bool(false)),
        Some(b'-' | b'0'..=b'9') => {
            if let Ok(number) = text.parse() {
                found(IndexValue::Number(number));
            }
        }
        Some(b'{') if !matches!(kind, Kind::JsonProperty | Kind::GeoProperty) => {
            let typed = lang_json::member(text, "@value").filter(|value| !value.starts_with(['{', '[']));
            if let Some(value) = typed {
                element_value(Kind::JsonProperty, value, found);
            }
        }
        _ => {}
    }
}

/// What turns the rows `old` into `new`, both finished: appended to `writes`.
/// Cost: one merge; one allocation for all keys.
pub fn diff(old: &IndexRows, new: &IndexRows, writes: &mut Vec<Write>) {
    let mut changes = Changes::default();
    let (mut olds, mut news) = (old.keys().peekable(), new.keys().peekable());
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(before), Some(after)) => before.cmp(after),
        };
        let before = if order.is_le() { olds.next() } else { None };
        let after = if order.is_ge() { news.next() } else { None };
        match (before, after) {
            (Some(before), None) => changes.add(before, false),
            (None, Some(after)) => changes.add(after, true),
            _ => {}
        }
    }
    changes.write(writes);
}

/// Puts and deletes, packed.
#[derive(Default)]
struct Changes {
    keys: Vec<u8>,
    /// End of the key, and whether the row is put.
    ends: SmallVec<[(usize, bool); 16]>,
}

impl Changes {
    fn add(&mut self, key: &[u8], is_put: bool) {
        self.keys.extend_from_slice(key);
        self.ends.push((self.keys.len(), is_put));
    }

    fn write(self, writes: &mut Vec<Write>) {
        let keys = Bytes::from(self.keys);
        let mut start = 0;
        for (end, is_put) in self.ends {
            let key = keys.slice(start..end);
            start = end;
            writes.push(if is_put { Write::Put(key, Bytes::new()) } else { Write::Delete(key) });
        }
    }
}
