//! The GZIPFilter report's `TestExecution` objects: near-clones of one class, in one Java object stream.
//!
//! The report ("Performance Test Report for GZIPFilter", Li and Huang, SPIRE-NAO-NOT-002467, 2005) sends n objects of a size; its
//! [true sizes](super::faulty_meter) are N(n) = 538 + n g bytes, where 538 is the stream's header and class descriptors, sent
//! once, and g what each object adds. The class graph here is our own: an execution of a test procedure, with its outcome, such
//! that header and descriptors are 538 bytes ([`HEADER_AND_CLASSES`]) and every object adds exactly the g asked for.
//!
//! [`report_text`](super::report_text) generates the text of an object; [`TestExecutions`] has the number of objects, their sizes, and
//! the variation between them.

mod plan;
mod sizes;

pub use plan::{Case, TestExecutions, Variation};

use super::ObjectStream;
use super::report_text::ReportText;
use lastmile_units::ByteCount;
use lastmile_wire_formats::java::{
    CastError, ClassData, ClassDescriptor, Field, FieldType, Object, ObjectStreamWriter, Value,
};
use std::sync::Arc;

/// The size of a stream of [`TestExecution`]s without its objects: the header and the class descriptors, sent once.
pub const HEADER_AND_CLASSES: ByteCount = ByteCount::new(538);

/// An execution of a test procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestExecution {
    /// Its identity in storage.
    pub identifier: i64,
    /// Whether it ran to its end.
    pub completed: bool,
    /// When it began, in microseconds since 1958-01-01 (TAI), as space missions count.
    pub start_time: i64,
    /// When it ended, likewise.
    pub end_time: i64,
    /// How many steps passed.
    pub steps_passed: i32,
    /// How many steps failed.
    pub steps_failed: i32,
    /// The procedure's version.
    pub version: i32,
    /// Its texts.
    pub text: ReportText,
}

struct Classes {
    execution: Arc<ClassDescriptor>,
    outcome: Arc<ClassDescriptor>,
    procedure: Arc<ClassDescriptor>,
}

impl Classes {
    fn new() -> Self {
        let string = |name| Field::new(name, FieldType::string());
        let long = |name| Field::new(name, FieldType::Long);
        let int = |name| Field::new(name, FieldType::Int);
        let object = |name, class: &str| Field::new(name, FieldType::Object(format!("L{};", class.replace('.', "/"))));
        let execution = vec![
            long("startTime"),
            long("endTime"),
            Field::new("completed", FieldType::Boolean),
            string("campaign"),
            string("instrumentModel"),
            string("testConfiguration"),
            string("operator"),
            object("procedure", TEST_PROCEDURE),
            object("outcome", TEST_OUTCOME),
            string("log"),
        ];
        let outcome = vec![
            int("stepsPassed"),
            int("stepsFailed"),
            string("verdict"),
            string("reviewer"),
        ];
        let procedure = vec![int("version"), string("name"), string("description"), string("script")];
        Self {
            execution: ClassDescriptor::serializable(TEST_EXECUTION, EXECUTION_UID, execution)
                .extending(super::stored_object::class())
                .into(),
            outcome: ClassDescriptor::serializable(TEST_OUTCOME, OUTCOME_UID, outcome).into(),
            procedure: ClassDescriptor::serializable(TEST_PROCEDURE, PROCEDURE_UID, procedure).into(),
        }
    }
}

/// The bytes that an execution adds to a stream beside its texts: tags, handles, lengths of strings and primitives.
const GROWTH_WITHOUT_TEXT: usize = 89;

impl TestExecution {
    /// Its value, with instances that no other execution shares.
    fn to_value(&self, classes: &Classes) -> Value {
        let text = &self.text;
        let string = |text: &str| Value::string(text);
        let object = |class: &Arc<ClassDescriptor>, data: Vec<ClassData>| {
            Value::Object(Arc::new(Object {
                class: Arc::clone(class),
                data,
            }))
        };
        let outcome = vec![
            Value::Int(self.steps_failed),
            Value::Int(self.steps_passed),
            string(&text.reviewer),
            string(&text.verdict),
        ];
        let procedure = vec![
            Value::Int(self.version),
            string(&text.description),
            string(&text.procedure),
            string(&text.script),
        ];
        let execution = vec![
            Value::Boolean(self.completed),
            Value::Long(self.end_time),
            Value::Long(self.start_time),
            string(&text.campaign),
            string(&text.instrument_model),
            string(&text.log),
            string(&text.operator),
            object(&classes.outcome, vec![outcome.into()]),
            object(&classes.procedure, vec![procedure.into()]),
            string(&text.test_configuration),
        ];
        object(
            &classes.execution,
            vec![super::stored_object::data(self.identifier), execution.into()],
        )
    }

    /// Reads it from a stream's value.
    ///
    /// # Errors
    /// When the value is of another class, or a field is missing or of another type.
    pub fn from_value(value: &Value) -> Result<Self, CastError> {
        let execution = value.instance_of(TEST_EXECUTION)?;
        let outcome = execution.instance("outcome", TEST_OUTCOME)?;
        let procedure = execution.instance("procedure", TEST_PROCEDURE)?;
        Ok(Self {
            identifier: execution.long("identifier")?,
            completed: execution.boolean("completed")?,
            start_time: execution.long("startTime")?,
            end_time: execution.long("endTime")?,
            steps_passed: outcome.int("stepsPassed")?,
            steps_failed: outcome.int("stepsFailed")?,
            version: procedure.int("version")?,
            text: ReportText {
                campaign: execution.text("campaign")?.to_string(),
                instrument_model: execution.text("instrumentModel")?.to_string(),
                test_configuration: execution.text("testConfiguration")?.to_string(),
                operator: execution.text("operator")?.to_string(),
                procedure: procedure.text("name")?.to_string(),
                description: procedure.text("description")?.to_string(),
                script: procedure.text("script")?.to_string(),
                verdict: outcome.text("verdict")?.to_string(),
                reviewer: outcome.text("reviewer")?.to_string(),
                log: execution.text("log")?.to_string(),
            },
        })
    }
}

/// The stream of `executions`, one after another.
pub fn stream(executions: &[TestExecution]) -> ObjectStream {
    let classes = Classes::new();
    let mut writer = ObjectStreamWriter::new();
    let write = |execution: &TestExecution| {
        writer
            .write(&execution.to_value(&classes))
            .expect("an execution has the values of its classes")
    };
    ObjectStream {
        objects: executions.iter().map(write).collect(),
    }
}

const TEST_EXECUTION: &str = "observatory.test.TestExecution";
const TEST_OUTCOME: &str = "observatory.test.TestOutcome";
const TEST_PROCEDURE: &str = "observatory.test.TestProcedure";

// The values that `ObjectStreamClass` computes for these classes when their sources declare no `serialVersionUID` (JDK 17).
const EXECUTION_UID: i64 = 1_381_130_181_180_008_157;
const OUTCOME_UID: i64 = 6_227_771_959_742_042_883;
const PROCEDURE_UID: i64 = -2_915_546_662_229_822_062;
