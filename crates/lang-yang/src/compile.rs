//! From module texts to a [`Schema`]: what libyang made of them, as plain data.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;
use yang5::schema::{SchemaModule, SchemaNode as Compiled5, SchemaNodeKind};

use crate::engine::{self, CompileOptions, Engine, Features, Patterns, TypeReader};
use crate::modules::{CompileError, ModuleSet, YangFile};
use crate::schema::{Any, Identities, InCase, Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode};
use crate::statement::Statements;
use crate::types::Pattern;

/// Data nodes of a schema.
pub const NODES_MAX: usize = 250_000;
/// Deepest nesting of data nodes, choices and cases.
pub const LEVELS_MAX: usize = 200;
/// Bytes of the programs of all patterns of a set.
pub const PATTERNS_BYTES_MAX: usize = 32 << 20;
/// What libyang may make of a pattern that is not of XML Schema, in bytes: it may never be used.
const OTHER_PATTERN_BYTES: usize = 64 << 10;
/// Goes into the hash of a schema: texts compiled by another version of this crate may give another one.
const COMPILER_VERSION: u8 = 2;

/// A schema, and what libyang had to say of its modules.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Compiled {
    /// What the modules allow.
    pub schema: Schema,
    /// What is doubtful in them, and does not keep them from being used.
    pub warnings: Vec<Box<str>>,
}

/// Compiles a set of modules: of several revisions of a module the newest is used, others may be imported. RPCs, actions and
/// notifications are no data, and left out; so are mounted schemas (RFC 8528) and structures (RFC 8791).
///
/// Cost: some milliseconds for a dozen modules, a tenth of a second for hundreds.
///
/// # Errors
///
/// Texts that are not YANG, modules that are missing or import each other, and whatever else RFC 7950 forbids, with file and
/// line where they are known; patterns that are not of XML Schema; and sets beyond the limits.
pub fn compile(files: &[YangFile], options: &CompileOptions) -> Result<Compiled, CompileError> {
    let set = ModuleSet::read(files)?;
    let patterns = patterns(&set)?;
    let (engine, warnings) = Engine::load(&set, options)?;
    let identities = identities(&engine);
    let position = |name: &str| {
        let index = identities.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        u32::try_from(index).ok()
    };
    let mut builder = Builder::new(&engine, &set, TypeReader::new(&position, patterns))?;
    let top = builder.build()?;
    let mut pattern_bytes = 0;
    for pattern in builder.types.patterns() {
        pattern.compile().map_err(|error| {
            let (file, line) = place(&set, error.pattern.as_ref());
            CompileError { file, line, ..CompileError::of_set(error.to_string()) }
        })?;
        pattern_bytes += pattern.program_bytes();
        if pattern_bytes > PATTERNS_BYTES_MAX {
            return Err(CompileError::of_set(too_many_patterns()));
        }
    }
    let (modules, nodes) = (builder.modules, builder.nodes);
    let schema = Schema::new(hash(&set, options), modules.into(), nodes.into(), top.into(), identities);
    Ok(Compiled { schema, warnings })
}

fn too_many_patterns() -> String {
    format!("the patterns of the modules compile to more than {PATTERNS_BYTES_MAX} bytes")
}

/// All patterns of the texts that are of XML Schema, compiled: before libyang compiles them, too, and has no limit for it.
fn patterns(set: &ModuleSet<'_>) -> Result<Patterns, CompileError> {
    let (mut patterns, mut others, mut bytes) = (Patterns::new(), BTreeSet::new(), 0);
    for member in &set.members {
        let statements = Statements::new(&member.file.text).map_while(Result::ok);
        for statement in statements.filter(|statement| statement.keyword == "pattern") {
            let fails = |message: String| CompileError::at(&member.file.name, Some(statement.line), message);
            let key = (Box::from(statement.text()), false);
            if patterns.contains_key(&key) || others.contains(&key) {
                continue;
            }
            let pattern = Pattern::new(&key.0, false);
            match pattern.compile() {
                Ok(()) => {
                    bytes += pattern.program_bytes();
                    patterns.insert(key, Arc::new(pattern));
                }
                Err(error) if error.is_too_large => return Err(fails(error.to_string())),
                // Of a type that is used it is refused later: it may be of an extension, or of a type that is not.
                Err(_) => {
                    bytes += OTHER_PATTERN_BYTES;
                    others.insert(key);
                }
            }
            if bytes > PATTERNS_BYTES_MAX {
                return Err(fails(format!("with it {}", too_many_patterns())));
            }
        }
    }
    Ok(patterns)
}

/// The file and line of a pattern, if they can be told.
fn place(set: &ModuleSet<'_>, pattern: &str) -> (Option<Box<str>>, Option<u32>) {
    set.members
        .iter()
        .find_map(|member| {
            let statements = Statements::new(&member.file.text).filter_map(Result::ok);
            let mut patterns = statements.filter(|statement| statement.keyword == "pattern");
            let found = patterns.find(|statement| statement.text() == pattern)?;
            Some((Some(member.file.name.clone()), Some(found.line)))
        })
        .unwrap_or((None, None))
}

/// Of everything that decides what the schema is.
fn hash(set: &ModuleSet<'_>, options: &CompileOptions) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&[COMPILER_VERSION]);
    let mut part = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    for member in &set.members {
        part(&member.file.text);
    }
    part("");
    if let Features::Listed(listed) = &options.features {
        let listed: BTreeSet<&(Box<str>, Box<str>)> = listed.iter().collect();
        part("features");
        for (module, feature) in listed {
            part(module);
            part(feature);
        }
    }
    hash.digest128()
}

/// All identities of all modules, in the order of their names.
fn identities(engine: &Engine) -> Identities {
    let mut bases: BTreeMap<Box<str>, BTreeSet<Box<str>>> = BTreeMap::new();
    for (module, _) in engine.modules() {
        for identity in engine::identities(&module) {
            for derived in identity.derived {
                bases.entry(derived).or_default().insert(identity.name.clone());
            }
            bases.entry(identity.name).or_default();
        }
    }
    let positions: HashMap<&str, u32> = bases.keys().map(|name| &**name).zip(0..).collect();
    let all = bases.iter().map(|(name, direct)| {
        let mut found: BTreeSet<u32> = BTreeSet::new();
        let mut pending: Vec<&str> = direct.iter().map(|base| &**base).collect();
        while let Some(base) = pending.pop() {
            let is_new = positions.get(base).is_some_and(|position| found.insert(*position));
            if let Some(further) = bases.get(base).filter(|_| is_new) {
                pending.extend(further.iter().map(|base| &**base));
            }
        }
        (name.clone(), found.into_iter().collect())
    });
    all.collect()
}

/// What is said of a module as a whole.
fn described(module: &SchemaModule<'_>, is_built_in: bool, set: &ModuleSet<'_>) -> Module {
    let is_implemented = module.is_implemented() && (!is_built_in || set.has(module.name()));
    let revision = module.revision().unwrap_or("");
    let texts = set.texts(module.name(), revision);
    let mut features: Vec<Box<str>> = Vec::new();
    for text in texts.iter().filter(|_| is_implemented) {
        let statements = Statements::new(&text.file.text).filter_map(Result::ok);
        let named = statements.filter(|statement| statement.depth == 1 && statement.keyword == "feature");
        let on = named.filter(|feature| matches!(module.feature_value(feature.text()), Ok(true)));
        features.extend(on.map(|feature| feature.text().into()));
    }
    features.sort_unstable();
    let submodules = texts.iter().filter(|text| text.header.belongs_to.is_some());
    let mut submodules: Vec<_> =
        submodules.map(|text| (text.header.name.clone(), text.header.revision.clone())).collect();
    submodules.sort_unstable();
    let mut deviations = engine::deviations(module);
    deviations.sort_unstable();
    Module {
        name: module.name().into(),
        revision: revision.into(),
        namespace: module.namespace().into(),
        prefix: module.prefix().into(),
        is_implemented,
        features: features.into(),
        submodules: submodules.into(),
        deviations: deviations.into(),
    }
}

/// Nodes under way.
struct Builder<'e, 't> {
    engine: &'e Engine,
    modules: Vec<Module>,
    /// Implemented modules of the set: a name has one.
    implemented: HashMap<Box<str>, ModuleId>,
    types: TypeReader<'t>,
    nodes: Vec<SchemaNode>,
    choices: u32,
    cases: u32,
}

/// Where a node is put.
#[derive(Clone, Copy)]
struct Place<'p> {
    parent: Option<NodeId>,
    choices: &'p [InCase],
    level: usize,
}

impl<'e, 't> Builder<'e, 't> {
    fn new(engine: &'e Engine, set: &ModuleSet<'_>, types: TypeReader<'t>) -> Result<Self, CompileError> {
        let imported: BTreeSet<&str> = set
            .members
            .iter()
            .flat_map(|member| &member.header.imports)
            .map(|import| &*import.name)
            .collect();
        let mut modules: Vec<Module> = engine
            .modules()
            .filter(|(module, is_built_in)| {
                !is_built_in || set.has(module.name()) || imported.contains(module.name())
            })
            .map(|(module, is_built_in)| described(&module, is_built_in, set))
            .collect();
        modules.sort_by(|a, b| (&a.name, &a.revision).cmp(&(&b.name, &b.revision)));
        if modules.len() > usize::from(u16::MAX) {
            return Err(CompileError::of_set(format!(
                "{} modules are more than {}",
                modules.len(),
                u16::MAX
            )));
        }
        let ids = (0..).map(ModuleId).zip(&modules).filter(|(_, module)| module.is_implemented);
        let implemented = ids.map(|(id, module)| (module.name.clone(), id)).collect();
        Ok(Self { engine, modules, implemented, types, nodes: Vec::new(), choices: 0, cases: 0 })
    }

    /// All nodes; answers those at the top.
    fn build(&mut self) -> Result<Vec<NodeId>, CompileError> {
        let mut found: Vec<_> = self.engine.modules().map(|(module, _)| module).collect();
        found.retain(|module| module.is_implemented() && self.implemented.contains_key(module.name()));
        found.sort_by(|a, b| a.name().cmp(b.name()));
        let mut top = Vec::new();
        let place = Place { parent: None, choices: &[], level: 0 };
        for module in found {
            for node in module.data() {
                self.add(&node, place, &mut top)?;
            }
        }
        Ok(top)
    }

    /// Adds a node with all below it; of a choice, what its cases hold.
    fn add(
        &mut self,
        node: &Compiled5<'_>,
        place: Place<'_>,
        siblings: &mut Vec<NodeId>,
    ) -> Result<(), CompileError> {
        if place.level > LEVELS_MAX {
            return Err(self.refused(node, &format!("nodes nest deeper than {LEVELS_MAX}")));
        }
        match node.kind() {
            SchemaNodeKind::Choice => self.add_choice(node, place, siblings),
            SchemaNodeKind::Container
            | SchemaNodeKind::List
            | SchemaNodeKind::Leaf
            | SchemaNodeKind::LeafList
            | SchemaNodeKind::AnyXml
            | SchemaNodeKind::AnyData => self.add_node(node, place, siblings),
            // No data. A case is met in its choice alone.
            SchemaNodeKind::Case
            | SchemaNodeKind::Rpc
            | SchemaNodeKind::Input
            | SchemaNodeKind::Output
            | SchemaNodeKind::Action
            | SchemaNodeKind::Notification => Ok(()),
        }
    }

    fn add_choice(
        &mut self,
        choice: &Compiled5<'_>,
        place: Place<'_>,
        siblings: &mut Vec<NodeId>,
    ) -> Result<(), CompileError> {
        let number = self.choices;
        self.choices += 1;
        let default = choice.default_case().map(|case| case.as_raw());
        for case in choice.children() {
            let mut choices = place.choices.to_vec();
            let is_default = default == Some(case.as_raw());
            choices.push(InCase { choice: number, case: self.cases, is_default });
            self.cases += 1;
            let inside = Place { parent: place.parent, choices: &choices, level: place.level + 1 };
            for node in case.children() {
                self.add(&node, inside, siblings)?;
            }
        }
        Ok(())
    }

    fn add_node(
        &mut self,
        node: &Compiled5<'_>,
        place: Place<'_>,
        siblings: &mut Vec<NodeId>,
    ) -> Result<(), CompileError> {
        let module = node.module();
        let module = self.implemented.get(module.name()).copied();
        let module = module.ok_or_else(|| self.refused(node, "it is of a module that is not in the set"))?;
        if self.nodes.len() >= NODES_MAX {
            return Err(CompileError::of_set(format!("the modules have more than {NODES_MAX} data nodes")));
        }
        let number = |count: usize| u32::try_from(count).expect("there are at most NODES_MAX");
        let id = NodeId(number(self.nodes.len()));
        let flags = engine::flags(node);
        let kind = self.kind(node)?;
        self.nodes.push(SchemaNode {
            name: node.name().into(),
            module,
            parent: place.parent,
            slot: number(siblings.len()),
            kind,
            children: Box::default(),
            choices: place.choices.into(),
            is_config: flags.is_config,
            is_mandatory: flags.is_mandatory,
        });
        siblings.push(id);
        let mut children = Vec::new();
        let inside = Place { parent: Some(id), choices: &[], level: place.level + 1 };
        for child in node.children() {
            self.add(&child, inside, &mut children)?;
        }
        self.finish(id, node, children);
        Ok(())
    }

    /// A kind as far as it can be told before the children are there.
    fn kind(&mut self, node: &Compiled5<'_>) -> Result<NodeKind, CompileError> {
        Ok(match node.kind() {
            SchemaNodeKind::Container => NodeKind::Container { presence: !node.is_np_container() },
            SchemaNodeKind::List => {
                NodeKind::List { keys: Box::default(), user_ordered: node.is_user_ordered() }
            }
            SchemaNodeKind::AnyXml => NodeKind::Any(Any::Xml),
            SchemaNodeKind::Leaf | SchemaNodeKind::LeafList => {
                let type_ = self.types.read(node);
                let type_ = type_.ok_or_else(|| self.refused(node, "libyang does not tell its type"))?;
                if !type_.is_within_limits() {
                    return Err(self.refused(node, "its type has too many alternatives, or nests too deep"));
                }
                let defaults = engine::defaults(node);
                let defaults =
                    defaults.ok_or_else(|| self.refused(node, "libyang does not tell its default"))?;
                match node.kind() {
                    SchemaNodeKind::Leaf => NodeKind::Leaf { type_, default: defaults.into_iter().next() },
                    _ => NodeKind::LeafList {
                        type_,
                        user_ordered: node.is_user_ordered(),
                        defaults: defaults.into(),
                    },
                }
            }
            // Others are not added.
            _ => NodeKind::Any(Any::Data),
        })
    }

    /// What a node's children tell of it.
    fn finish(&mut self, id: NodeId, node: &Compiled5<'_>, children: Vec<NodeId>) {
        let keys: Vec<NodeId> = match node.kind() {
            // Keys are the first children, in the order of the statement.
            SchemaNodeKind::List => children.iter().copied().take(node.list_keys().count()).collect(),
            _ => Vec::new(),
        };
        let node = self.nodes.get_mut(id.0 as usize).expect("it was added");
        if let NodeKind::List { keys: slot, .. } = &mut node.kind {
            *slot = keys.into();
        }
        node.children = children.into();
    }

    fn refused(&self, node: &Compiled5<'_>, message: &str) -> CompileError {
        let path = node.path(yang5::schema::SchemaPathFormat::LOG);
        CompileError::of_set(format!("{path}: {message}"))
    }
}

#[cfg(test)]
mod tests;
