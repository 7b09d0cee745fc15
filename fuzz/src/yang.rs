//! YANG texts, archives of them, patterns, stored schemas, and values under every type.

use lang_yang::statement::Statements;
use lang_yang::testing::{every_type, schema_of_every_type};
use lang_yang::{ArchiveLimits, Kinds, Pattern, Prefixes, Scalar, Schema, TypeKind, ValueRules, unpack};

use crate::{Target, texts};

/// Statements nest, and their lines ascend.
pub(crate) const TEXT: Target = Target { name: "yang_text", run: text, seeds: text_seeds };
/// An archive gives modules within the limits, or is refused.
pub(crate) const ARCHIVE: Target = Target { name: "yang_archive", run: archive, seeds: archive_seeds };
/// A pattern of the first line, and a value of the rest: an inverted pattern takes what the pattern does not.
pub(crate) const PATTERN: Target = Target { name: "yang_pattern", run: pattern, seeds: pattern_seeds };
/// A schema that is decoded is sound, and the same when it is encoded and decoded again.
pub(crate) const SCHEMA: Target =
    Target { name: "yang_schema", run: schema, seeds: || vec![schema_of_every_type().encode()] };
/// A canonical value is its own canonical value.
pub(crate) const VALUE: Target = Target { name: "yang_value", run: value, seeds: value_seeds };

fn text_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "module a {\n namespace 'urn:a'; prefix a; // x\n import b { prefix b; revision-date 2020-01-01; }\n}",
        "submodule s { belongs-to a { prefix a; } leaf x { type string { pattern \"a\\\\.\\n\" + 'b'; } } /* c */ }",
        "a{b{c{d;}}}",
    ])
}

fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (mut line, mut depth_max) = (1, 0);
    for statement in Statements::new(text).map_while(Result::ok) {
        assert!(statement.line >= line && statement.depth <= depth_max);
        line = statement.line;
        depth_max = statement.depth + usize::from(statement.body.is_some());
        if let Some(body) = statement.body {
            assert!(text.get(..body).is_some_and(|before| before.ends_with('{')));
        }
    }
}

/// An archive of one stored file `a.yang`.
fn archive_seeds() -> Vec<Vec<u8>> {
    let (name, text) = (b"a.yang", b"module a { namespace urn:a; prefix a; }");
    let crc = flate2::Crc::new();
    let crc = {
        let mut crc = crc;
        crc.update(text);
        crc.sum()
    };
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("it is short");
    let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    common.extend(crc.to_le_bytes());
    common.extend(length(text).to_le_bytes());
    common.extend(length(text).to_le_bytes());
    common.extend([6, 0, 0, 0]);
    let mut out = b"PK\x03\x04".to_vec();
    out.extend(&common);
    out.extend(name);
    out.extend(text);
    let directory = length(&out);
    out.extend(b"PK\x01\x02\x14\0");
    out.extend(&common);
    out.extend([0; 14]);
    out.extend(name);
    let size = length(&out) - directory;
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(size.to_le_bytes());
    out.extend(directory.to_le_bytes());
    out.extend([0, 0]);
    vec![out]
}

fn archive(bytes: &[u8]) {
    let limits =
        ArchiveLimits { entries_max: 20, unpacked_bytes_max: 1 << 16, ratio_max: 50, folder_depth_max: 3 };
    let Ok(files) = unpack("set.zip", bytes, &limits) else { return };
    assert!(!files.is_empty() && files.len() <= limits.entries_max);
    assert!(files.iter().map(|file| file.text.len()).sum::<usize>() <= limits.unpacked_bytes_max);
}

fn pattern_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "[a-z-[aeiou]]{1,3}(\\.\\d+)?|\\p{IsGreek}\nbcd.12",
        "\\i\\c*\n_a",
        "[^\\s\\-\\]]+x??\na b",
        "(([0-9a-f]{2}:){5}[0-9a-f]{2})\n00:11:22:33:44:55",
    ])
}

fn pattern(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (pattern, value) = text.split_once('\n').unwrap_or((text, ""));
    // What is repeated often is slow to compile, and bounded by a test of its own.
    if pattern.len() > 200 || pattern.matches('{').count() > 4 || pattern.contains("00") {
        return;
    }
    let (plain, inverted) = (Pattern::new(pattern, false), Pattern::new(pattern, true));
    if plain.compile().is_ok() {
        assert_ne!(plain.allows(value), inverted.allows(value));
    } else {
        assert!(!plain.allows(value) && !inverted.allows(value));
    }
}

fn schema(bytes: &[u8]) {
    let Ok(schema) = Schema::decode(bytes) else { return };
    for (index, node) in (0_u32..).zip(&schema.nodes) {
        let siblings = schema.children(node.parent);
        assert_eq!(siblings.get(node.slot as usize).map(|id| id.0), Some(index));
    }
    assert_eq!(Schema::decode(&schema.encode()), Ok(schema));
}

fn value_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "-5",
        "+0.50",
        "true",
        "a",
        "b a",
        "AQID",
        "b:j",
        "/a:c/l[k='x'][m=\"y\"]/k",
        "/a:c/list-1[.='3']",
        "1.20e1",
    ])
}

fn value(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let schema = schema_of_every_type();
    let module = schema.module_named("a").expect("it has it");
    for kinds in [Kinds::Rfc7951, Kinds::Lenient] {
        for prefixes in [Prefixes::Modules, Prefixes::Lenient] {
            let rules = ValueRules { schema: &schema, module, prefixes, kinds };
            for type_ in every_type() {
                for scalar in [Scalar::Text(text), Scalar::String(text), Scalar::Number(text)] {
                    let Ok(value) = type_.check(scalar, &rules) else { continue };
                    // A member of a union may take what another made of a value.
                    if !matches!(type_.kind(), TypeKind::Union(_)) {
                        assert_eq!(type_.check(Scalar::Text(&value.text), &rules), Ok(value));
                    }
                }
            }
        }
    }
}
