//! Vertices and edges as they are sent. Labels and keys are looked up once where they repeat: most elements of a batch look alike.

use std::borrow::Cow;
use std::sync::Arc;

use graph::schema::{EdgeLabel, EdgeLabelKind, PropertyKey, Schema, VertexLabel};
use graph::{Properties, PropertiesBuilder, PropertyKeyId, VertexId};
use lang_json::{Kind, Reader};

use super::ids::vertex_id_of_token;
use super::tokens::Token;
use super::values::{Scratch, read_value};
use crate::problem::Problem;

/// A vertex as it is sent.
#[derive(Clone, Debug)]
pub struct GivenVertex<'s> {
    /// Its label.
    pub label: &'s Arc<VertexLabel>,
    /// Its id, where it is not made of properties or by the graph.
    pub id: Option<VertexId>,
    /// Its properties, as they are stored.
    pub properties: Properties,
}

/// A vertex as it is sent, or values that were computed for one that is there.
#[derive(Clone, Debug)]
pub enum Given<'s> {
    /// A vertex.
    Vertex(GivenVertex<'s>),
    /// Values for the vertex of this id.
    Computed(VertexId, Properties),
}

/// An edge as it is sent.
#[derive(Clone, Debug)]
pub struct GivenEdge<'s> {
    /// Its label.
    pub label: &'s Arc<EdgeLabel>,
    /// Only in updates, where it must be the one that follows from the rest.
    pub id: Option<String>,
    /// The vertex that it leaves.
    pub source: VertexId,
    /// The vertex that it enters.
    pub target: VertexId,
    /// Of the vertices; neither or both.
    pub vertex_labels: Option<(&'s Arc<VertexLabel>, &'s Arc<VertexLabel>)>,
    /// Its properties, as they are stored.
    pub properties: Properties,
}

/// Which labels of its vertices an edge must name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VertexLabels {
    /// Both or none.
    Optional,
    /// Both.
    Needed,
}

/// Reads elements of one request, by one schema.
#[derive(Debug)]
pub struct ElementReader<'s> {
    schema: &'s Schema,
    builder: PropertiesBuilder,
    scratch: Scratch,
    /// The label of the last element.
    vertex_label: Option<&'s Arc<VertexLabel>>,
    edge_label: Option<&'s Arc<EdgeLabel>>,
    /// Those of the source and the target of the last edge.
    end_labels: [Option<&'s Arc<VertexLabel>>; 2],
    /// The members of the last element, in their order.
    shape: Vec<Member>,
    /// The keys of the last element, in their order, and whether JSON writes their names as they are.
    keys: Vec<(&'s Arc<PropertyKey>, bool)>,
    /// Whether a property that is null is as one that is not given; else it is refused.
    skips_nulls: bool,
}

/// What a member of an element is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Member {
    Properties,
    Label,
    Id,
    Source,
    SourceLabel,
    Target,
    TargetLabel,
    /// Passed over.
    Type,
}

impl Member {
    const ALL: [Self; 8] = [
        Self::Properties,
        Self::Label,
        Self::Id,
        Self::Source,
        Self::SourceLabel,
        Self::Target,
        Self::TargetLabel,
        Self::Type,
    ];

    #[inline]
    fn name(self) -> &'static str {
        match self {
            Self::Properties => "properties",
            Self::Label => "label",
            Self::Id => "id",
            Self::Source => "outV",
            Self::SourceLabel => "outVLabel",
            Self::Target => "inV",
            Self::TargetLabel => "inVLabel",
            Self::Type => "type",
        }
    }
}

/// The members of an element that was sent.
#[derive(Debug, Default)]
struct Members<'a> {
    label: Option<Cow<'a, str>>,
    id: Option<Token<'a>>,
    source: Option<Token<'a>>,
    source_label: Option<Cow<'a, str>>,
    target: Option<Token<'a>>,
    target_label: Option<Cow<'a, str>>,
    has_properties: bool,
}

impl<'s> ElementReader<'s> {
    /// A reader by this schema, of objects at most so deep.
    pub fn new(schema: &'s Schema, depth_max: usize) -> Self {
        Self {
            schema,
            builder: PropertiesBuilder::default(),
            scratch: Scratch::new(depth_max),
            vertex_label: None,
            edge_label: None,
            end_labels: [None; 2],
            shape: Vec::new(),
            keys: Vec::new(),
            skips_nulls: false,
        }
    }

    /// The same for updates, in which a property that is null is as one that is not given.
    pub fn skipping_nulls(self) -> Self {
        Self { skips_nulls: true, ..self }
    }

    /// The next vertex.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn vertex(&mut self, reader: &mut Reader<'_>) -> Result<GivenVertex<'s>, Problem> {
        let members = self.members(reader, "vertex")?;
        self.vertex_of(members)
    }

    /// The next vertex; without a label, and with properties that computations write alone, these are for a vertex that is there.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn vertex_or_computed(&mut self, reader: &mut Reader<'_>) -> Result<Given<'s>, Problem> {
        let members = self.members(reader, "vertex")?;
        match &members.id {
            Some(id) if members.label.is_none() && self.is_computed() => {
                let id = vertex_id_of_token(id, None)?;
                Ok(Given::Computed(id, self.builder.finish()))
            }
            _ => self.vertex_of(members).map(Given::Vertex),
        }
    }

    /// Whether computations write all of the properties, and there are some.
    fn is_computed(&self) -> bool {
        let is_olap = |key| self.schema.property_key(key).is_some_and(|key| key.write_type.is_olap());
        let mut keys = self.builder.keys();
        keys.next().is_some_and(is_olap) && keys.all(is_olap)
    }

    fn vertex_of(&mut self, members: Members<'_>) -> Result<GivenVertex<'s>, Problem> {
        let name =
            members.label.ok_or_else(|| Problem::illegal_argument("The vertex label can't be null"))?;
        let label = self.vertex_label_named(&name)?;
        self.vertex_label = Some(label);
        let has = |key| label.has_property(key);
        self.check_keys(has, || format!("vertex label '{}'", label.name))?;
        let id = members.id.map(|id| vertex_id_of_token(&id, Some(label))).transpose()?;
        Ok(GivenVertex { label, id, properties: self.builder.finish() })
    }

    /// The next edge.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn edge(&mut self, reader: &mut Reader<'_>, needed: VertexLabels) -> Result<GivenEdge<'s>, Problem> {
        let missing = |what: &str| Problem::illegal_argument(format!("Expect {what}"));
        let members = self.members(reader, "edge")?;
        let name = members.label.ok_or_else(|| missing("the label of edge"))?;
        let source = members.source.ok_or_else(|| missing("source vertex id"))?;
        let target = members.target.ok_or_else(|| missing("target vertex id"))?;
        let vertex_labels = match (members.source_label, members.target_label) {
            (Some(source), Some(target)) => {
                let [source_label, target_label] = self.end_labels;
                let source = self.end_label_named(&source, "source", source_label)?;
                let target = self.end_label_named(&target, "target", target_label)?;
                self.end_labels = [Some(source), Some(target)];
                Some((source, target))
            }
            (None, None) if needed == VertexLabels::Optional => None,
            (None, _) if needed == VertexLabels::Needed => return Err(missing("source vertex label")),
            (_, None) if needed == VertexLabels::Needed => return Err(missing("target vertex label")),
            _ => {
                return Err(Problem::illegal_argument(
                    "The both source and target vertex label are either passed in, or not passed in",
                ));
            }
        };
        let label = self.edge_label_named(&name)?;
        self.edge_label = Some(label);
        check_edge_label(label, vertex_labels)?;
        let has = |key| label.has_property(key);
        self.check_keys(has, || format!("edge label '{}'", label.name))?;
        let link = label.links.first();
        let ends = match (vertex_labels, link) {
            (Some((source, target)), _) => (Some(source), Some(target)),
            (None, Some(link)) => {
                (self.schema.vertex_label(link.source), self.schema.vertex_label(link.target))
            }
            (None, None) => (None, None),
        };
        let id = members.id.map(|id| match id {
            Token::Text(text) => Ok(text.into_owned()),
            _ => Err(Problem::illegal_argument("The id of an edge must be a string")),
        });
        Ok(GivenEdge {
            label,
            id: id.transpose()?,
            source: vertex_id_of_token(&source, ends.0.map(|label| &**label))?,
            target: vertex_id_of_token(&target, ends.1.map(|label| &**label))?,
            vertex_labels,
            properties: self.builder.finish(),
        })
    }

    /// The properties that an update gives; other members are passed over. Gives what the body says of the id and the label.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn properties(
        &mut self,
        reader: &mut Reader<'_>,
        kind: &str,
    ) -> Result<(Vec<PropertyKeyId>, Properties), Problem> {
        self.members(reader, kind)?;
        let keys = self.builder.keys().collect();
        Ok((keys, self.builder.finish()))
    }

    /// The keys of the properties that an update removes, whatever their values. Other members are passed over.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn property_keys(
        &mut self,
        reader: &mut Reader<'_>,
        kind: &str,
    ) -> Result<Vec<PropertyKeyId>, Problem> {
        let mut keys = None;
        reader.begin_object()?;
        while let Some(name) = reader.next_key()? {
            if name != "properties" || reader.peek()? == Kind::Null {
                reader.skip()?;
                continue;
            }
            let named: &mut Vec<_> = keys.insert(Vec::new());
            reader.begin_object()?;
            while let Some(name) = reader.next_key()? {
                named.push(self.key_named(&name, named.len())?.id);
                reader.skip()?;
            }
        }
        keys.ok_or_else(|| no_properties(kind))
    }

    /// Reads an object; its properties go to the builder.
    fn members<'a>(&mut self, reader: &mut Reader<'a>, kind: &str) -> Result<Members<'a>, Problem> {
        let mut members = Members::default();
        self.builder.clear();
        reader.begin_object()?;
        let mut number = 0;
        while let Some(member) = self.next_member(reader, number, kind)? {
            number += 1;
            match member {
                Member::Properties => members.has_properties = self.read_properties(reader, kind)?,
                Member::Label => members.label = optional_text(reader)?,
                Member::Id => members.id = Some(Token::read(reader)?).filter(|id| *id != Token::Null),
                Member::Source => members.source = Some(Token::read(reader)?).filter(|id| *id != Token::Null),
                Member::Target => members.target = Some(Token::read(reader)?).filter(|id| *id != Token::Null),
                Member::SourceLabel => members.source_label = optional_text(reader)?,
                Member::TargetLabel => members.target_label = optional_text(reader)?,
                Member::Type => reader.skip()?,
            }
        }
        if !members.has_properties {
            return Err(no_properties(kind));
        }
        Ok(members)
    }

    /// What the next member is; its value is next. `number` says which of its element it is. Cost: a comparison, where the element before it
    /// had the same one there.
    #[inline]
    fn next_member(
        &mut self,
        reader: &mut Reader<'_>,
        number: usize,
        kind: &str,
    ) -> Result<Option<Member>, Problem> {
        if let Some(member) = self.shape.get(number)
            && reader.take_key(member.name())
        {
            return Ok(Some(*member));
        }
        let Some(name) = reader.next_key()? else { return Ok(None) };
        let member = Member::ALL.into_iter().find(|member| member.name() == name);
        let member =
            member.ok_or_else(|| Problem::bad_body(format!("Unrecognized field \"{name}\" of a {kind}")))?;
        self.shape.truncate(number);
        self.shape.push(member);
        Ok(Some(member))
    }

    /// `false` if there is `null` in their stead.
    fn read_properties(&mut self, reader: &mut Reader<'_>, kind: &str) -> Result<bool, Problem> {
        if reader.peek()? == Kind::Null {
            reader.null()?;
            return Ok(false);
        }
        let mut number = 0;
        reader.begin_object()?;
        while let Some(key) = self.next_property(reader, number)? {
            number += 1;
            let token = Token::read(reader)?;
            if token == Token::Null {
                if self.skips_nulls {
                    continue;
                }
                return Err(Problem::illegal_argument(format!(
                    "Not allowed to set value of property '{}' to null for {kind}",
                    key.name
                )));
            }
            read_value(&token, key, &mut self.scratch, &mut self.builder)?;
        }
        Ok(true)
    }

    /// The key of the next property; its value is next. `number` says which of its element it is. Cost: a comparison, where the element before
    /// it had the same one there.
    #[inline]
    fn next_property(
        &mut self,
        reader: &mut Reader<'_>,
        number: usize,
    ) -> Result<Option<&'s Arc<PropertyKey>>, Problem> {
        if let Some((key, true)) = self.keys.get(number)
            && reader.take_key(&key.name)
        {
            return Ok(Some(key));
        }
        let Some(name) = reader.next_key()? else { return Ok(None) };
        self.key_named(&name, number).map(Some)
    }

    /// The key of this name; `number` says which property of its element it is.
    fn key_named(&mut self, name: &str, number: usize) -> Result<&'s Arc<PropertyKey>, Problem> {
        if let Some((key, _)) = self.keys.get(number).filter(|(key, _)| *key.name == *name) {
            return Ok(key);
        }
        let key = self.schema.property_key_named(name);
        let key =
            key.ok_or_else(|| Problem::illegal_argument(format!("Undefined property key: '{name}'")))?;
        let is_plain = !name.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\');
        self.keys.truncate(number);
        self.keys.push((key, is_plain));
        Ok(key)
    }

    fn vertex_label_named(&self, name: &str) -> Result<&'s Arc<VertexLabel>, Problem> {
        if let Some(label) = self.vertex_label.filter(|label| *label.name == *name) {
            return Ok(label);
        }
        let label = self.schema.vertex_label_named(name);
        label.ok_or_else(|| Problem::illegal_argument(format!("Undefined vertex label: '{name}'")))
    }

    /// The label of this name, which may be that of the last edge.
    fn end_label_named(
        &self,
        name: &str,
        end: &str,
        last: Option<&'s Arc<VertexLabel>>,
    ) -> Result<&'s Arc<VertexLabel>, Problem> {
        if let Some(label) = last.filter(|label| *label.name == *name) {
            return Ok(label);
        }
        let label = self.schema.vertex_label_named(name);
        label.ok_or_else(|| Problem::illegal_argument(format!("Invalid {end} vertex label '{name}'")))
    }

    fn edge_label_named(&self, name: &str) -> Result<&'s Arc<EdgeLabel>, Problem> {
        if let Some(label) = self.edge_label.filter(|label| *label.name == *name) {
            return Ok(label);
        }
        let label = self.schema.edge_label_named(name);
        label.ok_or_else(|| Problem::illegal_argument(format!("Undefined edge label: '{name}'")))
    }

    /// Refuses properties that the label does not have.
    fn check_keys(
        &self,
        has: impl Fn(PropertyKeyId) -> bool,
        label: impl Fn() -> String,
    ) -> Result<(), Problem> {
        for key in self.builder.keys() {
            if !has(key) {
                let name = self.schema.property_key(key).map_or("", |key| &*key.name);
                return Err(Problem::illegal_argument(format!("Invalid property '{name}' for {}", label())));
            }
        }
        Ok(())
    }
}

/// Refuses an edge of a label that has none, or between vertices that it does not join.
fn check_edge_label(
    label: &EdgeLabel,
    vertex_labels: Option<(&Arc<VertexLabel>, &Arc<VertexLabel>)>,
) -> Result<(), Problem> {
    if label.kind == EdgeLabelKind::Parent {
        return Err(Problem::illegal_argument(
            "The label of the created/updated edge is not allowed to be the parent type",
        ));
    }
    match vertex_labels {
        Some((source, target)) if !label.may_join(source.id, target.id) => Err(Problem::illegal_argument(
            format!("Undefined link of edge label '{}': '{}' -> '{}'", label.name, source.name, target.name),
        )),
        _ => Ok(()),
    }
}

fn no_properties(kind: &str) -> Problem {
    Problem::illegal_argument(format!("The properties of {kind} can't be null"))
}

fn optional_text<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, lang_json::Error> {
    if reader.peek()? == Kind::Null {
        reader.null()?;
        return Ok(None);
    }
    reader.string().map(Some)
}

#[cfg(test)]
mod tests;
