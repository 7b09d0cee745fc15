//! How many names the engine compares to make sense of a set. It has no tables by name: each node is compared with all beside it,
//! each value of an enumeration with all before it, and a type is found by looking at one definition after the other.

use std::collections::{BTreeMap, HashMap};

use super::super::{CompileError, ModuleSet};
use super::{Reference, Size};

/// Names that the engine compares to compile a set, as they are reckoned: 15,000 nodes beside each other, or values of one
/// type, come near it.
pub const COMPARISONS_MAX: u64 = 250_000_000;

/// Of so many nodes that may be amended, one comparison is reckoned: most are told apart by their first step.
const AMENDED_PER_COMPARISON: u64 = 4;
/// Of so many pairs of typedefs, groupings or augments of a module, one comparison is reckoned: one is put behind the others.
const CHAINED_PER_COMPARISON: u64 = 4;
/// So many comparisons are reckoned for a name in a path of XPath: it is looked up several times.
const COMPARISONS_PER_PATH_NAME: u64 = 2;
/// Pairs of nodes that a `//` or `*` of XPath may select, for one comparison: they are compared by address.
const SELECTED_PER_COMPARISON: u64 = 64;
/// Pairs of features that a feature may depend on, for one comparison: by address, too.
const FEATURES_PER_COMPARISON: u64 = 64;

/// A grouping, a typedef, or what a text has outside of these.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) own: Size,
    pub(super) references: Vec<Reference>,
    /// The first is of what is in no other.
    pub(super) lists: Vec<List>,
    /// How often things of a module are looked for, and the first line.
    lookups: BTreeMap<(Lookup, u32), (u64, u32)>,
    /// The number of its text.
    member: u32,
    /// Lines of the first XPath, and of the first default.
    pub(super) path_line: Option<u32>,
    pub(super) default_line: Option<u32>,
}

/// What is compared with each other: nodes beside each other, or the values of a type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    /// Of these, those that are written here.
    pub(super) own: u64,
    pub(super) line: u32,
    pub(super) is_values: bool,
    /// Values with a number.
    pub(super) numbered: u64,
    /// Names in keys and the like, which are looked for among the nodes.
    pub(super) names: u64,
    /// It is a part of this list of the whole set.
    pub(super) target: Option<u32>,
}

/// What is looked for by its name, and is neither a type nor a grouping.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Lookup {
    Identity,
    Feature,
    /// By another feature, which is compared with all that it depends on.
    FeatureOfFeature,
    Extension,
}

/// What names are compared for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Cause {
    Nodes,
    Values,
    #[default]
    Names,
    Amendments,
    Paths,
    Defaults,
}

/// The place that most comparisons are for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Worst {
    steps: u64,
    /// Of these names.
    length: u64,
    member: u32,
    line: u32,
    cause: Cause,
}

/// What a part has names compared for, with all that it uses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Comparisons {
    steps: u64,
    worst: Worst,
    /// Nodes that come to be beside those where a grouping is used.
    top: Worst,
    /// The values of a typedef, and the steps to find it and those that it is derived from.
    values: u64,
    chain: u64,
    /// Words of its default.
    words: u64,
    /// Words of all defaults.
    defaults: u64,
    /// Names in XPath, and what may select any number of nodes.
    path_names: u64,
    selections: u64,
}

/// What a module has of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Module {
    pub(super) typedefs: u64,
    pub(super) groupings: u64,
    pub(super) identities: u64,
    pub(super) features: u64,
    pub(super) extensions: u64,
    /// Augments that it has.
    pub(super) augments: u64,
    /// Augments and deviations of its nodes, and where the first is.
    pub(super) amended: u64,
    pub(super) deviated: u64,
    pub(super) amended_at: (u32, u32),
    /// Where the first of what it defines is.
    pub(super) defined_at: (u32, u32),
}

/// What is counted of a set as a whole.
#[derive(Debug, Default)]
pub(super) struct Counts {
    numbers: HashMap<Box<str>, u32>,
    modules: Vec<Module>,
    /// Lists that several texts have parts of: the tops of modules, and targets of augments.
    targets: HashMap<Box<str>, u32>,
    lengths: Vec<Worst>,
    /// The longest list of nodes, and the most values of a type.
    nodes_max: u64,
    values_max: u64,
    /// Comparisons of values when texts are read, and the type that most are for.
    values_read: u64,
    most_values: Worst,
    /// The part with most names in XPath, and that with most words of defaults.
    most_paths: Worst,
    most_defaults: Worst,
}

/// The lists of a part with what is used in them, and what it takes to find that.
#[derive(Debug)]
pub(super) struct Lengths {
    of: Vec<u64>,
    searched: u64,
    /// The largest one, and where it is.
    most: (u64, u32),
}

impl Part {
    pub(super) fn new(member: u32, first: List) -> Self {
        let (own, references, lookups) = (Size::default(), Vec::new(), BTreeMap::new());
        Self { own, references, lists: vec![first], lookups, member, path_line: None, default_line: None }
    }

    /// Begins a list.
    pub(super) fn list(&mut self, list: List) -> u32 {
        self.lists.push(list);
        u32::try_from(self.lists.len() - 1).expect("a text has less lists than bytes")
    }

    pub(super) fn list_mut(&mut self, number: u32) -> &mut List {
        self.lists.get_mut(number as usize).expect("lists have numbers of their part")
    }

    pub(super) fn look(&mut self, lookup: Lookup, module: u32, line: u32) {
        self.lookups.entry((lookup, module)).or_insert((0, line)).0 += 1;
    }

    pub(super) fn lengths(&self) -> Lengths {
        Lengths { of: self.lists.iter().map(|list| list.own).collect(), searched: 0, most: (0, 0) }
    }
}

/// Whether the axis that a text ends with leads to more nodes than those right below or above.
fn selects_many(axis: &str) -> bool {
    let axis = axis.trim_end();
    let is_near = ["child", "parent", "ancestor", "self", "attribute", "namespace"];
    axis.ends_with("descendant-or-self") || !is_near.iter().any(|near| axis.ends_with(near))
}

impl Comparisons {
    /// Takes note of so many comparisons.
    pub(super) fn step(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps as u64);
    }

    /// Takes note of a default.
    pub(super) fn add_default(&mut self, value: &str) {
        let words = value.split_ascii_whitespace().count() as u64;
        self.words = self.words.max(words);
        self.defaults = self.defaults.saturating_add(words);
    }

    /// Takes note of a range or a length.
    pub(super) fn add_range(&mut self, range: &str) {
        self.values = self.values.max(range.split('|').count() as u64);
    }

    /// Takes note of an expression of XPath: of its names, and what is like a name.
    pub(super) fn add_path(&mut self, path: &str) {
        let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.' | ':');
        let begins_name =
            |word: &&str| word.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
        let names = path.split(|sign| !is_of_name(sign)).filter(begins_name).count() as u64;
        // One `*` by itself is the nodes beside each other, or a product.
        let stars = path.matches('*').count() + path.matches("node()").count();
        let axes = path.match_indices("::").filter(|(at, _)| selects_many(path.get(..*at).unwrap_or("")));
        let descents = path.matches("//").count() + axes.count();
        let selections = if stars > 1 || descents > 0 { stars + descents } else { 0 };
        self.path_names = self.path_names.saturating_add(names).saturating_add(stars as u64);
        self.selections = self.selections.saturating_add(selections as u64);
    }

    /// A grouping that nobody uses is compiled by itself.
    pub(super) fn end_grouping(&mut self) {
        let top = std::mem::take(&mut self.top);
        self.add_worst(Worst { steps: top.length.saturating_mul(top.length), ..top });
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.steps = self.steps.saturating_add(other.steps);
        self.defaults = self.defaults.saturating_add(other.defaults);
        self.path_names = self.path_names.saturating_add(other.path_names);
        self.selections = self.selections.saturating_add(other.selections);
        self.values = self.values.max(other.values);
        self.chain = self.chain.max(other.chain);
        self.words = self.words.max(other.words);
        self.note(other.worst);
    }

    pub(super) fn max(self, other: Self) -> Self {
        let mut max = self;
        max.steps = max.steps.max(other.steps);
        max.defaults = max.defaults.max(other.defaults);
        max.path_names = max.path_names.max(other.path_names);
        max.selections = max.selections.max(other.selections);
        if other.top.length > max.top.length {
            max.top = other.top;
        }
        max.values = max.values.max(other.values);
        max.chain = max.chain.max(other.chain);
        max.words = max.words.max(other.words);
        max.note(other.worst);
        max
    }

    /// What comes of a grouping or type where it is used; `searched`: definitions that it is one of.
    pub(super) fn used_by(
        &mut self,
        reference: &Reference,
        (is_type, searched, nodes): (bool, u64, u64),
        lengths: &mut Lengths,
    ) {
        let length = lengths.of.get_mut(reference.list as usize).expect("lists have numbers of their part");
        let found = if is_type {
            // What the type itself takes is taken once, whoever uses it.
            let chain = searched.saturating_add(self.chain);
            let added = if reference.is_whole { length.saturating_mul(self.values) } else { 0 };
            let inherited = self.words.saturating_mul(self.values);
            // The type of a typedef is right below it.
            let is_base = reference.depth == 1;
            let (chain_of_base, words) = if is_base { (chain, self.words) } else { (0, 0) };
            *self = Self { values: self.values, chain: chain_of_base, words, ..Self::default() };
            chain.saturating_add(added).saturating_add(inherited)
        } else {
            *length = length.saturating_add(self.top.length);
            let amended = u64::from(reference.amendments).saturating_mul(nodes) / AMENDED_PER_COMPARISON;
            *self = Self { top: Worst::default(), values: 0, chain: 0, words: 0, ..*self };
            searched.saturating_add(amended)
        };
        self.steps = self.steps.saturating_add(found);
        lengths.searched = lengths.searched.saturating_add(found);
        if found > lengths.most.0 {
            lengths.most = (found, reference.line);
        }
    }

    fn note(&mut self, worst: Worst) {
        if worst.steps > self.worst.steps {
            self.worst = worst;
        }
    }

    fn add_worst(&mut self, worst: Worst) {
        self.steps = self.steps.saturating_add(worst.steps);
        self.note(worst);
    }

    /// Refuses more than the limit, and names the place that most of it is for.
    pub(super) fn check(&self, set: &ModuleSet<'_>) -> Result<(), CompileError> {
        if self.steps <= COMPARISONS_MAX {
            return Ok(());
        }
        let Worst { length, member, line, cause, .. } = self.worst;
        let most = match cause {
            Cause::Nodes => format!("most of the {length} nodes that come to be beside each other here"),
            Cause::Values => format!("most of the {length} values of a type here"),
            Cause::Names => "most to find what is used here by its name".to_owned(),
            Cause::Paths => "most for paths of XPath such as this one".to_owned(),
            Cause::Defaults => "most for defaults such as this one".to_owned(),
            Cause::Amendments => {
                format!("most to find the nodes of {length} augments and deviations like this one")
            }
        };
        let message = format!("the modules take more than {COMPARISONS_MAX} comparisons of names, {most}");
        Err(match set.members.get(member as usize).filter(|_| line > 0) {
            Some(member) => CompileError::at(&member.file.name, Some(line), message),
            None => CompileError::of_set(message),
        })
    }
}

impl Counts {
    /// The number of a module.
    pub(super) fn number(&mut self, module: &str) -> u32 {
        if let Some(number) = self.numbers.get(module) {
            return *number;
        }
        let number = u32::try_from(self.modules.len()).expect("a text has less names than bytes");
        self.numbers.insert(module.into(), number);
        self.modules.push(Module::default());
        number
    }

    pub(super) fn module_mut(&mut self, number: u32) -> &mut Module {
        self.modules.get_mut(number as usize).expect("modules have numbers of this table")
    }

    fn module(&self, number: u32) -> &Module {
        self.modules.get(number as usize).expect("modules have numbers of this table")
    }

    /// The number of a list that several texts may have parts of.
    pub(super) fn target(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.lengths.len()).expect("a text has less lists than bytes");
        if let Some(number) = self.targets.get(name) {
            return *number;
        }
        self.targets.insert(name.into(), next);
        self.lengths.push(Worst::default());
        next
    }

    /// One more value of a type, the last of its list: it is compared with those before it.
    pub(super) fn read_value(&mut self, list: &List, member: u32) {
        self.values_read = self.values_read.saturating_add(list.own);
        let of_list = Worst {
            steps: list.own.saturating_mul(list.own),
            length: list.own,
            member,
            line: list.line,
            cause: Cause::Values,
        };
        if of_list.steps > self.most_values.steps {
            self.most_values = of_list;
        }
    }

    /// How many definitions a type or a grouping is one of.
    pub(super) fn searched(&self, module: u32, is_type: bool) -> u64 {
        let module = self.module(module);
        if is_type { module.typedefs } else { module.groupings }
    }

    /// Adds what is compared in a part itself.
    pub(super) fn close(&mut self, part: &Part, lengths: &Lengths, sum: &mut Comparisons) {
        for (number, (list, length)) in part.lists.iter().zip(&lengths.of).enumerate() {
            let worst = Worst {
                steps: 0,
                length: *length,
                member: part.member,
                line: list.line,
                cause: Cause::Nodes,
            };
            if list.is_values {
                sum.values = sum.values.max(*length);
                let steps = list.numbered.saturating_mul(*length);
                sum.add_worst(Worst { steps, cause: Cause::Values, ..worst });
                continue;
            }
            self.nodes_max = self.nodes_max.max(*length);
            if let Some(target) = list.target {
                let whole = self.lengths.get_mut(target as usize).expect("lists have numbers of this table");
                let length = whole.length.saturating_add(*length);
                *whole = Worst { length, ..if whole.line == 0 { worst } else { *whole } };
            } else if number == 0 {
                sum.top = worst;
            } else {
                let names = list.names.saturating_mul(COMPARISONS_PER_PATH_NAME);
                let steps = length.saturating_mul(length.saturating_add(names));
                sum.add_worst(Worst { steps, ..worst });
            }
        }
        self.values_max = self.values_max.max(sum.values);
        for ((lookup, module), (count, line)) in &part.lookups {
            let module = self.module(*module);
            let of = match lookup {
                Lookup::Identity => {
                    sum.values = sum.values.max(module.identities);
                    module.identities
                }
                Lookup::Feature => module.features,
                Lookup::FeatureOfFeature => {
                    module.features
                        + module.features.saturating_mul(module.features) / FEATURES_PER_COMPARISON
                }
                Lookup::Extension => module.extensions,
            };
            let (steps, member) = (count.saturating_mul(of), part.member);
            sum.add_worst(Worst { steps, member, line: *line, ..Worst::default() });
        }
        let (member, (_, line)) = (part.member, lengths.most);
        sum.note(Worst { steps: lengths.searched, member, line, ..Worst::default() });
        let most = |most: &mut Worst, steps: u64, line: Option<u32>, cause: Cause| {
            if let Some(line) = line.filter(|_| steps > most.steps) {
                *most = Worst { steps, length: 0, member, line, cause };
            }
        };
        let paths = sum.path_names.saturating_add(sum.selections);
        most(&mut self.most_paths, paths, part.path_line, Cause::Paths);
        most(&mut self.most_defaults, sum.defaults, part.default_line, Cause::Defaults);
    }

    /// Adds what is compared in no part alone; `nodes`: of the whole set.
    pub(super) fn finish(&self, sum: &mut Comparisons, nodes: u64) {
        for list in &self.lengths {
            sum.add_worst(Worst { steps: list.length.saturating_mul(list.length), ..*list });
        }
        let square = |count: u64| count.saturating_mul(count);
        for module in &self.modules {
            let chained = square(module.typedefs)
                .saturating_add(square(module.groupings))
                .saturating_add(square(module.augments));
            let (member, line) = module.defined_at;
            let steps = chained / CHAINED_PER_COMPARISON;
            sum.add_worst(Worst { steps, member, line, ..Worst::default() });
            let amended = module.amended.saturating_mul(nodes) / AMENDED_PER_COMPARISON;
            let ((member, line), length) = (module.amended_at, module.amended);
            let steps = amended.saturating_add(square(module.deviated));
            sum.add_worst(Worst { steps, length, member, line, cause: Cause::Amendments });
        }
        sum.steps = sum.steps.saturating_add(self.values_read.saturating_mul(2));
        sum.note(self.most_values);
        let found = sum.path_names.saturating_mul(self.nodes_max).saturating_mul(COMPARISONS_PER_PATH_NAME);
        let selected = sum.selections.saturating_mul(square(nodes) / SELECTED_PER_COMPARISON);
        sum.add_worst(Worst { steps: found.saturating_add(selected), ..self.most_paths });
        let steps = sum.defaults.saturating_mul(self.values_max);
        sum.add_worst(Worst { steps, ..self.most_defaults });
    }
}
