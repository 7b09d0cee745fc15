//! What the statements of a text add to what is counted.

use std::collections::HashMap;
use std::rc::Rc;

use crate::statement::{Statement, Statements, is_schema_node};

use super::super::Member;
use super::super::prefixes::Prefixes;
use super::comparisons::{List, Lookup, Part};
use super::{Definitions, Named, Reference};

/// The types that need no typedef (RFC 7950, section 4.2.4), but unions, which are as large as their members.
const BUILT_IN: &str = "binary bits boolean decimal64 empty enumeration identityref instance-identifier int8 int16 int32 int64 \
                        leafref string uint8 uint16 uint32 uint64";

/// What can be used by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Grouping,
    Typedef,
}

/// A grouping or typedef that is being read.
struct Open {
    name: u32,
    /// How many statements are around it.
    depth: usize,
    part: Part,
}

/// A statement whose end has not come.
struct Frame {
    /// The definition that begins with it.
    begins: Option<Open>,
    /// The list of its part that the statements in it belong to.
    list: u32,
    /// Of an extension: what is in it are statements beside each other.
    is_extension: bool,
    is_feature: bool,
    /// What is in it without a case gets one of its own.
    is_choice: bool,
    /// Of `uses`: the number of its reference, and the lists of its augments by their targets.
    uses: Option<(usize, HashMap<Box<str>, u32>)>,
}

/// Where a statement is found.
#[derive(Clone, Copy)]
struct Around<'r> {
    prefixes: &'r Prefixes<'r>,
    /// The number of the text, and of its module.
    member: u32,
    module: u32,
    /// The text's imports.
    imports: usize,
    /// In the part.
    depth: usize,
}

impl Frame {
    fn new(list: u32) -> Self {
        Self { begins: None, list, is_extension: false, is_feature: false, is_choice: false, uses: None }
    }
}

impl Definitions {
    /// Adds the groupings and typedefs of the text of this number, and answers what lies outside of them.
    pub(super) fn read(&mut self, member: &Member<'_>, number: u32) -> Part {
        let header = &member.header;
        let own = header.belongs_to.as_ref().map_or(&header.name, |module| &module.name);
        let (module, target) = (self.counts.number(own), self.counts.target(own));
        let mut prefixes = Prefixes::new(member);
        let mut open: Vec<Frame> = Vec::new();
        let first = List { line: header.line, target: Some(target), ..List::default() };
        let mut outside = Part::new(number, first);
        for statement in Statements::new(&member.file.text).map_while(Result::ok) {
            while open.len() > statement.depth {
                self.close(open.pop().and_then(|frame| frame.begins));
            }
            prefixes.see(&statement);
            let begins = match statement.keyword {
                "grouping" => Some(Kind::Grouping),
                "typedef" => Some(Kind::Typedef),
                _ => None,
            };
            let line = statement.line;
            let begins = begins.map(|kind| Open {
                name: self.number(kind, &prefixes, statement.text()),
                depth: statement.depth,
                part: Part::new(number, List { line, ..List::default() }),
            });
            let (mut root, mut parent) = (Frame::new(0), open.pop());
            let holder = parent.as_mut().unwrap_or(&mut root);
            let in_parent = holder.begins.take();
            let mut opened = in_parent;
            let around =
                opened.as_mut().or_else(|| open.iter_mut().rev().find_map(|frame| frame.begins.as_mut()));
            let (part, base) = around.map_or((&mut outside, 0), |around| (&mut around.part, around.depth));
            let depth = statement.depth.saturating_sub(base);
            part.own.depth = part.own.depth.max(depth);
            let around =
                Around { prefixes: &prefixes, member: number, module, imports: header.imports.len(), depth };
            let mut frame = self.compare(part, &statement, around, holder);
            if begins.is_none() {
                self.count(part, &statement, around, &mut frame);
            } else {
                frame.list = 0;
            }
            holder.begins = opened;
            open.extend(parent);
            if statement.body.is_some() {
                frame.begins = begins;
                open.push(frame);
            }
        }
        while let Some(last) = open.pop() {
            self.close(last.begins);
        }
        outside
    }

    fn count(&mut self, part: &mut Part, statement: &Statement<'_>, around: Around<'_>, frame: &mut Frame) {
        let used = match statement.keyword {
            "uses" => Some((Kind::Grouping, true)),
            "type" if statement.text() == "union" => None,
            "type" if BUILT_IN.split_ascii_whitespace().any(|known| known == statement.text()) => {
                part.own.members += 1;
                None
            }
            "type" => Some((Kind::Typedef, statement.body.is_some())),
            "pattern" => {
                part.own.members += 1;
                None
            }
            "description" | "reference" | "organization" | "contact" => None,
            keyword if is_schema_node(keyword) => {
                part.own.nodes += 1;
                None
            }
            _ => {
                part.own.statements += 1;
                None
            }
        };
        let Some((kind, is_whole)) = used else { return };
        if statement.text().contains(':') {
            part.own.compared.step(around.imports);
        }
        if kind == Kind::Grouping {
            frame.uses = Some((part.references.len(), HashMap::new()));
        }
        part.references.push(Reference {
            name: self.number(kind, around.prefixes, statement.text()),
            depth: u8::try_from(around.depth).expect("statements nest at most DEPTH_MAX deep"),
            is_whole,
            list: frame.list,
            amendments: 0,
            line: statement.line,
        });
    }

    /// Counts what a statement has names compared for. `parent`: the statement that it is in.
    fn compare(
        &mut self,
        part: &mut Part,
        statement: &Statement<'_>,
        around: Around<'_>,
        parent: &mut Frame,
    ) -> Frame {
        let (text, line) = (statement.text(), statement.line);
        let mut frame = Frame::new(parent.list);
        let begin = |part: &mut Part, is_values: bool| part.list(List { line, is_values, ..List::default() });
        if parent.is_extension
            || is_schema_node(statement.keyword)
            || matches!(statement.keyword, "uses" | "enum" | "bit")
        {
            part.list_mut(parent.list).own += 1;
        }
        if parent.is_choice && is_schema_node(statement.keyword) && statement.keyword != "case" {
            part.list_mut(parent.list).own += 1;
        }
        match statement.keyword {
            "container" | "list" | "rpc" | "action" | "notification" | "input" | "output"
                if statement.body.is_some() =>
            {
                frame.list = begin(part, false);
            }
            "type" if statement.body.is_some() => frame.list = begin(part, true),
            "value" | "position" => part.list_mut(parent.list).numbered += 1,
            "key" | "unique" => {
                part.list_mut(parent.list).names += text.split_ascii_whitespace().count() as u64;
            }
            "default" => {
                part.default_line.get_or_insert(line);
                part.own.compared.add_default(text);
                self.look(part, (Lookup::Identity, text), line, around);
            }
            "range" | "length" => part.own.compared.add_range(text),
            "must" | "when" | "path" => {
                part.path_line.get_or_insert(line);
                part.own.compared.add_path(text);
            }
            "base" => self.look(part, (Lookup::Identity, text), line, around),
            "if-feature" => {
                let lookup = if parent.is_feature { Lookup::FeatureOfFeature } else { Lookup::Feature };
                for name in text.split([' ', '\t', '\n', '\r', '(', ')']).filter(|name| !name.is_empty()) {
                    self.look(part, (lookup, name), line, around);
                }
            }
            "import" | "include" => part.own.compared.step(around.imports),
            "augment" | "refine" | "deviation" => frame.list = self.amend(part, statement, around, parent),
            keyword if keyword.contains(':') => {
                self.look(part, (Lookup::Extension, keyword), line, around);
                frame.list = begin(part, false);
                frame.is_extension = true;
            }
            keyword => {
                frame.is_feature = keyword == "feature";
                frame.is_choice = keyword == "choice";
                self.define(keyword, around, line);
            }
        }
        if frame.is_extension || !matches!(statement.keyword, "enum" | "bit") {
            return frame;
        }
        // Once, when they are read; and with each copy those with numbers.
        let of_type = *part.list_mut(parent.list);
        self.counts.read_value(&of_type, around.member);
        frame
    }

    /// What changes nodes that are elsewhere; answers with the list of what it adds.
    fn amend(
        &mut self,
        part: &mut Part,
        statement: &Statement<'_>,
        around: Around<'_>,
        parent: &mut Frame,
    ) -> u32 {
        let (line, is_augment) = (statement.line, statement.keyword == "augment");
        let list = List { line, ..List::default() };
        if let Some((reference, augments)) = &mut parent.uses {
            let reference = part.references.get_mut(*reference).expect("it is of this part");
            reference.amendments = reference.amendments.saturating_add(1);
            if !is_augment {
                return parent.list;
            }
            return *augments.entry(statement.text().into()).or_insert_with(|| part.list(list));
        }
        let steps = statement.text().split('/').filter(|step| !step.is_empty());
        let steps: Vec<(&str, &str)> = steps.map(|step| around.prefixes.resolve(step.trim())).collect();
        let amended = steps.first().map_or(around.module, |(module, _)| self.counts.number(module));
        let amended = self.counts.module_mut(amended);
        amended.amended += 1;
        if amended.amended_at.1 == 0 {
            amended.amended_at = (around.member, line);
        }
        if !is_augment {
            amended.deviated += 1;
            return parent.list;
        }
        self.counts.module_mut(around.module).augments += 1;
        let name: String = steps.iter().map(|(module, name)| format!("/{module}:{name}")).collect();
        let target = Some(self.counts.target(&name));
        part.list(List { target, ..list })
    }

    fn look(&mut self, part: &mut Part, (lookup, name): (Lookup, &str), line: u32, around: Around<'_>) {
        if name.contains(':') {
            part.own.compared.step(around.imports);
        }
        let (module, _) = around.prefixes.resolve(name);
        let module = self.counts.number(module);
        part.look(lookup, module, line);
    }

    fn define(&mut self, keyword: &str, around: Around<'_>, line: u32) {
        let module = self.counts.module_mut(around.module);
        if matches!(keyword, "typedef" | "grouping") && module.defined_at.1 == 0 {
            module.defined_at = (around.member, line);
        }
        match keyword {
            "typedef" => module.typedefs += 1,
            "grouping" => module.groupings += 1,
            "identity" => module.identities += 1,
            "feature" => module.features += 1,
            "extension" => module.extensions += 1,
            _ => {}
        }
    }

    /// The number of a name, which is that of all its definitions.
    fn number(&mut self, kind: Kind, prefixes: &Prefixes<'_>, name: &str) -> u32 {
        let (module, name) = prefixes.resolve(name);
        let kind_name = if kind == Kind::Typedef { "type" } else { "grouping" };
        let full: Rc<str> = format!("{kind_name} {module}:{name}").into();
        if let Some(number) = self.numbers.get(&*full) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).expect("a text has less names than bytes");
        let module = self.counts.number(module);
        self.numbers.insert(full.clone(), number);
        let is_type = kind == Kind::Typedef;
        self.names.push(Named { shown: full, is_type, module, ..Named::default() });
        number
    }

    fn close(&mut self, ended: Option<Open>) {
        let Some(Open { name, part, .. }) = ended else { return };
        self.named(name).parts.push(part);
    }
}
