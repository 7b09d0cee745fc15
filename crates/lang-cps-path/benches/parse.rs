//! How long 20,000 paths take: those of the load test of CPS (absolute and descendant paths with keys), and long ones.
//! `cargo bench -p lang-cps-path --bench parse`.

use std::io::Write as _;
use std::time::Instant;

const PATHS: usize = 20_000;
const SAMPLES: [&str; 6] = [
    "/ietf-network:networks/network[@network-id='l2-topo-example']/node[@node-id='D3']",
    "//openroadm-device[@status=\"success\"]",
    "//books[@price>10 and @lang='English' or @code=1]/authors[text()='Terry Pratchett']",
    "//categories[contains(@name,'Sci')]/ancestor::bookstore/@bookstore-name",
    "/bookstore/categories[@code='1']/books[@title='2001: A Space Odyssey']",
    "/a[@CN=0 and @SRN=61 and @SN=0]/b[@x='it''s']/c/d/e/f",
];

fn main() {
    let mut output = std::io::stdout().lock();
    for sample in SAMPLES {
        let begin = Instant::now();
        let steps: usize = (0..PATHS)
            .map(|_| lang_cps_path::parse(std::hint::black_box(sample)).expect("a path").steps.len())
            .sum();
        let parsed = begin.elapsed();
        assert!(steps >= PATHS, "every path has a step");
        let begin = Instant::now();
        let path = lang_cps_path::parse(sample).expect("a path");
        let bytes: usize = (0..PATHS).map(|_| std::hint::black_box(&path).normalized().len()).sum();
        assert!(bytes >= PATHS, "every path has a byte");
        let line = format!("{PATHS} x {sample}: parsed in {parsed:?}, normalized in {:?}", begin.elapsed());
        writeln!(output, "{line}").expect("standard output is open");
    }
}
