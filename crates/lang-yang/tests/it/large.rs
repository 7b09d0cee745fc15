//! A set of the shape of OpenConfig.

use std::time::{Duration, Instant};

use lang_yang::{CompileOptions, Features, Schema, Strict, YangFile, compile};
use yang_samples::{MODULES, open_config};

/// What an upload of such a set may take.
const COMPILE_MAX: Duration = Duration::from_secs(5);

fn set() -> Vec<YangFile> {
    let file = |module: yang_samples::Module| YangFile { name: module.file.into(), text: module.text.into() };
    open_config().into_iter().map(file).collect()
}

const OPTIONS: CompileOptions = CompileOptions { features: Features::All };

#[test]
fn a_set_of_218_modules_compiles() {
    let files = set();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    assert!(bytes > 2 << 20, "{bytes} bytes");
    let begin = Instant::now();
    let schema = compile(&files, &OPTIONS).unwrap().schema;
    let took = begin.elapsed();
    assert_eq!(schema.modules.iter().filter(|module| module.is_implemented).count(), MODULES);
    assert!(schema.nodes.len() > 10_000, "{} nodes", schema.nodes.len());
    assert!(took < COMPILE_MAX, "{took:?}");
    assert_eq!(Schema::decode(&schema.encode()).unwrap(), schema);
    let strict = Strict::new(&files, &OPTIONS).unwrap();
    assert_eq!(
        strict.validate(r#"{"oc-1:top-1":{"item-1":[{"name":"a","config":{"name":"a","setting-0":5}}]}}"#),
        Ok(())
    );
    strict.validate(r#"{"oc-1:top-1":{"item-1":[{"name":"b","config":{"name":"a"}}]}}"#).unwrap_err();
}
