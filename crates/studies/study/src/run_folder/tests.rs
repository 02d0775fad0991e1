use super::*;
use lastmile_testbed::cpu_cost_model::Choice;
use lastmile_testbed::failure::Failure;

fn study(more: &str) -> Study {
    let toml = format!("{more}\nname = 'test'\nquestion = ''\n[factors]\ncodec = ['identity', 'gzip:6']\n");
    Study::parse("test.toml", &toml).unwrap()
}

fn begun(parent: &Path, costs: &CostTable) -> RunFolder {
    let folder = RunFolder::at(&parent.join(costs.name())).unwrap();
    folder
        .begin(&study(""), costs, &Meta::new(&study(""), costs, "0.1.0"))
        .unwrap();
    folder
}

#[test]
fn a_run_is_read_back_as_it_was_begun() {
    let parent = tempfile::tempdir().unwrap();
    for costs in [CostTable::free(), CostTable::load(&Choice::Reference).unwrap()] {
        let folder = begun(parent.path(), &costs);
        let kept = folder.read().unwrap();
        assert_eq!((kept.study, kept.costs), (study(""), costs.clone()));
        assert_eq!(kept.meta, Meta::new(&study(""), &costs, "0.1.0"));
        assert!(kept.outcomes.is_empty());
        let (_, mut journal) = folder.resume(&study(""), costs.name(), "0.1.0").unwrap();
        journal.append(&Default::default(), 0, &Err(Failure::new("x"))).unwrap();
        let (kept, _) = folder.resume(&study(""), costs.name(), "0.1.0").unwrap();
        assert_eq!(kept.outcomes.len(), 1);
    }
}

#[test]
fn another_run_is_not_resumed_and_the_difference_is_told() {
    let parent = tempfile::tempdir().unwrap();
    let folder = begun(parent.path(), &CostTable::free());
    let refusal = |study: &Study, cpu, version| {
        let error = folder.resume(study, cpu, version).unwrap_err().to_string();
        error.split_once("cannot be resumed: ").unwrap().1.to_owned()
    };
    assert_eq!(refusal(&study("seed = 7"), "free", "0.1.0"), "its seed is 1, not 7");
    assert_eq!(
        refusal(&study(""), "reference", "0.1.0"),
        "its cost table is \"free\", not \"reference\""
    );
    assert_eq!(
        refusal(&study(""), "free", "0.2.0"),
        "it was started with lastmile 0.1.0, but this is 0.2.0"
    );
    assert_eq!(
        refusal(&study("repeats = 9"), "free", "0.1.0"),
        "its study has `repeats = 5` where the other has `repeats = 9`"
    );
}

#[test]
fn a_folder_with_a_run_is_not_written_over() {
    let parent = tempfile::tempdir().unwrap();
    let costs = CostTable::free();
    let folder = begun(parent.path(), &costs);
    let again = RunFolder::at(folder.path()).unwrap();
    let error = again
        .begin(&study(""), &costs, &Meta::new(&study(""), &costs, "0.1.0"))
        .unwrap_err();
    assert!(error.to_string().contains("already contains a run"), "{error}");
}

#[test]
fn what_is_missing_or_damaged_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let folder = begun(parent.path(), &CostTable::free());
    fs::write(folder.path().join(META), "{").unwrap();
    assert!(folder.read().unwrap_err().to_string().contains("meta.json: "));
    fs::remove_file(folder.path().join(META)).unwrap();
    assert!(folder.read().unwrap_err().to_string().contains("meta.json: "));
}

#[test]
fn nothing_unfinished_is_left_behind() {
    let parent = tempfile::tempdir().unwrap();
    let folder = begun(parent.path(), &CostTable::free());
    folder.write_whole("report.html", b"<p>").unwrap();
    folder.write_whole("report.html", b"<p>again").unwrap();
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["costs.toml", "journal.jsonl", "meta.json", "report.html", "study.toml"]
    );
}

#[test]
fn a_run_that_is_read_or_refused_to_be_resumed_is_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let folder = begun(parent.path(), &CostTable::free());
    let journal = folder.path().join(JOURNAL);
    fs::write(&journal, "{\"settings\":").unwrap();
    assert!(folder.read().unwrap().outcomes.is_empty());
    folder.resume(&study("seed = 7"), "free", "0.1.0").unwrap_err();
    assert_eq!(fs::read_to_string(&journal).unwrap(), "{\"settings\":");
    fs::remove_file(&journal).unwrap();
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains("journal.jsonl: "), "{error}");
    assert!(!journal.exists(), "it is not created either");
}
