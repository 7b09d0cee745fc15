//! What an upload of modules costs before it is stored: `cargo bench -p lang-yang --bench compile`. If `TWINFOLD_TEST_DATA` names a folder
//! with published modules, those are compiled, too.

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lang_yang::{CompileOptions, Features, Strict, YangFile, compile};
use yang_samples::{Module, open_config, topology};

const OPTIONS: CompileOptions = CompileOptions { features: Features::All };
/// For how long each set is compiled again and again.
const TIME: Duration = Duration::from_secs(4);

fn files(modules: Vec<Module>) -> Vec<YangFile> {
    modules
        .into_iter()
        .map(|module| YangFile { name: module.file.into(), text: module.text.into() })
        .collect()
}

/// The modules of the user's folder.
#[expect(clippy::disallowed_methods, reason = "a switch of the run itself")]
fn published() -> Option<Vec<YangFile>> {
    let folder = PathBuf::from(std::env::var_os("TWINFOLD_TEST_DATA")?).join("yang");
    let paths = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let modules = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yang"));
    let file = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into();
        Some(YangFile { name, text: std::fs::read_to_string(&path).ok()?.into() })
    };
    modules.map(file).collect()
}

/// The shortest and the middle time of a job, in milliseconds.
fn time(mut job: impl FnMut()) -> (f64, f64, usize) {
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < TIME || times.len() < 3 {
        let one = Instant::now();
        job();
        times.push(one.elapsed());
    }
    times.sort_unstable();
    let ms = |index: usize| times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    (ms(0), ms(times.len() / 2), times.len())
}

fn main() {
    let mut out = std::io::stdout().lock();
    let mut sets = vec![("eleven modules", files(topology())), ("218 modules", files(open_config()))];
    sets.extend(published().map(|files| ("published modules", files)));
    for (name, files) in &sets {
        let schema = compile(files, &OPTIONS).expect("the modules are YANG").schema;
        let jobs: [(&str, &dyn Fn()); 3] = [
            ("compile", &|| drop(black_box(compile(files, &OPTIONS)))),
            ("encode", &|| drop(black_box(schema.encode()))),
            ("strict", &|| drop(black_box(Strict::new(files, &OPTIONS)))),
        ];
        for (job, run) in jobs {
            let (least, middle, rounds) = time(run);
            writeln!(
                out,
                "{name}, {job}: {least:.2} ms at least, {middle:.2} ms in the middle of {rounds}; {} nodes",
                schema.nodes.len()
            )
            .expect("standard output");
        }
    }
}
