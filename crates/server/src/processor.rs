//! Whether this machine's processor has what the program was built for: without it the program would end in the middle of
//! something, by a signal that says nothing.

/// Features that builds may demand of an x86-64 processor, by their names in `/proc/cpuinfo`.
const FEATURES: [(&str, bool); 5] = [
    ("ssse3", cfg!(target_feature = "ssse3")),
    ("sse4_2", cfg!(target_feature = "sse4.2")),
    ("popcnt", cfg!(target_feature = "popcnt")),
    ("pclmulqdq", cfg!(target_feature = "pclmulqdq")),
    ("avx2", cfg!(target_feature = "avx2")),
];

/// Cost: reads a file that the kernel makes. Where there is none, nothing is known, and nothing is refused.
///
/// # Errors
///
/// What the processor lacks, and how to build for it.
pub(crate) fn check() -> Result<(), String> {
    let demanded = FEATURES.into_iter().filter(|(_, demanded)| *demanded).map(|(name, _)| name);
    let Ok(told) = std::fs::read_to_string("/proc/cpuinfo") else { return Ok(()) };
    lacking(&told, demanded).map_or(Ok(()), |lacking| {
        Err(format!("this build needs a processor with {lacking}: build it with RUSTFLAGS= for any x86-64"))
    })
}

/// The features that the first processor does not have, if its line of flags is there.
fn lacking(told: &str, demanded: impl Iterator<Item = &'static str>) -> Option<String> {
    let flags = told.lines().find_map(|line| line.strip_prefix("flags")?.trim_start().strip_prefix(':'))?;
    let has = |name: &str| flags.split_ascii_whitespace().any(|flag| flag == name);
    let lacking: Vec<_> = demanded.filter(|name| !has(name)).collect();
    (!lacking.is_empty()).then(|| lacking.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_processor_lacks_is_named() {
        let told = "processor\t: 0\nflags\t\t: fpu ssse3 sse4_1 popcnt\nbugs\t\t:\n";
        let lacking = |demanded: &[&'static str]| lacking(told, demanded.iter().copied());
        assert_eq!(lacking(&["ssse3", "popcnt"]), None);
        assert_eq!(lacking(&["ssse3", "sse4_2", "avx"]).as_deref(), Some("sse4_2, avx"));
        assert_eq!(super::lacking("Features : fp asimd\n", ["avx"].into_iter()), None);
        assert_eq!(check(), Ok(()));
    }
}
