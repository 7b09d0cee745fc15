//! Where settings come from, and what is said of wrong ones.

use std::io::{BufRead as _, BufReader};

use crate::harness::{Server, output, twinfold};

/// Each line: file, variable, flag, and what is in force, from where.
#[test]
fn precedence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let file = path.to_str().unwrap();
    let check =
        |in_file: Option<&str>, variable: Option<&str>, flag: Option<&str>, value: &str, from: &str| {
            let mut command = twinfold(&["settings"]);
            if let Some(value) = in_file {
                std::fs::write(&path, format!("[http]\npage_rows_max = {value}")).unwrap();
                command.env("TWINFOLD_SETTINGS", file);
            }
            command.envs(variable.map(|value| ("TWINFOLD_PAGE_ROWS_MAX", value)));
            if let Some(flag) = flag {
                command.args(["--page-rows-max", flag]);
            }
            let (code, printed, errors) = output(&mut command);
            assert_eq!((code, errors.as_str()), (Some(0), ""));
            let line = printed.lines().find(|line| line.starts_with("page_rows_max = ")).unwrap();
            let (setting, origin) = line.split_once('#').unwrap();
            assert_eq!(setting.trim(), format!("page_rows_max = {value}"));
            assert!(origin.trim().starts_with(from), "{line}");
        };
    check(None, None, None, "1000", "default");
    check(Some("30"), None, None, "30", "file");
    check(None, Some("31"), None, "31", "environment TWINFOLD_PAGE_ROWS_MAX");
    check(None, None, Some("32"), "32", "flag --page-rows-max");
    check(Some("30"), Some("31"), None, "31", "environment");
    check(Some("30"), None, Some("32"), "32", "flag");
    check(None, Some("31"), Some("32"), "32", "flag");
    check(Some("30"), Some("31"), Some("32"), "32", "flag");
}

#[test]
fn wrong_settings_end_with_code_2_and_name_the_culprit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let check = |file: &str, flags: &[&str], words: &[&str]| {
        std::fs::write(&path, file).unwrap();
        let (code, _, errors) = output(twinfold(&["serve", "--settings"]).arg(&path).args(flags));
        assert_eq!(code, Some(2), "{errors}");
        for word in words {
            assert!(errors.contains(word), "{word:?} is not in {errors:?}");
        }
    };
    check(
        "lissten = \"127.0.0.1:0\"",
        &[],
        &["unknown key \"lissten\"", "did you mean \"listen\"", "settings.toml"],
    );
    check("[http]\npage_rows_max = \"lots\"", &[], &["page-rows-max", "settings.toml, line 2"]);
    check("", &["--body-bytes-max", "big"], &["--body-bytes-max", "64MiB"]);
    check("", &["--durability", "never"], &["--durability", "interval:100ms"]);
    check("", &["--tls-cert", "a.pem"], &["tls_key"]);
    check("", &["--write-points-max", "100000000"], &["memory_bytes_max", "1827MiB"]);
    check("", &["--page-rows-max", "5", "--page-rows-default", "6"], &["page_rows_default"]);
    check(
        "[http]\npage_rows_default = 20",
        &["--page-rows-max", "5"],
        &["page_rows_default", "settings.toml"],
    );
    check("[history]\nrules = \"type=Sensor,keep=30d\"", &[], &["type=Sensor", "IRIs", "settings.toml"]);
    check("", &["--auth", "on"], &["auth_admin_password", "admin"]);
    check("", &["--auth", "on", "--auth-admin-password", ""], &["auth_admin_password"]);
    check("", &["--buckets", "3"], &["power of two"]);
    check("", &["--log-level", "=,="], &["log_level"]);
    check("", &["--log-level", "nonsense"], &["log_level", "nonsense"]);
    check("page_rows_max", &[], &["not TOML"]);
    check("", &["--listen", "foo"], &["listen address"]);
    check("", &["--tls-cert", "/none.pem", "--tls-key", "/none.pem"], &["/none.pem"]);
}

/// A page has no more rows than it may where nothing is said of the default.
#[test]
fn the_rows_of_a_page_follow_their_maximum() {
    for (flags, expected) in [
        (&["--page-rows-max", "10"][..], "page_rows_default = 10"),
        (&["--page-rows-max", "500"][..], "page_rows_default = 20"),
        (&["--page-rows-max", "10", "--page-rows-default", "5"][..], "page_rows_default = 5"),
    ] {
        let (code, printed, errors) = output(twinfold(&["settings"]).args(flags));
        assert_eq!(code, Some(0), "{errors}");
        let line = printed.lines().find(|line| line.starts_with("page_rows_default")).unwrap();
        assert_eq!(line.split('#').next().unwrap().trim(), expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--store", "memory", "--page-rows-max", "10"]);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn wrong_values_are_told_in_plain_words() {
    for flag in [["--page-rows-max", "abc"], ["--streams-max", "abc"], ["--requests-max", "abc"]] {
        let (code, _, errors) = output(twinfold(&["settings"]).args(flag));
        assert!(code == Some(2) && errors.contains("it must be a whole number"), "{errors}");
        assert!(errors.contains(flag[0]), "{errors}");
    }
    let arguments = ["backup", "--server", "localhost:1026", "--to", "/tmp/none/of/it"];
    let (code, _, errors) = output(&mut twinfold(&arguments));
    assert!(code == Some(1) && errors.contains("like http://127.0.0.1:1026"), "{errors}");
}

#[test]
fn a_server_runs_as_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("TWINFOLD_BODY_BYTES_MAX", "10B"), ("TWINFOLD_STORE", "memory")];
    let server = Server::start_with(folder.path(), &[], &variables);
    assert!(server.announced[0].starts_with("durability: none"), "{:?}", server.announced);
    assert_eq!(server.post("/admin/backup", "{\"folder\":\"/x\"}").status, 413);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn help_teaches() {
    let (code, help, _) = output(&mut twinfold(&["--help"]));
    assert_eq!(code, Some(0));
    assert!(help.contains("Examples:") && help.contains("curl"), "{help}");
    let (code, help, _) = output(&mut twinfold(&["serve", "--help"]));
    assert_eq!(code, Some(0));
    for word in ["--body-bytes-max", "TWINFOLD_LISTEN", "SIGTERM", "Exit codes", "default: 127.0.0.1:1026"] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
    let (code, version, _) = output(&mut twinfold(&["version"]));
    assert_eq!((code, version.trim()), (Some(0), concat!("twinfold ", env!("CARGO_PKG_VERSION"))));
    assert_eq!(output(&mut twinfold(&["dance"])).0, Some(2));
}

/// docs/operating/settings.md lists every setting with its flag and default, table by table, and no other.
#[test]
fn every_setting_is_documented() {
    let (_, printed, _) = output(&mut twinfold(&["settings"]));
    let (_, help, _) = output(&mut twinfold(&["serve", "--help"]));
    let mut known = Vec::new();
    let mut table = "";
    for line in printed.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => table = name,
            None => known.push((table, line.trim_start_matches("# ").split(' ').next().unwrap())),
        }
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating/settings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut documented = Vec::new();
    table = "";
    for line in page.lines() {
        if line.starts_with("## ") {
            table = line.split_once("`[").map_or("", |(_, rest)| rest.trim_end_matches("]`"));
        }
        if let Some((key, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once("` | `--")) {
            documented.push((table, key));
            let flag = rest.split('`').next().unwrap();
            assert!(help.contains(&format!("--{flag} <")), "{key}: there is no flag --{flag}");
        }
    }
    assert_eq!(documented, known);
}

#[test]
fn a_wrong_value_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, "[http]\npage_rows_max = \"lots\"").unwrap();
    let (code, _, in_file) = output(twinfold(&["settings", "--settings"]).arg(&path));
    assert_eq!(code, Some(2));
    assert!(
        in_file.starts_with(&format!("error: settings file {}, line 2: invalid value", path.display())),
        "{in_file}"
    );
    let (code, _, in_variable) = output(twinfold(&["settings"]).env("TWINFOLD_PAGE_ROWS_MAX", "lots"));
    assert_eq!(code, Some(2));
    for errors in [in_file, in_variable] {
        assert_eq!(errors.matches("it must be a whole number").count(), 1, "{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    for command in ["settings", "version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = twinfold(&[command]).stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()), (Some(0), ""));
    }
}

#[test]
fn a_log_level_of_nothing_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    // The filter lets nothing else through, and the address ends the server at once.
    let arguments = ["serve", "--store", "memory", "--listen", "256.0.0.1:0", "--log-level", "acess=debug"];
    let (code, _, errors) = output(twinfold(&arguments).arg("--data").arg(folder.path()));
    assert_ne!(code, Some(0));
    assert!(errors.contains("names what logs nothing") && errors.contains("acess"), "{errors}");
}

#[test]
fn variables_are_told_by_their_own_names() {
    let misspelt = "variable TWINFOLD_LISTN names no setting; did you mean TWINFOLD_LISTEN?";
    let (code, _, errors) = output(twinfold(&["settings"]).env("TWINFOLD_LISTN", "127.0.0.1:0"));
    assert_eq!((code, errors), (Some(0), format!("warning: {misspelt}\n")));
    // The address ends the server at once.
    let arguments = ["serve", "--store", "memory", "--listen", "256.0.0.1:0"];
    let (_, _, errors) = output(twinfold(&arguments).env("TWINFOLD_LISTN", "127.0.0.1:0"));
    assert!(errors.contains("WARN") && errors.contains(misspelt), "{errors}");

    let (code, _, errors) = output(twinfold(&["settings"]).env("TWINFOLD_PAGE_ROWS_MAX", "lots"));
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("for TWINFOLD_PAGE_ROWS_MAX:") && !errors.contains("--page-rows-max"),
        "{errors}"
    );
    let (_, _, errors) =
        output(twinfold(&["settings", "--page-rows-max", "few"]).env("TWINFOLD_PAGE_ROWS_MAX", "lots"));
    assert!(errors.contains("--page-rows-max") && !errors.contains("TWINFOLD"), "{errors}");
    let (code, _, errors) = output(twinfold(&["settings"]).env("TWINFOLD_BUCKETS", "3"));
    assert_eq!(code, Some(2));
    assert!(errors.contains("not 3 (buckets is from environment TWINFOLD_BUCKETS)"), "{errors}");
}

#[test]
fn listening_for_other_machines_without_a_login_is_warned_of() {
    for (address, warned) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
        let mut command = twinfold(&["serve", "--store", "memory", "--listen", address]);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // It listens once it has said so, and has warned by then.
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.starts_with("listening on ")));
        child.kill().unwrap();
        let log = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert_eq!(log.contains("there is no login"), warned, "{log}");
    }
}

#[test]
fn passwords_are_not_shown() {
    for arguments in [&["settings"][..], &["serve", "--help"]] {
        let mut command = twinfold(arguments);
        command.env("TWINFOLD_AUTH_ADMIN_PASSWORD", "sesame");
        let (code, printed, errors) = output(&mut command);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        assert!(printed.contains("admin"), "{printed}");
        assert!(!printed.contains("sesame"), "{printed}");
    }
}
