//! The fuzz targets of a user's traffic, as a browser or a proxy saved it.

use super::portions::Portions;
use lastmile_traffic::responses::{Body, Traffic, TrafficError, har as har_format, jsonl as jsonl_format};

/// A HAR.
pub fn har(input: &[u8]) {
    check(
        input,
        &har_format::read(input, "input"),
        &har_format::read(Portions::new(input), "input"),
    );
}

/// Lines of JSON.
pub fn jsonl(input: &[u8]) {
    check(
        input,
        &jsonl_format::read(input, "input"),
        &jsonl_format::read(Portions::new(input), "input"),
    );
}

/// Checks that reading in portions gives the same as reading the whole, and what the types do not guarantee about each response.
fn check(input: &[u8], whole: &Result<Traffic, TrafficError>, in_portions: &Result<Traffic, TrafficError>) {
    assert_eq!(whole, in_portions);
    match whole {
        Err(error) => assert!(error.to_string().starts_with("input: "), "{error}"),
        Ok(traffic) => {
            assert!(!traffic.responses.is_empty());
            for response in &traffic.responses {
                let _ = response.kind();
                assert!((100..=999).contains(&response.status));
                if let Body::Present(bytes) = &response.body {
                    // No JSON escape is shorter than its text, and base64 has four characters for three bytes.
                    assert!(bytes.len() <= input.len());
                }
            }
        }
    }
}
