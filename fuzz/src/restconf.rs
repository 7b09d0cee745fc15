//! RESTCONF: paths of resources, expressions of fields, lists of edits.

use crate::{Target, texts};

/// The path of a resource that is printed means the same.
pub(crate) const PATH: Target = Target { name: "restconf_path", run: path, seeds: path_seeds };
/// Parameters of reads.
pub(crate) const FIELDS: Target = Target { name: "restconf_fields", run: fields, seeds: field_seeds };

/// YANG Patch in both forms: what is read of XML is a document by itself.
pub(crate) const PATCH: Target = Target { name: "restconf_patch", run: patch, seeds: patch_seeds };

fn path_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "ietf-yang-library:modules-state/module=a%2Cb%2F,2019-01-04/namespace",
        "/ietf-yang-library:yang-library/module-set=/module='%22",
        "ietf-yang-library:yang-library/schema=x/module-set=y",
        "/m:a/b[c='/x:y']/d:e[.=\"z\"]",
    ])
}

fn path(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    api_restconf::testing::path(text);
    let place = api_restconf::testing::place(text);
    assert_eq!(api_restconf::testing::place(&place), place, "prefixes are put once");
}

fn field_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "ietf-yang-library:yang-library(module-set/module(name;revision);content-id)",
        "ietf-yang-library:modules-state;a(b;c/d)",
        "65535",
        "unbounded",
    ])
}

fn fields(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    api_restconf::testing::fields(text);
    if let Some(depth) = api_restconf::testing::depth(text) {
        assert!(depth.is_none_or(|depth| depth > 0), "levels are counted from one");
    }
}

fn patch_seeds() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"ietf-yang-patch:yang-patch":{"patch-id":"p","comment":"c","edit":[{"edit-id":"1","operation":"insert","target":"/a=1","where":"before","point":"/a=2","value":{"m:a":[{"b":1}]}}]}}"#,
        r#"<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch" xmlns:x="urn:x"><patch-id>p&amp;</patch-id><edit><edit-id>1</edit-id><operation>replace</operation><target>/x:a</target><value><x:a c='"'>1<b/></x:a></value></edit></yang-patch>"#,
    ])
}

fn patch(bytes: &[u8]) {
    api_restconf::testing::patch(bytes);
}
