//! What reading and writing data costs: `cargo bench -p lang-yang --bench data`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use lang_yang::{
    CompileOptions, Content, Features, ReadOptions, Schema, Style, YangFile, compile, read_json, read_xml,
    write_content_json, write_content_xml,
};

/// Networks with nodes, termination points and links, in three modules, as RFC 8345 and RFC 8944 have them.
const NETWORK: &str = r#"module network { yang-version 1.1; namespace "urn:bench:network"; prefix nw;
  typedef node-id { type string { pattern "[a-zA-Z0-9][a-zA-Z0-9._:,-]*"; } }
  container networks { list network { key network-id; leaf network-id { type node-id; }
    container network-types { } list supporting-network { key network-ref; leaf network-ref { type node-id; } }
    list node { key node-id; leaf node-id { type node-id; } } } } }"#;
const TOPOLOGY: &str = r#"module topology { yang-version 1.1; namespace "urn:bench:topology"; prefix nt;
  import network { prefix nw; }
  augment "/nw:networks/nw:network" { list link { key link-id; leaf link-id { type nw:node-id; }
    container source { leaf source-node { type leafref { path "../../../nw:node/nw:node-id"; require-instance false; } }
      leaf source-tp { type string; } }
    container destination { leaf dest-node { type nw:node-id; } leaf dest-tp { type string; } } } }
  augment "/nw:networks/nw:network/nw:node" { list termination-point { key tp-id; leaf tp-id { type nw:node-id; } } } }"#;
const LAYER_2: &str = r#"module l2-topology { yang-version 1.1; namespace "urn:bench:l2"; prefix l2t;
  import network { prefix nw; } import topology { prefix nt; }
  typedef mac { type string { pattern "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"; } }
  typedef address { type union { type string { pattern '([0-9]{1,3}\.){3}[0-9]{1,3}'; } type string { pattern "[0-9a-f:]+"; } } }
  augment "/nw:networks/nw:network/nw:node" { container l2-node-attributes { leaf name { type string; }
    leaf-list management-address { type address; } } }
  augment "/nw:networks/nw:network/nt:link" { container l2-link-attributes { leaf rate { type uint64; } leaf delay { type uint32; } } }
  augment "/nw:networks/nw:network/nw:node/nt:termination-point" { container l2-termination-point-attributes {
    leaf mac-address { type mac; } leaf lag { type boolean; } leaf-list member-link-tp { type string; } } } }"#;

const ROUNDS: u32 = 20_000;

fn schema() -> Schema {
    let file = |name: &str, text: &str| YangFile { name: name.into(), text: text.into() };
    let files =
        [file("network.yang", NETWORK), file("topology.yang", TOPOLOGY), file("l2-topology.yang", LAYER_2)];
    compile(&files, &CompileOptions { features: Features::All }).expect("the modules are YANG").schema
}

/// A network of 3 nodes, 10 termination points and 6 links: 50 containers and entries, with indents 5 to 6 KB.
fn document(indent: bool) -> String {
    let mut json =
        String::from(r#"{"network:networks":{"network":[{"network-id":"l2-topo-example","node":["#);
    for (node, points) in [(1_u32, 5_u32), (2, 3), (3, 2)] {
        let comma = if node > 1 { "," } else { "" };
        write!(json, r#"{comma}{{"node-id":"D{node}","topology:termination-point":["#).expect("a string");
        for point in 0..points {
            let comma = if point > 0 { "," } else { "" };
            let lag = if point == 0 { r#","lag":true,"member-link-tp":["1-0-1-1","1-0-1-2"]"# } else { "" };
            let attributes = format!(
                r#""l2-topology:l2-termination-point-attributes":{{"mac-address":"00:00:5e:00:5{node}:d{point}"{lag}}}"#
            );
            write!(json, r#"{comma}{{"tp-id":"{node}-{point}-1",{attributes}}}"#).expect("a string");
        }
        write!(json, r#"],"l2-topology:l2-node-attributes":{{"management-address":["192.0.2.{node}","2001:db8:0:{node}::"]}}}}"#)
            .expect("a string");
    }
    json.push_str(r#"],"topology:link":["#);
    for link in 0..6 {
        let comma = if link > 0 { "," } else { "" };
        let (source, dest) = (link % 3 + 1, (link + 1) % 3 + 1);
        write!(
            json,
            concat!(
                r#"{}{{"link-id":"D{},{}-2-1,D{},{}-1-1-{}","source":{{"source-node":"D{}","source-tp":"{}-2-1"}},"#,
                r#""destination":{{"dest-node":"D{}","dest-tp":"{}-1-1"}},"l2-topology:l2-link-attributes":{{"rate":"1000"}}}}"#
            ),
            comma, source, source, dest, dest, link, source, source, dest, dest
        )
        .expect("a string");
    }
    json.push_str("]}]}}");
    if indent { indented(&json) } else { json }
}

/// The same with a line for each member, as people write it.
fn indented(json: &str) -> String {
    let (mut out, mut depth, mut in_string) = (String::new(), 0_usize, false);
    for character in json.chars() {
        match character {
            '"' => in_string = !in_string,
            '}' | ']' if !in_string => {
                depth -= 1;
                write!(out, "\n{:depth$}", "", depth = 2 * depth).expect("a string");
            }
            _ => {}
        }
        out.push(character);
        match character {
            '{' | '[' if !in_string => {
                depth += 1;
                write!(out, "\n{:depth$}", "", depth = 2 * depth).expect("a string");
            }
            ',' if !in_string => write!(out, "\n{:depth$}", "", depth = 2 * depth).expect("a string"),
            ':' if !in_string => out.push(' '),
            _ => {}
        }
    }
    out
}

fn nodes(content: &Content) -> usize {
    content.children.iter().map(|child| 1 + nodes(&child.content)).sum()
}

/// The best of five turns, in microseconds a call.
fn measure(out: &mut impl Write, what: &str, bytes: usize, mut call: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    let _ = writeln!(out, "{what:<34} {bytes:>5} B {best:>8.3} us");
}

fn main() {
    let schema = schema();
    let (compact, spaced) = (document(false), document(true));
    let content =
        read_json(&schema, None, compact.as_bytes(), &ReadOptions::RFC7951).expect("data of the schema");
    let (mut cps, mut xml) = (Vec::new(), Vec::new());
    write_content_json(&schema, &content, Style::CPS, &mut cps);
    write_content_xml(&schema, &content, Style::RFC7951, &mut xml);
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{} containers and entries", nodes(&content));

    for (what, text, options) in [
        ("read JSON", compact.as_bytes(), ReadOptions::RFC7951),
        ("read JSON with indents", spaced.as_bytes(), ReadOptions::RFC7951),
        ("read JSON of CPS", &cps, ReadOptions::CPS),
    ] {
        measure(&mut out, what, text.len(), || {
            let read = read_json(&schema, None, black_box(text), &options).expect("data of the schema");
            assert_eq!(read.children.len(), 1);
        });
    }
    measure(&mut out, "read XML", xml.len(), || {
        let read =
            read_xml(&schema, None, black_box(&xml), &ReadOptions::RFC7951).expect("data of the schema");
        assert_eq!(read.children.len(), 1);
    });
    let mut buffer = Vec::new();
    for (what, style) in [("write JSON", Style::RFC7951), ("write JSON of CPS", Style::CPS)] {
        write_content_json(&schema, &content, style, &mut buffer);
        let bytes = buffer.len();
        measure(&mut out, what, bytes, || {
            buffer.clear();
            write_content_json(&schema, black_box(&content), style, &mut buffer);
        });
        buffer.clear();
    }
    measure(&mut out, "write XML", xml.len(), || {
        buffer.clear();
        write_content_xml(&schema, black_box(&content), Style::RFC7951, &mut buffer);
    });
}
