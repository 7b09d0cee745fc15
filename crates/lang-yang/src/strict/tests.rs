//! Documents that only strict mode refuses.

use super::{Strict, YangFile};
use crate::engine::{CompileOptions, Features};

fn strict(body: &str) -> Strict {
    let text = format!("module a {{ yang-version 1.1; namespace urn:a; prefix a; {body} }}");
    let files = [YangFile { name: "a.yang".into(), text: text.into() }];
    Strict::new(&files, &CompileOptions { features: Features::All }).unwrap()
}

/// Each document with what is said of it; `None`: it is valid.
fn check(strict: &Strict, cases: &[(&str, Option<&str>)]) {
    for (document, expected) in cases {
        let found = strict.validate(document).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), *expected, "{document}");
    }
}

#[test]
fn conditions_and_references_hold() {
    let strict = strict(
        "container c { leaf on { type boolean; } leaf w { when '../on = \"true\"'; type int8; } \
         leaf m { must '. > 1'; type int8; } leaf r { type leafref { path ../m; } } }",
    );
    check(
        &strict,
        &[
            (r#"{"a:c":{"on":true,"w":1}}"#, None),
            (
                r#"{"a:c":{"on":false,"w":1}}"#,
                Some("/a:c/w: When condition \"../on = \"true\"\" not satisfied"),
            ),
            (r#"{"a:c":{"m":1}}"#, Some("/a:c/m: Must condition \". > 1\" not satisfied")),
            (r#"{"a:c":{"m":2,"r":2}}"#, None),
            (
                r#"{"a:c":{"m":2,"r":3}}"#,
                Some("/a:c/r: Invalid leafref value \"3\" - no target instance \"../m\" with the same value"),
            ),
        ],
    );
}

#[test]
fn numbers_and_choices_hold() {
    let strict = strict(
        "container c { presence p; leaf must-be { mandatory true; type int8; } \
         list l { key k; unique u; max-elements 2; leaf k { type int8; } leaf u { type int8; } } \
         choice x { leaf one { type int8; } leaf two { type int8; } } leaf-list few { type int8; min-elements 2; } }",
    );
    let with = |members: &str| format!(r#"{{"a:c":{{"must-be":1,"few":[1,2]{members}}}}}"#);
    check(
        &strict,
        &[
            ("{}", None),
            (&with(""), None),
            (r#"{"a:c":{"few":[1,2]}}"#, Some("/a:c: Mandatory node \"must-be\" instance does not exist")),
            (r#"{"a:c":{"must-be":1,"few":[1]}}"#, Some("/a:c/few[.='1']: Too few \"few\" instances")),
            (
                &with(r#","l":[{"k":1,"u":5},{"k":2,"u":5}]"#),
                Some(
                    "/a:c/l[k='2']: Unique data leaf(s) \"u\" not satisfied in \"/a:c/l[k='1']\" and \"/a:c/l[k='2']\"",
                ),
            ),
            (&with(r#","l":[{"k":1},{"k":2},{"k":3}]"#), Some("/a:c/l[k='3']: Too many \"l\" instances")),
            (&with(r#","one":1,"two":2"#), Some("/a:c/x: Data for both cases \"one\" and \"two\" exist")),
            ("{\"a:c\":\0}", Some("a zero byte is not of JSON")),
        ],
    );
}

#[test]
fn threads_share_one() {
    let strict = strict("container c { leaf m { must '. > 1'; type int8; } }");
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let strict = &strict;
            scope.spawn(move || {
                for round in 0..200_u32 {
                    let value = (thread + round) % 4;
                    let result = strict.validate(&format!(r#"{{"a:c":{{"m":{value}}}}}"#));
                    assert_eq!(result.is_ok(), value > 1, "{value}: {result:?}");
                }
            });
        }
    });
}
