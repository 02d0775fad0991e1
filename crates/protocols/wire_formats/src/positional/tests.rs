//! Round trips, byte layouts that the specifications give, and hostile bytes.

use super::{DEPTH_MAX, Error, Format, append, from_slice, read_at, to_vec};
use crate::cdr::{self, BigEndian, LittleEndian};
use crate::ice::{self, Ice10, Ice11};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Colour {
    Red,
    Green,
    Blue,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    flag: bool,
    short: i16,
    colour: Colour,
    long: i64,
    text: String,
    byte: u8,
    real: f64,
    small_real: f32,
    numbers: Vec<i32>,
    texts: BTreeMap<String, i16>,
    pair: (u8, i32),
    nested: Vec<Vec<String>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Circle(f64),
    Square { side: i16 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    children: Vec<Tree>,
}

fn record() -> impl Strategy<Value = Record> {
    (
        (
            any::<bool>(),
            any::<i16>(),
            prop_oneof![Just(Colour::Red), Just(Colour::Green), Just(Colour::Blue)],
        ),
        (
            any::<i64>(),
            "[^\0]{0,300}",
            any::<u8>(),
            -1e300..1e300_f64,
            -1e30..1e30_f32,
        ),
        prop::collection::vec(any::<i32>(), 0..300),
        prop::collection::btree_map("[a-z]{0,9}", any::<i16>(), 0..9),
        (any::<u8>(), any::<i32>()),
        prop::collection::vec(prop::collection::vec("[a-zé]{0,9}", 0..4), 0..4),
    )
        .prop_map(
            |((flag, short, colour), (long, text, byte, real, small_real), numbers, texts, pair, nested)| Record {
                flag,
                short,
                colour,
                long,
                text,
                byte,
                real,
                small_real,
                numbers,
                texts,
                pair,
                nested,
            },
        )
}

fn returns<F: Format>(record: &Record) {
    let bytes = to_vec::<F, _>(record).unwrap();
    assert_eq!(from_slice::<F, Record>(&bytes).as_ref(), Ok(record));
    for length in (0..bytes.len()).step_by(7) {
        assert!(
            from_slice::<F, Record>(&bytes[..length]).is_err(),
            "{length} of {} bytes",
            bytes.len()
        );
    }
}

proptest! {
    #[test]
    fn every_value_returns_from_every_format(record in record()) {
        returns::<Ice10>(&record);
        returns::<Ice11>(&record);
        returns::<LittleEndian>(&record);
        returns::<BigEndian>(&record);
    }

    #[test]
    fn a_value_after_a_header_of_any_length_returns(record in record(), header in 0..17_usize) {
        let mut message = vec![0xEE; header];
        append::<LittleEndian, _>(&mut message, 0, &record).unwrap();
        let end = message.len();
        message.push(9);
        prop_assert_eq!(read_at::<LittleEndian, Record>(&message, header), Ok((record, end)));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = from_slice::<Ice11, Record>(&bytes);
        let _ = from_slice::<LittleEndian, Record>(&bytes);
        let _ = from_slice::<LittleEndian, Shape>(&bytes);
        let _ = from_slice::<Ice11, Tree>(&bytes);
    }
}

#[test]
fn ice_sizes_take_one_byte_below_255_and_five_from_there() {
    for (length, header) in [
        (254, vec![254]),
        (255, vec![255, 255, 0, 0, 0]),
        (300, vec![255, 44, 1, 0, 0]),
    ] {
        let bytes = ice::to_vec(&"x".repeat(length)).unwrap();
        assert_eq!(bytes[..header.len()], header);
        assert_eq!(bytes.len(), header.len() + length);
        assert_eq!(ice::from_slice::<String>(&bytes).map(|text| text.len()), Ok(length));
    }
}

#[test]
fn cdr_aligns_each_number_to_its_size_from_the_start_of_the_message() {
    let value = (1_u8, 2_i16, 3_u8, 4_i32, 5_u8, 6_i64, "ab", 7_i16);
    #[rustfmt::skip]
    let expected = [
        1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
        3, 0, 0, 0, b'a', b'b', 0, 0, 7, 0,
    ];
    assert_eq!(cdr::to_vec(&value).unwrap(), expected);
    let mut after_header = vec![9; 3];
    append::<LittleEndian, _>(&mut after_header, 0, &1_i32).unwrap();
    assert_eq!(after_header, [9, 9, 9, 0, 1, 0, 0, 0]);
    let mut second_message = vec![9; 3];
    append::<LittleEndian, _>(&mut second_message, 3, &1_i32).unwrap();
    assert_eq!(second_message, [9, 9, 9, 1, 0, 0, 0]);
    assert_eq!(to_vec::<BigEndian, _>(&(1_u8, 258_i16)).unwrap(), [1, 0, 1, 2]);
}

#[test]
fn an_enumerator_takes_a_byte_in_ice_and_four_in_cdr() {
    assert_eq!(ice::to_vec(&Colour::Blue).unwrap(), [2]);
    assert_eq!(to_vec::<Ice10, _>(&Colour::Blue).unwrap(), [2]);
    assert_eq!(cdr::to_vec(&Colour::Blue).unwrap(), [2, 0, 0, 0]);
    assert!(ice::from_slice::<Colour>(&[3]).is_err());
}

#[test]
fn cdr_unions_return_and_ice_refuses_them() {
    for shape in [Shape::Circle(1.5), Shape::Square { side: -3 }] {
        let bytes = cdr::to_vec(&shape).unwrap();
        assert_eq!(cdr::from_slice::<Shape>(&bytes), Ok(shape));
    }
    let error = ice::to_vec(&Shape::Circle(1.5)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Ice encoding 1.1 cannot hold an enumerator with a value; use a struct"
    );
    assert!(matches!(
        ice::from_slice::<Shape>(&[0; 9]),
        Err(Error::NoMapping { .. })
    ));
}

#[test]
fn what_has_no_form_is_refused_by_name_and_leaves_the_message_as_it_was() {
    let refused = |error: Error| error.to_string();
    assert_eq!(
        refused(ice::to_vec(&Some(1_i32)).unwrap_err()),
        "Ice encoding 1.1 cannot hold an option; use a sequence of none or one"
    );
    assert_eq!(
        refused(cdr::to_vec(&()).unwrap_err()),
        "CDR cannot hold a unit; leave it out"
    );
    assert_eq!(
        refused(ice::to_vec(&1_u32).unwrap_err()),
        "Ice encoding 1.1 cannot hold an unsigned number; use a signed one"
    );
    assert_eq!(
        refused(cdr::to_vec("a\0b").unwrap_err()),
        "CDR cannot hold a string with a zero byte; use a sequence of bytes"
    );
    let mut message = vec![1, 2, 3];
    assert!(append::<LittleEndian, _>(&mut message, 0, &(1_i32, 'x')).is_err());
    assert_eq!(message, [1, 2, 3]);
}

#[test]
fn a_size_beyond_what_is_left_is_refused_before_anything_is_allocated() {
    let ice_size = [255, 255, 255, 255, 127, 0];
    assert_eq!(
        ice::from_slice::<Vec<i64>>(&ice_size),
        Err(Error::Truncated {
            offset: 0,
            needed: i32::MAX as usize,
            left: 1
        })
    );
    let negative = ice::from_slice::<Vec<u8>>(&[255, 255, 255, 255, 255]).unwrap_err();
    assert_eq!(negative.to_string(), "at byte 0: the size -1 is negative");
    assert!(cdr::from_slice::<String>(&[255, 255, 255, 255, 0]).is_err());
}

#[test]
fn a_string_of_cdr_must_end_with_its_zero_byte() {
    assert!(cdr::from_slice::<String>(&[0, 0, 0, 0]).is_err());
    assert!(cdr::from_slice::<String>(&[2, 0, 0, 0, b'a', b'b']).is_err());
    assert!(cdr::from_slice::<String>(&[3, 0, 0, 0, b'a', 0, 0]).is_err());
    assert_eq!(cdr::from_slice::<String>(&[1, 0, 0, 0, 0]), Ok(String::new()));
}

#[test]
fn padding_may_be_anything() {
    assert_eq!(cdr::from_slice::<(u8, i32)>(&[1, 7, 7, 7, 2, 0, 0, 0]), Ok((1, 2)));
}

#[test]
fn nesting_is_limited() {
    assert_eq!(ice::from_slice::<Tree>(&[1; 4 * DEPTH_MAX]), Err(Error::TooDeep));
    let deep = (0..DEPTH_MAX).fold(Tree { children: vec![] }, |tree, _| Tree { children: vec![tree] });
    assert_eq!(ice::to_vec(&deep), Err(Error::TooDeep));
}

#[test]
fn bytes_that_are_left_are_refused_and_an_offset_beyond_the_end_too() {
    assert_eq!(ice::from_slice::<u8>(&[1, 2]), Err(Error::Surplus { left: 1 }));
    assert!(read_at::<Ice11, u8>(&[1, 2], 3).is_err());
    assert_eq!(read_at::<Ice11, u8>(&[1, 2], 1), Ok((2, 2)));
}
