//! Precedence, provenance and refusals of settings. (Variables are tested from outside, where a
//! process has an environment of its own: tests/it/settings.rs.)

use super::*;

fn parse_with(file: Option<&str>, flags: &[&str]) -> anyhow::Result<Parsed> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twinfold.toml");
    let mut arguments: Vec<OsString> = vec!["twinfold".into(), "serve".into()];
    if let Some(text) = file {
        std::fs::write(&path, text).unwrap();
        arguments.extend(["--settings".into(), path.into()]);
    }
    arguments.extend(flags.iter().map(Into::into));
    parse(&arguments)
}

fn check(file: Option<&str>, flags: &[&str], key: &str, value: Option<&str>, from: &str) {
    let parsed = parse_with(file, flags).unwrap();
    let origin = parsed.origins.iter().find(|origin| origin.key == key).unwrap();
    assert_eq!(origin.value.as_deref(), value);
    assert!(origin.from.starts_with(from), "{origin:?}");
}

fn check_refused(file: &str, words: &[&str]) {
    let error = parse_with(Some(file), &[]).unwrap_err();
    let message = format!("{error:#}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

#[test]
fn the_flag_goes_before_the_file_and_the_file_before_the_default() {
    check(None, &[], "page_rows_max", Some("1000"), "default");
    check(Some("[http]\npage_rows_max = 500"), &[], "page_rows_max", Some("500"), "file ");
    check(
        Some("[http]\npage_rows_max = 500"),
        &["--page-rows-max", "7"],
        "page_rows_max",
        Some("7"),
        "flag --page-rows-max",
    );
    check(None, &["--page-rows-max=9"], "page_rows_max", Some("9"), "flag");
    check(None, &[], "tls_cert", None, "not set");
    check(Some("[tls]\ncert = \"a.pem\""), &[], "tls_cert", Some("a.pem"), "file");
}

#[test]
fn values_arrive_in_the_struct() {
    let file = "listen = \"0.0.0.0:7\"\nstore = \"memory\"\ndurability = \"interval:5ms\"\n[http]\nbody_bytes_max = \"1MiB\"";
    let Command::Serve(settings) = parse_with(Some(file), &["--threads", "3"]).unwrap().cli.command else {
        panic!()
    };
    assert_eq!(settings.general.listen, "0.0.0.0:7");
    assert_eq!(settings.http.body_bytes_max.as_usize(), 1 << 20);
    assert_eq!(settings.general.store, crate::settings::Engine::Memory);
    assert_eq!(settings.general.threads, 3);
}

#[test]
fn a_wrong_file_is_told_by_key() {
    check_refused("page_row_max = 1", &["page_row_max", "unknown key", "did you mean \"page_rows_max\""]);
    check_refused("xyzzy = 1", &["xyzzy", "unknown key"]);
    check_refused("[limits]\npage_rows_max = 1", &["[limits]", "unknown table", "there are: engine"]);
    check_refused("settings = \"other.toml\"", &["settings", "unknown key"]);
    check_refused("[http]\npage_rows_max = [1]", &["page_rows_max", "text or a whole number"]);
    check_refused("[http]\npage_rows_max = \"many\"", &["twinfold.toml, line 2", "--page-rows-max"]);
    check_refused("page_rows_max", &["not TOML"]);
}

#[test]
fn printed_settings_are_a_settings_file() {
    let parsed = parse_with(Some("[log]\nformat = \"json\""), &["--data", "/a \"b\""]).unwrap();
    let mut printed = Vec::new();
    print_settings(&parsed.origins, &mut printed).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let again = parse_with(Some(&printed), &[]).unwrap();
    for before in &parsed.origins {
        let after = again.origins.iter().find(|after| after.key == before.key).unwrap();
        assert_eq!(before.value, after.value, "{}", before.key);
    }
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}
