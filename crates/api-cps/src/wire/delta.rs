//! Reports of deltas as bodies and answers have them: a list of items in JSON, `<deltaReports>` in XML.

use config::delta::{Action, DeltaItem, Part};
use lang_json::{Commas, ObjectWriter, Reader};
use lang_yang::{Schema, write_content_json, write_content_xml};
use quick_xml::escape::{partial_escape, unescape};
use quick_xml::events::Event;

use crate::media::Form;
use crate::problem::Problem;
use crate::wire::tree::BARE;

/// An item as a body gives it.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ItemGiven<'a> {
    pub(crate) action: Action,
    pub(crate) xpath: String,
    /// The text of its data, in the form of the body.
    pub(crate) source: Option<&'a str>,
    pub(crate) target: Option<&'a str>,
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Remove => "remove",
        Action::Replace => "replace",
    }
}

/// Writes a report, item by item.
#[derive(Debug)]
pub(crate) struct ReportWriter {
    form: Form,
    items: u64,
    commas: Commas,
}

impl ReportWriter {
    /// Begins a report.
    pub(crate) fn begin(out: &mut Vec<u8>, form: Form) -> Self {
        out.extend_from_slice(match form {
            Form::Json => b"[",
            Form::Xml => b"<deltaReports>",
        });
        Self { form, items: 0, commas: Commas::default() }
    }

    /// Writes an item, whose data are of these schemas.
    pub(crate) fn item(&mut self, out: &mut Vec<u8>, (source, target): (&Schema, &Schema), item: &DeltaItem) {
        self.items += 1;
        match self.form {
            Form::Json => {
                self.commas.next(out);
                let mut object = ObjectWriter::begin(out);
                object.string("action", word(item.action));
                object.string("xpath", &item.xpath);
                put_json(&mut object, "sourceData", source, item.source.as_ref());
                put_json(&mut object, "targetData", target, item.target.as_ref());
                object.end();
            }
            Form::Xml => {
                let (number, action) = (self.items, word(item.action));
                let xpath = partial_escape(&*item.xpath);
                let head =
                    format!("<deltaReport id=\"{number}\"><action>{action}</action><xpath>{xpath}</xpath>");
                out.extend_from_slice(head.as_bytes());
                put_xml(out, "source-data", source, item.source.as_ref());
                put_xml(out, "target-data", target, item.target.as_ref());
                out.extend_from_slice(b"</deltaReport>");
            }
        }
    }

    /// Ends the report.
    pub(crate) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self.form {
            Form::Json => b"]",
            Form::Xml => b"</deltaReports>",
        });
    }
}

fn put_json(object: &mut ObjectWriter<'_, Vec<u8>>, name: &str, schema: &Schema, part: Option<&Part>) {
    if let Some(part) = part {
        write_content_json(schema, &part.content, BARE, object.member(name));
    }
}

fn put_xml(out: &mut Vec<u8>, name: &str, schema: &Schema, part: Option<&Part>) {
    if let Some(part) = part {
        out.extend_from_slice(format!("<{name}>").as_bytes());
        write_content_xml(schema, &part.content, BARE, out);
        out.extend_from_slice(format!("</{name}>").as_bytes());
    }
}

/// The items of a report.
///
/// # Errors
///
/// 400.
pub(crate) fn read_report(form: Form, body: &[u8], depth_max: usize) -> Result<Vec<ItemGiven<'_>>, Problem> {
    let text = std::str::from_utf8(body).map_err(|_| unreadable("it is no UTF-8"))?;
    match form {
        Form::Json => read_json_report(text, depth_max),
        Form::Xml => read_xml_report(text),
    }
}

/// What of an item was read.
#[derive(Debug, Default)]
struct Draft<'a> {
    action: Option<String>,
    xpath: Option<String>,
    source: Option<&'a str>,
    target: Option<&'a str>,
}

impl<'a> Draft<'a> {
    fn item(self) -> Result<ItemGiven<'a>, Problem> {
        let xpath = self.xpath.ok_or_else(|| unreadable("an item has no xpath"))?;
        let action = match self.action.as_deref() {
            Some("create") => Action::Create,
            Some("remove") => Action::Remove,
            Some("replace") => Action::Replace,
            other => {
                let given = other.unwrap_or("");
                return Err(Problem::bad_request(
                    "Invalid 'action' in delta report.",
                    format!(
                        "Unsupported action '{given}' at xpath: {xpath}. Valid actions are: 'create', 'remove' or 'replace'."
                    ),
                ));
            }
        };
        Ok(ItemGiven { action, xpath, source: self.source, target: self.target })
    }
}

fn unreadable(reason: impl std::fmt::Display) -> Problem {
    Problem::invalid_data(format!("the delta report cannot be read: {reason}"))
}

fn read_json_report(text: &str, depth_max: usize) -> Result<Vec<ItemGiven<'_>>, Problem> {
    let mut reader = Reader::new(text, depth_max);
    let mut items = Vec::new();
    reader.begin_array().map_err(unreadable)?;
    while reader.next_element().map_err(unreadable)? {
        let mut draft = Draft::default();
        reader.begin_object().map_err(unreadable)?;
        while let Some(name) = reader.next_key().map_err(unreadable)? {
            match &*name {
                "action" => draft.action = Some(reader.string().map_err(unreadable)?.into_owned()),
                "xpath" => draft.xpath = Some(reader.string().map_err(unreadable)?.into_owned()),
                "sourceData" | "source-data" => draft.source = Some(reader.raw().map_err(unreadable)?),
                "targetData" | "target-data" => draft.target = Some(reader.raw().map_err(unreadable)?),
                other => return Err(unreadable(format!("an item has no member {other:?}"))),
            }
        }
        items.push(draft.item()?);
    }
    reader.end().map_err(unreadable)?;
    Ok(items)
}

fn read_xml_report(text: &str) -> Result<Vec<ItemGiven<'_>>, Problem> {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let (mut items, mut draft, mut depth) = (Vec::new(), None::<Draft<'_>>, 0_usize);
    let mut is_begun = false;
    loop {
        match reader.read_event().map_err(unreadable)? {
            Event::Start(start) => {
                let name = start.local_name();
                let name = name.as_ref();
                match (depth, &mut draft) {
                    (0, None) if name == "deltaReports" && !is_begun => (depth, is_begun) = (1, true),
                    (1, None) if name == "deltaReport" => (draft, depth) = (Some(Draft::default()), 2),
                    (2, Some(draft)) => {
                        let name = name.to_owned();
                        let inside = reader.read_to_end(start.to_end().name()).map_err(unreadable)?;
                        let inside = usize::try_from(inside.start).ok().zip(usize::try_from(inside.end).ok());
                        let inside = inside
                            .and_then(|(from, to)| text.get(from..to))
                            .expect("a span of the text that was read");
                        put_member(draft, &name, inside)?;
                    }
                    _ => return Err(unreadable("it is no <deltaReports> with elements <deltaReport>")),
                }
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if let Some(draft) = draft.take() {
                    items.push(draft.item()?);
                }
            }
            Event::Eof if depth == 0 && is_begun => return Ok(items),
            Event::Eof => return Err(unreadable("it is no whole <deltaReports>")),
            Event::Text(text) if text.trim_ascii().is_empty() => {}
            Event::Text(_) | Event::CData(_) => return Err(unreadable("there is text between elements")),
            Event::DocType(_) => return Err(unreadable("document types are not supported")),
            _ => {}
        }
    }
}

fn put_member<'a>(draft: &mut Draft<'a>, name: &str, inside: &'a str) -> Result<(), Problem> {
    let plain = || unescape(inside).map(|text| text.trim().to_owned()).map_err(unreadable);
    match name {
        "action" => draft.action = Some(plain()?),
        "xpath" => draft.xpath = Some(plain()?),
        "source-data" | "sourceData" => draft.source = Some(inside),
        "target-data" | "targetData" => draft.target = Some(inside),
        other => return Err(unreadable(format!("an item has no element {}", other))),
    }
    Ok(())
}

/// The names of the members, or of the elements, of data.
///
/// # Errors
///
/// 400.
pub(crate) fn names_of(form: Form, data: &str, depth_max: usize) -> Result<Vec<String>, Problem> {
    let mut names = Vec::new();
    match form {
        Form::Json => {
            let mut reader = Reader::new(data, depth_max);
            reader.begin_object().map_err(unreadable)?;
            while let Some(name) = reader.next_key().map_err(unreadable)? {
                names.push(name.into_owned());
                reader.skip().map_err(unreadable)?;
            }
        }
        Form::Xml => {
            let mut reader = quick_xml::Reader::from_str(data);
            reader.config_mut().expand_empty_elements = true;
            loop {
                match reader.read_event().map_err(unreadable)? {
                    Event::Start(start) => {
                        names.push(start.local_name().as_ref().to_owned());
                        reader.read_to_end(start.to_end().name()).map_err(unreadable)?;
                    }
                    Event::Eof => break,
                    _ => {}
                }
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item<'a>(
        action: Action,
        xpath: &str,
        source: Option<&'a str>,
        target: Option<&'a str>,
    ) -> ItemGiven<'a> {
        ItemGiven { action, xpath: xpath.into(), source, target }
    }

    #[test]
    fn reports_are_read_in_both_forms() {
        let json = r#"[{"action":"create","xpath":"/a[@k='1']","targetData":{"b":[1]}},
            {"action":"replace","xpath":"/a","source-data":{},"target-data":{"c":"x"}}]"#;
        let expected = [
            item(Action::Create, "/a[@k='1']", None, Some(r#"{"b":[1]}"#)),
            item(Action::Replace, "/a", Some("{}"), Some(r#"{"c":"x"}"#)),
        ];
        assert_eq!(read_report(Form::Json, json.as_bytes(), 9).expect("a report"), expected);
        let xml = "<?xml version=\"1.0\"?><deltaReports><deltaReport id=\"1\"><action>remove</action>\
            <xpath>/a[@k=&apos;1&apos;]</xpath><source-data><b><c>1</c></b></source-data></deltaReport>\
            <deltaReport><xpath>/</xpath><action>create</action><target-data/></deltaReport></deltaReports>";
        let expected = [
            item(Action::Remove, "/a[@k='1']", Some("<b><c>1</c></b>"), None),
            item(Action::Create, "/", None, Some("")),
        ];
        assert_eq!(read_report(Form::Xml, xml.as_bytes(), 9).expect("a report"), expected);
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for wrong in
            ["{}", "[1]", "[{}]", r#"[{"action":"move","xpath":"/a"}]"#, r#"[{"xpath":"/a","x":1}]"#, "["]
        {
            assert!(read_report(Form::Json, wrong.as_bytes(), 9).is_err(), "{wrong}");
        }
        for wrong in [
            "<a/>",
            "<deltaReports><x/></deltaReports>",
            "<deltaReports>",
            "<deltaReports><deltaReport/></deltaReports>",
        ] {
            assert!(read_report(Form::Xml, wrong.as_bytes(), 9).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_of_data_are_those_at_its_top() {
        assert_eq!(names_of(Form::Json, r#"{"a":{"b":1},"m:c":[]}"#, 9).expect("names"), ["a", "m:c"]);
        assert_eq!(names_of(Form::Xml, "<a><b/></a> <c/>", 9).expect("names"), ["a", "c"]);
    }
}
