//! The GZIPFilter report's `TmPackets` objects: housekeeping telemetry, one packet per object, in one Java object stream.
//!
//! The report says of case H: 100 objects, "size are from 0.29 to 1 k byte", printed 19,874 bytes, so actually 39,748 (see
//! [`faulty_meter`](super::faulty_meter)). With 70, 20 and 10 objects that add 300, 420 and 1,000 bytes to the stream, 348 bytes remain
//! for its header and class descriptors, which is the size of those of our class ([`HEADER_AND_CLASSES`]): the total matches exactly,
//! with nothing adjusted. Each object has one CCSDS Space Packet, as a `byte[]`, beside the ground segment's annotations.
//!
//! The mix and the walk of the parameters are inferred from the printed total and compressed size; the report does not state them.
//! So is the assumption that a fixed 13 % of the parameters walk at every packet: with each parameter walking with probability 13 %, and
//! finer times, gzip saved 74 % in a trial instead of the printed 84 %. The ratio of this workload therefore shows that such packets
//! can give the printed ratio, not that the report's packets were such.

mod housekeeping;

use super::{OBJECTS_MAX, ObjectError, ObjectStream, WorkloadError};
pub use housekeeping::{HousekeepingError, HousekeepingReport};
use housekeeping::{SERVICE, WITHOUT_PARAMETERS};
use lastmile_units::random::{below, shuffle};
use lastmile_units::{ByteCount, Probability, Rng, Seed};
use lastmile_wire_formats::ccsds::{PRIMARY_HEADER, SpacePacket};
use lastmile_wire_formats::java::{
    Array, ClassDescriptor, Elements, Field, FieldType, Object, ObjectStreamWriter, Value,
};
use std::sync::Arc;

/// The size of a stream without its objects: the header and the class descriptors, sent once.
pub const HEADER_AND_CLASSES: ByteCount = ByteCount::new(348);

/// Bytes that an object adds to the stream, and how many of 100 objects add them.
const MIX: [(usize, usize); 3] = [(300, 70), (420, 20), (1_000, 10)];

/// The bytes that an object adds to the stream beside its packet: tags, handles, lengths and primitives.
const GROWTH_WITHOUT_PACKET: usize = 66;

/// The one application process of all packets: its number is our own choice.
const APPLICATION_PROCESS: u16 = 0x501;

/// Housekeeping is sampled once a second of the spacecraft's clock, at the same fraction of the second.
const PERIOD: u64 = 1 << 16;

/// Packets are recorded on board and transmitted to the ground later, in transfer frames of this many bytes, one per this many
/// milliseconds; packets of one frame are received at the same time. Our own choice of a plausible downlink (1.5 Mbit/s).
const FRAME: usize = 1_115;
const FRAME_MILLISECONDS: i64 = 6;
const RECORDED_FOR: i64 = 14_400_000;

/// A workload of telemetry packets: `{ kind = "tm-packets", packets = 100 }`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TmPackets {
    /// The number of packets; 100 in the report.
    pub packets: usize,
    /// The share of each structure's parameters that move by one bit from a packet to the next of that structure; the others are
    /// constant. 13 % if not given: see the head of this module.
    #[serde(default = "default_walking")]
    pub walking: Probability,
}

fn default_walking() -> Probability {
    Probability::new(0.13).expect("a probability")
}

/// A telemetry packet as the ground segment stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmPacket {
    /// Its identity in storage.
    pub identifier: i64,
    /// When it was generated, in milliseconds since the spacecraft's epoch.
    pub generation_time: i64,
    /// When it was received, likewise.
    pub reception_time: i64,
    /// The packet itself.
    pub packet: SpacePacket,
    /// The parsed report in the packet.
    pub report: HousekeepingReport,
}

/// One kind of housekeeping report: most of its parameters are constant, the others walk from packet to packet.
struct Structure {
    parameters: Vec<u16>,
    walking: Vec<usize>,
}

impl Structure {
    /// Parameters of twelve bits, as from analogue-to-digital converters, at first anywhere in their range.
    fn new(growth: usize, walking: Probability, rng: &mut Rng) -> Self {
        let bytes = growth - GROWTH_WITHOUT_PACKET - PRIMARY_HEADER - WITHOUT_PARAMETERS;
        let parameters: Vec<_> = (0..bytes / 2).map(|_| below(rng, 1 << 12) as u16).collect();
        let mut all: Vec<_> = (0..parameters.len()).collect();
        shuffle(rng, &mut all);
        all.truncate((parameters.len() as f64 * walking.get()).round() as usize);
        Self {
            parameters,
            walking: all,
        }
    }

    fn walk(&mut self, rng: &mut Rng) {
        for &at in &self.walking {
            let parameter = &mut self.parameters[at];
            *parameter = if below(rng, 2) == 0 {
                parameter.saturating_sub(1)
            } else {
                (*parameter + 1).min(0x0fff)
            };
        }
    }
}

impl TmPackets {
    /// Case H of the report.
    pub fn of_report() -> Self {
        Self {
            packets: 100,
            walking: default_walking(),
        }
    }

    /// Variants of the report's case with one parameter changed at a time, and the description of the change.
    pub fn sensitivity() -> Vec<(String, Self)> {
        [0.0, 0.05, 0.13, 0.25, 0.5]
            .into_iter()
            .filter_map(Probability::new)
            .map(|walking| {
                (
                    format!("{walking} of the parameters walk"),
                    Self {
                        walking,
                        ..Self::of_report()
                    },
                )
            })
            .collect()
    }

    /// Generates the packets, the same for the same seed.
    ///
    /// # Errors
    /// When the number of packets is 0, or more than a million.
    pub fn generate(&self, seed: Seed) -> Result<Vec<TmPacket>, WorkloadError> {
        if self.packets == 0 || self.packets > OBJECTS_MAX {
            let problem = format!("packets is {}; it must be from 1 to {OBJECTS_MAX}", self.packets);
            return Err(WorkloadError::spec("tm-packets", problem));
        }
        let mut rng = seed.derive("telemetry packets").rng();
        let mut structures: Vec<_> = MIX
            .iter()
            .map(|&(growth, _)| Structure::new(growth, self.walking, &mut rng))
            .collect();
        let mut order = structures_in_order(self.packets);
        shuffle(&mut rng, &mut order);
        let first_identifier = below(&mut rng, 1 << 40) as i64;
        let first_count = below(&mut rng, 1 << 14);
        let mut time = ((1_400_000_000 + below(&mut rng, 1 << 20) as u64) << 16) + below(&mut rng, 1 << 16) as u64;
        let first_reception = (time >> 16) as i64 * 1000 + RECORDED_FOR;
        let mut bytes = 0;
        let mut packets = Vec::with_capacity(self.packets);
        for (index, structure) in order.into_iter().enumerate() {
            if index > 0 {
                structures[structure].walk(&mut rng);
            }
            time += PERIOD;
            let parameters = structures[structure].parameters.clone();
            let report = HousekeepingReport {
                time,
                structure: structure as u16 + 1,
                parameters,
            };
            let packet = report.packet(APPLICATION_PROCESS, ((first_count + index) % (1 << 14)) as u16);
            let frame = bytes / FRAME;
            bytes += PRIMARY_HEADER + packet.data.len();
            packets.push(TmPacket {
                identifier: first_identifier + index as i64,
                generation_time: ((u128::from(time) * 1000) >> 16) as i64,
                reception_time: first_reception + frame as i64 * FRAME_MILLISECONDS,
                packet,
                report,
            });
        }
        Ok(packets)
    }
}

/// The structure of each packet, in the shares of [`MIX`], rounded so that the counts add up.
fn structures_in_order(packets: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(packets);
    let mut share = 0;
    for (structure, (_, percent)) in MIX.iter().enumerate() {
        share += percent;
        order.resize((packets * share + 50) / 100, structure);
    }
    order
}

struct Classes {
    packet: Arc<ClassDescriptor>,
    bytes: Arc<ClassDescriptor>,
}

impl Classes {
    fn new() -> Self {
        let long = |name| Field::new(name, FieldType::Long);
        let int = |name| Field::new(name, FieldType::Int);
        let byte = |name| Field::new(name, FieldType::Byte);
        let boolean = |name| Field::new(name, FieldType::Boolean);
        let fields = vec![
            long("generationTime"),
            long("receptionTime"),
            int("applicationIdentifier"),
            int("sequenceCount"),
            int("structureIdentifier"),
            int("groundStation"),
            byte("serviceType"),
            byte("serviceSubtype"),
            byte("virtualChannel"),
            boolean("errorControlPassed"),
            boolean("timeCorrelated"),
            boolean("qualityChecked"),
            Field::new("data", FieldType::Array("[B".to_owned())),
        ];
        let packet = ClassDescriptor::serializable(TM_PACKETS, TM_PACKETS_UID, fields);
        Self {
            packet: packet.extending(super::stored_object::class()).into(),
            bytes: ClassDescriptor::byte_array().into(),
        }
    }
}

impl TmPacket {
    /// Its value, in the order of the class's fields.
    fn to_value(&self, classes: &Classes) -> Value {
        let bytes = self.packet.encode().expect("a generated packet is within its ranges");
        let bytes = Array {
            class: Arc::clone(&classes.bytes),
            elements: Elements::Bytes(bytes),
        };
        let noted = vec![
            Value::Int(i32::from(self.packet.application_process)),
            Value::Boolean(true),
            Value::Long(self.generation_time),
            Value::Int(GROUND_STATION),
            Value::Boolean(true),
            Value::Long(self.reception_time),
            Value::Int(i32::from(self.packet.sequence_count)),
            Value::Byte(SERVICE.1 as i8),
            Value::Byte(SERVICE.0 as i8),
            Value::Int(i32::from(self.report.structure)),
            Value::Boolean(true),
            Value::Byte(VIRTUAL_CHANNEL),
            Value::Array(bytes.into()),
        ];
        let stored = super::stored_object::data(self.identifier);
        Value::Object(Arc::new(Object {
            class: Arc::clone(&classes.packet),
            data: vec![stored, noted.into()],
        }))
    }

    /// Reads it from a stream's value, packet and report included.
    ///
    /// # Errors
    /// When the value is of another class, or its packet is not a housekeeping packet, or damaged.
    pub fn from_value(value: &Value) -> Result<Self, ObjectError> {
        let object = value.instance_of(TM_PACKETS)?;
        let bytes = object.bytes("data")?;
        let packet = SpacePacket::decode(bytes)?;
        let report = HousekeepingReport::read(&packet, bytes)?;
        Ok(Self {
            identifier: object.long("identifier")?,
            generation_time: object.long("generationTime")?,
            reception_time: object.long("receptionTime")?,
            packet,
            report,
        })
    }
}

/// The stream of `packets`, one after another.
pub fn stream(packets: &[TmPacket]) -> ObjectStream {
    let classes = Classes::new();
    let mut writer = ObjectStreamWriter::new();
    let write = |packet: &TmPacket| {
        writer
            .write(&packet.to_value(&classes))
            .expect("a packet has the values of its class")
    };
    ObjectStream {
        objects: packets.iter().map(write).collect(),
    }
}

const TM_PACKETS: &str = "observatory.test.TmPackets";
// The value that `ObjectStreamClass` computes for this class when its source declares no `serialVersionUID` (JDK 17).
const TM_PACKETS_UID: i64 = 4_801_293_097_737_276_662;
const GROUND_STATION: i32 = 1;
const VIRTUAL_CHANNEL: i8 = 0;
