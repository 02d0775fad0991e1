//! The name of this machine.

/// The processor's model (on Linux; elsewhere the system and the architecture) and the number of cores.
pub fn this_machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let model = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| model(&text));
    let model = model.unwrap_or_else(|| format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    format!("{model}, {cores} cores")
}

/// The first `model name` of /proc/cpuinfo, with runs of spaces collapsed to one.
fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let words: Vec<_> = line.split_once(':')?.1.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_read_from_cpuinfo() {
        let text = "processor\t: 0\nmodel name\t: AMD  EPYC 7763\nmodel name\t: other\n";
        assert_eq!(model(text).as_deref(), Some("AMD EPYC 7763"));
        assert_eq!(model("Processor: ARMv7"), None);
        assert!(!this_machine().is_empty());
    }
}
