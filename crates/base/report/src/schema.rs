//! JSON Schemas of the published records, made from the types, so that they cannot drift from what is printed.

use crate::advise::Advice;
use crate::compare::Comparison;
use crate::conform::Conformance;
use crate::doctor::DoctorReport;
use crate::encode::EncodingComparison;
use crate::inspect::Inspection;
use crate::link_summary::LinkRunSummary;
use crate::load::Load;
use crate::perturb::Perturbation;
use crate::record::Run;
use crate::segment_line::Segment;
use crate::tune::Tuning;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// The schema of every record that this crate defines, by its name.
pub(crate) fn all() -> [(&'static str, Schema); 12] {
    [
        ("advise", schema_of::<Advice>()),
        ("compare", schema_of::<Comparison>()),
        ("conform", schema_of::<Conformance>()),
        ("doctor", schema_of::<DoctorReport>()),
        ("encode", schema_of::<EncodingComparison>()),
        ("inspect", schema_of::<Inspection>()),
        ("link", schema_of::<LinkRunSummary>()),
        ("load", schema_of::<Load>()),
        ("perturb", schema_of::<Perturbation>()),
        ("run", schema_of::<Run>()),
        ("segment", schema_of::<Segment>()),
        ("tune", schema_of::<Tuning>()),
    ]
}

/// The schema of a record as printed: a field that may be null is always present.
fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::fixtures;
    use serde_json::{Value, json};

    /// The committed files are the schemas of the types. After a change of a type, `UPDATE_SCHEMAS=1 cargo test -p lastmile-report`
    /// rewrites them.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a test compares files of the tree with the types"
    )]
    fn the_committed_schemas_are_those_of_the_types() {
        for (verb, schema) in all() {
            let path = format!("{}/../../../schemas/{verb}.json", env!("CARGO_MANIFEST_DIR"));
            let wanted = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
            if std::env::var("UPDATE_SCHEMAS").is_ok() {
                std::fs::write(&path, &wanted).expect("the schemas can be written");
            }
            let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
            assert!(
                found == wanted,
                "schemas/{verb}.json is not the schema of its type; run `UPDATE_SCHEMAS=1 cargo test -p lastmile-report schemas`, \
                 read the difference, and commit it"
            );
        }
    }

    fn printed() -> [(&'static str, Value); 12] {
        let value = |record: Result<Value, serde_json::Error>| record.expect("records are JSON");
        let rule = "p95(extract_time)>+5%".parse().expect("a rule");
        let comparison = compare(&fixtures::run(), &fixtures::run(), &[rule], false);
        [
            ("advise", value(serde_json::to_value(fixtures::advice()))),
            ("compare", value(serde_json::to_value(comparison))),
            ("conform", value(serde_json::to_value(fixtures::conformance()))),
            ("doctor", value(serde_json::to_value(fixtures::examination()))),
            ("encode", value(serde_json::to_value(fixtures::encoding()))),
            ("inspect", value(serde_json::to_value(fixtures::inspection()))),
            ("link", value(serde_json::to_value(crate::link_summary::sample()))),
            ("load", value(serde_json::to_value(fixtures::load()))),
            ("perturb", value(serde_json::to_value(fixtures::perturbation()))),
            ("run", value(serde_json::to_value(fixtures::run()))),
            ("segment", value(serde_json::to_value(crate::segment_line::sample()))),
            ("tune", value(serde_json::to_value(fixtures::tuning()))),
        ]
    }

    #[test]
    fn what_is_printed_has_the_shape_its_schema_says() {
        for ((verb, schema), (also, record)) in all().into_iter().zip(printed()) {
            assert_eq!(verb, also);
            let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
            if let Err(error) = validator.validate(&record) {
                panic!("{verb}: {error} at {}", error.instance_path());
            }
        }
    }

    #[test]
    fn a_record_of_another_schema_or_without_a_field_is_refused() {
        for ((verb, schema), (_, record)) in all().into_iter().zip(printed()) {
            let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
            let mut other = record.clone();
            other["schema"] = json!("lastmile/other/1");
            assert!(!validator.is_valid(&other), "{verb}");
            for field in record.as_object().expect("an object").keys() {
                let mut without = record.clone();
                without.as_object_mut().expect("an object").remove(field);
                assert!(!validator.is_valid(&without), "{verb} without {field}");
            }
        }
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        let text = serde_json::to_string(&fixtures::run()).expect("a record is JSON");
        assert_eq!(serde_json::from_str::<Run>(&text).expect("and back"), fixtures::run());
        let text = serde_json::to_string(&fixtures::advice()).expect("a record is JSON");
        assert_eq!(
            serde_json::from_str::<Advice>(&text).expect("and back"),
            fixtures::advice()
        );
        let text = serde_json::to_string(&fixtures::examination()).expect("a record is JSON");
        assert_eq!(
            serde_json::from_str::<DoctorReport>(&text).expect("and back"),
            fixtures::examination()
        );
        let text = serde_json::to_string(&fixtures::inspection()).expect("a record is JSON");
        assert_eq!(
            serde_json::from_str::<Inspection>(&text).expect("and back"),
            fixtures::inspection()
        );
        let text = serde_json::to_string(&fixtures::load()).expect("a record is JSON");
        assert_eq!(serde_json::from_str::<Load>(&text).expect("and back"), fixtures::load());
        let text = serde_json::to_string(&fixtures::tuning()).expect("a record is JSON");
        assert_eq!(
            serde_json::from_str::<Tuning>(&text).expect("and back"),
            fixtures::tuning()
        );
    }
}
