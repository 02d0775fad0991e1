//! Log records of OTLP/HTTP, the protocol of OpenTelemetry's SDKs, as events. Pure: bytes of a request in, lines and the bytes of a response out.
//!
//! A record's event name is its subject; a record without one has the subject `log`. Its severity, body, attributes, trace and scope are fields,
//! and its resource's attributes are fields whose names begin with `resource.`. Source: the OTLP specification 1.x and the data model of logs.

mod record;

use lastmile_codec::content::{Coding, decode};
use lastmile_events::line::Line;
use lastmile_units::ByteCount;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use prost::Message as _;
use thiserror::Error;

/// The most bytes of a request once it is decompressed: our own choice.
pub const REQUEST_SIZE_MAX: ByteCount = ByteCount::new(8 << 20);

/// How a request and its response are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Protobuf, in binary.
    Protobuf,
    /// Protobuf's JSON, with OTLP's rules for identifiers.
    Json,
}

/// A request that is not understood.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Its content type is another one.
    #[error("Content-Type {0:?}: OTLP's are application/x-protobuf and application/json")]
    ContentType(String),
    /// It is compressed in a way that is not known here.
    #[error("Content-Encoding {0:?}: gzip, deflate, br, zstd and identity are known here")]
    ContentEncoding(String),
    /// Its compressed bytes are damaged or too many.
    #[error("the compressed request: {0}")]
    Compression(#[from] lastmile_codec::content::DecodeError),
    /// Its bytes are no request for the export of logs.
    #[error("no ExportLogsServiceRequest as protobuf: {0}")]
    Protobuf(#[from] prost::DecodeError),
    /// Its text is no request for the export of logs.
    #[error("no ExportLogsServiceRequest as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Format {
    /// The format of a content type, whose parameters do not matter.
    ///
    /// # Errors
    /// When it is none of OTLP's.
    pub fn from_content_type(text: &str) -> Result<Self, RequestError> {
        let media_type = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media_type.as_str() {
            "application/x-protobuf" => Ok(Self::Protobuf),
            "application/json" => Ok(Self::Json),
            _ => Err(RequestError::ContentType(text.chars().take(80).collect())),
        }
    }

    /// The content type of a response.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// The records of a request, in their order.
    ///
    /// # Errors
    /// When it is damaged, too large, or no request for the export of logs.
    pub fn read_request(self, content_encoding: Option<&str>, body: &[u8]) -> Result<Vec<Line>, RequestError> {
        let coding = content_encoding.map_or(Some(Coding::Identity), Coding::from_token);
        let unknown = || RequestError::ContentEncoding(content_encoding.unwrap_or_default().chars().take(80).collect());
        let body = decode(coding.ok_or_else(unknown)?, body, REQUEST_SIZE_MAX)?;
        let request = match self {
            Self::Protobuf => ExportLogsServiceRequest::decode(body.as_slice())?,
            Self::Json => serde_json::from_slice(&body)?,
        };
        Ok(record::lines(request))
    }

    /// The response to a request of which so many records were not kept.
    pub fn write_response(self, rejected: u64) -> Vec<u8> {
        let partial_success = (rejected > 0).then(|| ExportLogsPartialSuccess {
            rejected_log_records: rejected as i64,
            error_message: "the sensor's store is full".to_owned(),
        });
        let response = ExportLogsServiceResponse { partial_success };
        match self {
            Self::Protobuf => response.encode_to_vec(),
            Self::Json => serde_json::to_vec(&response).expect("it has numbers and texts alone"),
        }
    }
}

#[cfg(test)]
mod tests;
