use super::*;
use bytes::Bytes;
use proptest::prelude::*;
use std::sync::Arc;

/// Streams written by a JDK; `tests/data/java_stream/README.md` says how.
const ALL_KINDS: &[u8] = include_bytes!("../../tests/data/java_stream/all-kinds.ser");
const SHARED_NODES: &[u8] = include_bytes!("../../tests/data/java_stream/shared-nodes.ser");
const BLOCKS: &[u8] = include_bytes!("../../tests/data/java_stream/blocks.ser");
const CYCLE: &[u8] = include_bytes!("../../tests/data/java_stream/cycle.ser");
const TEST_EXECUTIONS: &[u8] = include_bytes!("../../tests/data/java_stream/test-executions.ser");
const TM_PACKETS: &[u8] = include_bytes!("../../tests/data/java_stream/tm-packets.ser");

fn read_in(portions: impl Iterator<Item = Vec<u8>>, limits: Limits) -> (Vec<Value>, Result<(), ReadError>) {
    let mut reader = ObjectStreamReader::with_limits(limits);
    let mut values = Vec::new();
    for portion in portions {
        reader.feed(&portion);
        loop {
            match reader.next_value() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(error) => return (values, Err(error)),
            }
        }
    }
    let end = reader.finish();
    (values, end)
}

fn read(bytes: &[u8]) -> (Vec<Value>, Result<(), ReadError>) {
    read_in(std::iter::once(bytes.to_vec()), Limits::default())
}

fn write(values: &[Value]) -> Vec<u8> {
    let mut writer = ObjectStreamWriter::new();
    values.iter().flat_map(|value| writer.write(value).unwrap()).collect()
}

fn node_class() -> Arc<ClassDescriptor> {
    let next = Field::new("next", FieldType::Object("LNode;".to_owned()));
    ClassDescriptor::serializable("Node", 7, vec![next, Field::new("value", FieldType::Int)]).into()
}

fn node(class: &Arc<ClassDescriptor>, value: i32, next: Value) -> Value {
    Value::Object(Arc::new(Object {
        class: Arc::clone(class),
        data: vec![vec![Value::Int(value), next].into()],
    }))
}

#[test]
fn a_class_is_described_once_and_an_instance_sent_once() {
    let class = Arc::new(ClassDescriptor::serializable(
        "P",
        7,
        vec![Field::new("x", FieldType::Int)],
    ));
    let point = |x| {
        Value::Object(Arc::new(Object {
            class: Arc::clone(&class),
            data: vec![vec![Value::Int(x)].into()],
        }))
    };
    let mut writer = ObjectStreamWriter::new();
    let first = point(1);
    let described = b"\xac\xed\0\x05\x73\x72\0\x01P\0\0\0\0\0\0\0\x07\x02\0\x01I\0\x01x\x78\x70\0\0\0\x01";
    assert_eq!(writer.write(&first).unwrap()[..], described[..]);
    assert_eq!(
        writer.write(&point(2)).unwrap()[..],
        b"\x73\x71\0\x7e\0\0\0\0\0\x02"[..]
    );
    assert_eq!(writer.write(&first).unwrap()[..], b"\x71\0\x7e\0\x01"[..]);
    writer.reset();
    assert_eq!(
        writer.write(&first).unwrap()[..],
        [b"\x79", &described[4..]].concat()[..]
    );
}

#[test]
fn what_a_jdk_wrote_is_written_again_byte_for_byte() {
    for (stream, count) in [(ALL_KINDS, 4), (SHARED_NODES, 3), (TEST_EXECUTIONS, 2), (TM_PACKETS, 3)] {
        let (values, end) = read(stream);
        assert_eq!(end, Ok(()));
        assert_eq!(values.len(), count);
        assert_eq!(write(&values), stream);
    }
}

#[test]
fn every_kind_of_value_that_a_jdk_wrote_is_understood() {
    let (values, _) = read(ALL_KINDS);
    let all = values[0].instance_of("Golden$All").unwrap();
    assert_eq!(all.get("b"), Some(&Value::Byte(-1)));
    assert_eq!(all.get("c"), Some(&Value::Char(0xe9)));
    assert_eq!(all.get("d"), Some(&Value::Double(-0.25)));
    assert_eq!(all.get("f"), Some(&Value::Float(1.5)));
    assert_eq!(all.int("i"), Ok(0x0102_0304));
    assert_eq!(all.long("j"), Ok(-5));
    assert_eq!(all.get("s"), Some(&Value::Short(-2)));
    assert_eq!(all.boolean("z"), Ok(true));
    assert_eq!(&**all.text("text").unwrap(), "a\0€😀");
    assert_eq!(all.get("none"), Some(&Value::Null));
    assert_eq!(all.bytes("bytes").unwrap()[..], [1, 2, 3]);
    let date = all.instance("date", "java.util.Date").unwrap();
    assert_eq!(
        date.data[0].contents,
        [Value::Block(Bytes::copy_from_slice(
            &1_118_793_600_000_i64.to_be_bytes()
        ))]
    );
    let list = all.instance("list", "java.util.ArrayList").unwrap();
    assert_eq!(
        list.data[0].contents[1..],
        [
            Value::string("two"),
            Value::String(Arc::clone(all.text("text").unwrap()))
        ]
    );
    let Value::Enum(green) = all.get("color").unwrap() else {
        panic!("an enumeration's constant")
    };
    assert_eq!((&*green.class.name, &*green.name), ("Golden$Color", "GREEN"));
    let Value::Object(again) = &values[2] else {
        panic!("the first object again")
    };
    let Value::Object(first) = &values[0] else {
        panic!("an object")
    };
    assert!(Arc::ptr_eq(first, again), "a handle stands for the very instance");
}

#[test]
fn block_data_and_resets_between_objects_are_read() {
    let (values, end) = read(BLOCKS);
    assert_eq!(end, Ok(()));
    let blocks = |values: &[Value]| {
        values
            .iter()
            .map(|value| match value {
                Value::Block(block) => block.len(),
                _ => 0,
            })
            .sum::<usize>()
    };
    let strings = values.iter().filter(|value| **value == Value::string("x")).count();
    assert_eq!(
        (values[0].clone(), strings, blocks(&values)),
        (Value::Block(Bytes::from_static(&[0, 0, 0, 7])), 2, 4 + 1500 + 5)
    );
}

#[test]
fn text_above_65535_bytes_takes_the_long_form() {
    let text = "x".repeat(0x1_0000);
    let bytes = write(&[Value::string(&text)]);
    assert_eq!(bytes[..13], *b"\xac\xed\0\x05\x7c\0\0\0\0\0\x01\0\0");
    assert_eq!(read(&bytes), (vec![Value::string(&text)], Ok(())));
    assert_eq!(write(&[Value::string(&text[1..])])[..7], *b"\xac\xed\0\x05\x74\xff\xff");
}

#[test]
fn errors_name_the_offset_what_was_found_and_what_was_expected() {
    let message = |bytes: &[u8]| read(bytes).1.unwrap_err().to_string();
    assert!(
        message(b"\x1f\x8b\x08")
            .starts_with("offset 0: expected the header ac ed 00 05 of an object stream, found byte 0x1f")
    );
    assert!(message(b"\xac\xed\0\x05\x41").starts_with("offset 4: expected an object (0x70 to 0x7e), found byte 0x41"));
    assert!(message(b"\xac\xed\0\x05\x73\x74").starts_with("offset 5: expected a class descriptor (0x72)"));
    assert!(
        message(b"\xac\xed\0\x05\x71\0\x7e\0\0").starts_with(
            "offset 4: expected the handle of an object, found handle 0x007e0000, which stands for nothing"
        )
    );
    assert!(message(b"\xac\xed\0\x05\x73\x7d").contains("a dynamic proxy class"));
    assert!(message(CYCLE).contains("a cycle, which is not supported"));
    assert_eq!(
        message(&ALL_KINDS[..100]),
        "offset 100: the stream ends within a value; 2 bytes of it were left over"
    );
    assert!(message(b"").contains("offset 0: the stream ends"));
}

#[test]
fn every_sample_of_the_corpus_is_read_or_refused_as_its_name_says() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fuzz/corpus/java_stream");
    let mut samples = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (_, end) = read(&std::fs::read(&path).unwrap());
        assert_eq!(end.is_ok(), name.starts_with("valid-"), "{name}: {end:?}");
        samples += 1;
    }
    assert!(samples >= 30, "{samples} samples in {corpus}");
}

#[test]
fn a_chain_made_of_handles_is_no_way_around_the_limit_on_depth() {
    let class = node_class();
    // What the writer would refuse, by hand: each object refers to the one before it.
    let mut stream = write(&[node(&class, 0, Value::Null)]);
    for (value, previous) in (1..2000_i32).zip(0x7e_0002_u32..) {
        stream.extend(b"\x73\x71\0\x7e\0\0");
        stream.extend(value.to_be_bytes());
        stream.push(0x71);
        stream.extend(previous.to_be_bytes());
    }
    let (values, end) = read(&stream);
    assert!(
        matches!(
            end,
            Err(ReadError::Limit {
                what: "the nesting of values",
                limit: 500,
                ..
            })
        ),
        "{end:?}"
    );
    // The first nests 3 deep (itself, its class, the signature of a field), each further one by 1 more.
    assert_eq!(values.len(), 498);
}

#[test]
fn sizes_that_are_only_announced_cost_nothing() {
    let array = |size: &[u8]| {
        [
            &write(&[Value::Null])[..4],
            b"\x75\x72\0\x02[B\0\0\0\0\0\0\0\0\x02\0\0\x78\x70",
            size,
        ]
        .concat()
    };
    assert!(matches!(
        read(&array(b"\x7f\xff\xff\xff")).1,
        Err(ReadError::Limit { .. })
    ));
    assert!(matches!(
        read(&array(b"\xff\xff\xff\xff")).1,
        Err(ReadError::Byte { found: 0xff, .. })
    ));
    assert!(matches!(
        read(&array(b"\x00\xff\xff\xff")).1,
        Err(ReadError::CutOff { .. })
    ));
    let long_string = b"\xac\xed\0\x05\x7c\x7f\xff\xff\xff\xff\xff\xff\xff";
    assert!(matches!(read(long_string).1, Err(ReadError::Limit { offset: 4, .. })));
}

#[test]
fn limits_on_size_and_parts_hold_for_each_value_at_the_top() {
    let text = Value::string(&"x".repeat(90));
    let class = node_class();
    let few = |values: &[Value], limits| read_in(std::iter::once(write(values)), limits).1;
    let limits = Limits {
        size: lastmile_units::ByteCount::new(100),
        ..Limits::default()
    };
    assert_eq!(
        few(&[text.clone(), Value::string(&"y".repeat(90)), text], limits),
        Ok(())
    );
    assert!(matches!(
        few(&[Value::string(&"x".repeat(101))], limits),
        Err(ReadError::Limit { limit: 100, .. })
    ));
    let limits = Limits {
        parts: 12,
        ..Limits::default()
    };
    assert_eq!(
        few(&[node(&class, 1, Value::Null), node(&class, 2, Value::Null)], limits),
        Ok(())
    );
    let nested = node(&class, 1, node(&class, 2, node(&class, 3, Value::Null)));
    assert!(matches!(
        few(&[nested], limits),
        Err(ReadError::Limit { limit: 12, .. })
    ));
}

#[test]
fn values_that_do_not_fit_their_class_are_refused_by_name() {
    let class = node_class();
    let wrong = Value::Object(Arc::new(Object {
        class: Arc::clone(&class),
        data: vec![vec![Value::Null, Value::Null].into()],
    }));
    let message = ObjectStreamWriter::new().write(&wrong).unwrap_err().to_string();
    assert!(
        message.starts_with("Node.value: a value of type I belongs here, not null"),
        "{message}"
    );
    let short = Value::Object(Arc::new(Object {
        class,
        data: vec![vec![Value::Int(1)].into()],
    }));
    assert!(matches!(
        ObjectStreamWriter::new().write(&short),
        Err(WriteError::Count {
            expected: 2,
            found: 1,
            ..
        })
    ));
    assert!(
        ObjectStreamWriter::new().write(&Value::Int(1)).is_err(),
        "primitives stand in fields only"
    );
}

/// Values of every kind, to some depth.
fn any_value() -> impl Strategy<Value = Value> {
    let node = node_class();
    let bytes = Arc::new(ClassDescriptor::byte_array());
    let objects = Arc::new(ClassDescriptor::serializable("[Ljava.lang.Object;", -3, Vec::new()));
    let numbers = Arc::new(ClassDescriptor::serializable("[J", -4, Vec::new()));
    let custom = Arc::new(ClassDescriptor {
        kind: ClassKind::WriteMethod,
        ..ClassDescriptor::serializable("Custom", 5, vec![Field::new("c", FieldType::Char)])
            .extending(Arc::clone(&node))
    });
    let color = Arc::new(ClassDescriptor {
        kind: ClassKind::Enum,
        ..ClassDescriptor::serializable("Color", 0, Vec::new())
    });
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<String>().prop_map(|text| Value::string(&text)),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(move |content| {
            Value::Array(Arc::new(Array {
                class: Arc::clone(&bytes),
                elements: Elements::Bytes(content.into()),
            }))
        }),
        prop::collection::vec(any::<i64>().prop_map(Value::Long), 0..4).prop_map(move |content| {
            Value::Array(Arc::new(Array {
                class: Arc::clone(&numbers),
                elements: Elements::Values(content),
            }))
        }),
        any::<String>().prop_map(move |name| Value::Enum(Arc::new(EnumConstant {
            class: Arc::clone(&color),
            name: name.into()
        }))),
        Just(Value::Class(Arc::clone(&node))),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let (node, node_too, objects, custom) = (
            Arc::clone(&node),
            Arc::clone(&node),
            Arc::clone(&objects),
            Arc::clone(&custom),
        );
        prop_oneof![
            (any::<i32>(), inner.clone()).prop_map(move |(value, next)| self::node(&node, value, next)),
            (inner.clone(), any::<i32>()).prop_map(move |(shared, value)| {
                self::node(&node_too, value, self::node(&node_too, value, shared.clone()))
            }),
            prop::collection::vec(inner.clone(), 0..4).prop_map(move |content| {
                // The same instances twice.
                let content = [content.clone(), content].concat();
                Value::Array(Arc::new(Array {
                    class: Arc::clone(&objects),
                    elements: Elements::Values(content),
                }))
            }),
            (any::<u16>(), inner, prop::collection::vec(any::<u8>(), 1..400)).prop_map(
                move |(unit, content, block)| {
                    let own = ClassData {
                        values: vec![Value::Char(unit)],
                        contents: vec![Value::Block(block.into()), content],
                    };
                    let data = vec![vec![Value::Int(1), Value::Null].into(), own];
                    Value::Object(Arc::new(Object {
                        class: Arc::clone(&custom),
                        data,
                    }))
                }
            ),
        ]
    })
}

/// Cuts `bytes` into portions of the given sizes, again and again.
fn portions<'a>(bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = Vec<u8>> + 'a {
    let mut rest = bytes;
    sizes.iter().cycle().map_while(move |&size| {
        let (portion, after) = rest.split_at_checked(size).unwrap_or((rest, &[]));
        rest = after;
        (!portion.is_empty()).then(|| portion.to_vec())
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_the_same_in_any_portions(
        values in prop::collection::vec(any_value(), 1..5),
        sizes in prop::collection::vec(1_usize..50, 1..8),
    ) {
        let bytes = write(&values);
        prop_assert_eq!(read_in(portions(&bytes, &sizes), Limits::default()), (values, Ok(())));
    }

    #[test]
    fn damaged_streams_give_the_same_values_and_error_in_any_portions_and_never_panic(
        stream in prop::sample::select(vec![ALL_KINDS, SHARED_NODES, BLOCKS, TEST_EXECUTIONS, TM_PACKETS]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        length in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1_usize..50, 1..8),
    ) {
        let mut bytes = stream.to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(length.index(bytes.len()) + 1);
        let whole = read(&bytes);
        // Printed, because a damaged double may be no number, which is not equal to itself.
        let in_portions = read_in(portions(&bytes, &sizes), Limits::default());
        prop_assert_eq!(format!("{whole:?}"), format!("{in_portions:?}"));
    }

    #[test]
    fn any_bytes_after_a_header_are_read_or_refused(bytes in prop::collection::vec(prop_oneof![0x70_u8..0x7f, any::<u8>(), Just(0)], 0..200)) {
        let _ = read(&[b"\xac\xed\0\x05", &bytes[..]].concat());
    }
}
