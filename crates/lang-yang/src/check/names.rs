//! Names of identities (RFC 7950, 9.10; RFC 7951, 6.8).

use crate::schema::{ModuleId, Schema};

use super::{Prefixes, ValueRules};

/// An identity that is derived from all of the bases; canonical: as `module:name`.
pub(super) fn identity(text: &str, bases: &[u32], rules: &ValueRules<'_>) -> Option<Box<str>> {
    let schema = rules.schema;
    let (module, name) = match text.split_once(':') {
        Some((prefix, name)) => (module(prefix, rules)?, name),
        None => (default_module(rules)?, text),
    };
    let index = schema.identity_named(&schema.module(module).name, name)?;
    let (full, derived_from) = schema.identities.get(index as usize)?;
    bases.iter().all(|base| derived_from.contains(base)).then(|| full.clone())
}

/// The module that a prefix stands for.
pub(super) fn module(prefix: &str, rules: &ValueRules<'_>) -> Option<ModuleId> {
    match rules.prefixes {
        Prefixes::Modules => rules.schema.module_named(prefix),
        Prefixes::Lenient => rules.schema.module_named(prefix).or_else(|| by_prefix(rules.schema, prefix)),
        Prefixes::Xml(namespaces) => namespaces(prefix),
    }
}

/// The module of a name without prefix.
fn default_module(rules: &ValueRules<'_>) -> Option<ModuleId> {
    match rules.prefixes {
        Prefixes::Modules | Prefixes::Lenient => Some(rules.module),
        Prefixes::Xml(namespaces) => namespaces("").or(Some(rules.module)),
    }
}

/// The module that gives itself this prefix: one that is implemented before others.
fn by_prefix(schema: &Schema, prefix: &str) -> Option<ModuleId> {
    let modules = || (0..).map(ModuleId).zip(&schema.modules).filter(|(_, module)| &*module.prefix == prefix);
    modules().find(|(_, module)| module.is_implemented).or_else(|| modules().next()).map(|(id, _)| id)
}
