//! Data without a schema (`anydata`, `anyxml`) between XML and JSON: elements of one name are one member, an array if there are several;
//! what has no elements is text.

use std::collections::HashMap;

use lang_json::{ArrayWriter, Kind, ObjectWriter, elements, kind, members, string_value, write_string};

/// An element without a schema.
#[derive(Debug)]
pub(crate) struct Element {
    /// With its module where that is not the module around.
    pub(crate) name: String,
    /// Text in it; beside elements it is white space.
    pub(crate) text: String,
    /// Elements in it.
    pub(crate) elements: Vec<Element>,
}

impl Element {
    /// What lies in it as compact JSON; an object in any case, if so wanted. Cost: linear.
    pub(crate) fn to_json(&self, is_object: bool) -> String {
        let mut out = String::new();
        self.write(&mut out, is_object);
        out
    }

    fn write(&self, out: &mut String, is_object: bool) {
        if self.elements.is_empty() && !is_object {
            return write_string(out, &self.text);
        }
        let (mut groups, mut places): (Vec<Vec<&Element>>, HashMap<&str, usize>) = Default::default();
        for element in &self.elements {
            let place = *places.entry(&element.name).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(element),
                None => groups.push(vec![element]),
            }
        }
        let mut object = ObjectWriter::begin(out);
        for group in &groups {
            match &**group {
                [] => {}
                [element] => element.write(object.member(&element.name), false),
                [first, ..] => {
                    let mut array = ArrayWriter::begin(object.member(&first.name));
                    for element in group {
                        element.write(array.item(), false);
                    }
                    array.end();
                }
            }
        }
        object.end();
    }
}

/// What a value of JSON holds, for a writer of XML.
pub(crate) trait Elements {
    /// An element begins; the name may say a module.
    fn begin(&mut self, name: &str);
    /// It ends.
    fn end(&mut self);
    /// Text in it.
    fn text(&mut self, text: &str);
}

/// Walks over canonical JSON that lies in the element `name`, or in what is open (`None`). Cost: linear in the text, times its depth.
pub(crate) fn walk(name: Option<&str>, json: &str, to: &mut impl Elements) {
    match kind(json) {
        Some(Kind::Array) => {
            for item in elements(json) {
                walk(name, item, to);
            }
        }
        value => {
            if let Some(name) = name {
                to.begin(name);
            }
            match value {
                Some(Kind::Object) => {
                    // Metadata is no element.
                    for (name, value) in members(json).filter(|(name, _)| !name.starts_with('@')) {
                        walk(Some(&name), value, to);
                    }
                }
                // What is no string after all is written as it is.
                Some(Kind::String) => to.text(string_value(json).as_deref().unwrap_or(json)),
                Some(Kind::Null) | None => {}
                Some(_) => to.text(json),
            }
            if name.is_some() {
                to.end();
            }
        }
    }
}
