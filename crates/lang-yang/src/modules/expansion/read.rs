//! What the statements of a text add to what is counted.

use std::rc::Rc;

use crate::statement::{Statement, Statements, is_schema_node};

use super::super::Member;
use super::super::prefixes::Prefixes;
use super::{Definitions, Named, Part, Reference};

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

impl Definitions {
    /// Adds the groupings and typedefs of a text, and answers what lies outside of them.
    pub(super) fn read(&mut self, member: &Member<'_>) -> Part {
        let mut prefixes = Prefixes::new(member);
        // Of each open statement, the definition that begins with it.
        let mut open: Vec<Option<Open>> = Vec::new();
        let mut outside = Part::default();
        for statement in Statements::new(&member.file.text).map_while(Result::ok) {
            while open.len() > statement.depth {
                self.close(open.pop().flatten());
            }
            prefixes.see(&statement);
            let begins = match statement.keyword {
                "grouping" => Some(Kind::Grouping),
                "typedef" => Some(Kind::Typedef),
                _ => None,
            };
            let begins = begins.map(|kind| Open {
                name: self.number(kind, &prefixes, statement.text()),
                depth: statement.depth,
                part: Part::default(),
            });
            let around = open.iter_mut().rev().find_map(Option::as_mut);
            let (part, base) = around.map_or((&mut outside, 0), |around| (&mut around.part, around.depth));
            let depth = statement.depth.saturating_sub(base);
            part.own.depth = part.own.depth.max(depth);
            if begins.is_none() {
                self.count(part, &statement, (&prefixes, depth));
            }
            if statement.body.is_some() {
                open.push(begins);
            }
        }
        while let Some(last) = open.pop() {
            self.close(last);
        }
        outside
    }

    fn count(
        &mut self,
        part: &mut Part,
        statement: &Statement<'_>,
        (prefixes, depth): (&Prefixes<'_>, usize),
    ) {
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
        part.references.extend(used.map(|(kind, is_whole)| Reference {
            name: self.number(kind, prefixes, statement.text()),
            depth: u8::try_from(depth).expect("statements nest at most DEPTH_MAX deep"),
            is_whole,
        }));
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
        self.numbers.insert(full.clone(), number);
        self.names.push(Named { shown: full, is_type: kind == Kind::Typedef, ..Named::default() });
        number
    }

    fn close(&mut self, ended: Option<Open>) {
        let Some(Open { name, part, .. }) = ended else { return };
        self.named(name).parts.push(part);
    }
}
