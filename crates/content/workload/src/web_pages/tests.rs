//! Tests of the pages.

use super::*;
use std::collections::BTreeSet;

#[test]
fn pages_are_the_same_every_time_and_have_names_of_their_own() {
    let names: BTreeSet<_> = SHAPES.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), SHAPES.len());
    for shape in SHAPES {
        assert_eq!(shape.traffic(), shape.traffic(), "{}", shape.name);
        assert!(find(shape.name).is_some());
    }
}

#[test]
fn the_text_of_each_page_names_all_of_its_resources_but_those_that_a_script_makes_up() {
    for shape in SHAPES {
        let traffic = shape.traffic();
        let texts: Vec<String> = traffic
            .responses
            .iter()
            .filter_map(|response| match &response.body {
                Body::Present(body) => Some(String::from_utf8_lossy(body).into_owned()),
                _ => None,
            })
            .collect();
        for response in &traffic.responses[1..] {
            let name = response.url.rsplit('/').next().unwrap();
            let is_named = texts.iter().any(|text| text.contains(name));
            assert!(
                is_named || response.initiator.is_some(),
                "{}: {}",
                shape.name,
                response.url
            );
        }
    }
}

#[test]
fn an_image_is_a_png_of_the_size_asked_for() {
    let image = png(20_000, &mut Seed::new(1).rng());
    assert!(image.len().abs_diff(20_000) < 300, "{}", image.len());
    // The chunk that ends every PNG file.
    assert!(image.ends_with(&[0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]));
}
