//! Values that name modules: identities and instance-identifiers. In XML they do it by prefixes, which the element declares.

use crate::schema::{ModuleId, Schema};

use super::escape::{push_attribute, push_text};

/// Appends the rest of an element's start, and an identity (`module:name`), which has no prefix if it is of the module whose
/// namespace is the default one.
pub(super) fn push_identity(out: &mut Vec<u8>, schema: &Schema, default: ModuleId, value: &str) {
    let (module, name) = value.split_once(':').unwrap_or(("", value));
    let of = schema.module_named(module);
    let mut prefixes = Prefixes { schema, taken: Vec::new() };
    let prefix = of.filter(|of| *of != default).map(|of| prefixes.of(of));
    prefixes.declare(out);
    out.push(b'>');
    if let Some(prefix) = prefix {
        push_text(out, &prefix);
        out.push(b':');
    }
    push_text(out, name);
}

/// Appends the rest of an element's start, and a path as RFC 7950, section 9.13.2 spells it: every name has its prefix.
pub(super) fn push_path(out: &mut Vec<u8>, schema: &Schema, path: &str) {
    let mut prefixes = Prefixes { schema, taken: Vec::new() };
    let text = spell(path, &mut prefixes);
    prefixes.declare(out);
    out.push(b'>');
    push_text(out, &text);
}

/// From the canonical form, where a name has its module only if that is not its parent's.
fn spell(path: &str, prefixes: &mut Prefixes<'_>) -> String {
    let (mut out, mut rest) = (String::with_capacity(path.len() * 2), path);
    let mut module: Option<ModuleId> = None;
    while let Some(sign) = rest.chars().next() {
        let (head, tail) = rest.split_at(sign.len_utf8());
        out.push_str(head);
        rest = tail;
        match sign {
            '/' | '[' => {
                let end = tail.find(['/', '[', '=', ']']).unwrap_or(tail.len());
                let (name, behind) = tail.split_at(end);
                rest = behind;
                let (of, local) = match name.split_once(':') {
                    Some((of, local)) => (prefixes.schema.module_named(of), local),
                    None => (module, name),
                };
                if sign == '/' {
                    module = of;
                }
                // A value of a leaf-list (`.`) and a position have no name.
                let is_name = name != "." && !name.starts_with(|first: char| first.is_ascii_digit());
                if let Some(of) = of.filter(|_| is_name) {
                    out.push_str(&prefixes.of(of));
                    out.push(':');
                }
                out.push_str(local);
            }
            // A value, to its other quote.
            '\'' | '"' => {
                let end = tail.find(sign).map_or(tail.len(), |end| end + 1);
                let (value, behind) = tail.split_at(end);
                out.push_str(value);
                rest = behind;
            }
            _ => {}
        }
    }
    out
}

/// The prefixes of one element.
struct Prefixes<'s> {
    schema: &'s Schema,
    taken: Vec<(ModuleId, String)>,
}

impl Prefixes<'_> {
    /// The prefix of a module: its own, or that with a number if another has it.
    fn of(&mut self, module: ModuleId) -> String {
        if let Some((_, prefix)) = self.taken.iter().find(|(taken, _)| *taken == module) {
            return prefix.clone();
        }
        let own = &self.schema.module(module).prefix;
        let mut prefix = own.to_string();
        while self.taken.iter().any(|(_, taken)| *taken == prefix) {
            prefix = format!("{own}{}", self.taken.len());
        }
        self.taken.push((module, prefix.clone()));
        prefix
    }

    fn declare(&self, out: &mut Vec<u8>) {
        for (module, prefix) in &self.taken {
            out.extend_from_slice(b" xmlns:");
            out.extend_from_slice(prefix.as_bytes());
            out.push(b'=');
            push_attribute(out, &self.schema.module(*module).namespace);
        }
    }
}
