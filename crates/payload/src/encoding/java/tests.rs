use super::*;
use std::sync::Arc;

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
}
