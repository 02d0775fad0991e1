//! The request-response workload: a number of responses of one size, each to a request of one size.

use super::{ObjectStream, STREAM_BYTES_MAX, WorkloadError};
use bytes::Bytes;
use lastmile_units::{ByteCount, Seed};
use rand_core::Rng as _;
use std::num::NonZeroU32;
use std::time::Duration;

/// Exchanges, one after another: `{ kind = "request-response", requests = 20, request = "200 B", response = "2 kB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// The number of exchanges.
    pub requests: NonZeroU32,
    /// The size of a request.
    pub request: ByteCount,
    /// The size of a response.
    pub response: ByteCount,
    /// The client's wait between a response and the next request.
    #[serde(
        default,
        with = "lastmile_units::duration::text",
        skip_serializing_if = "Duration::is_zero"
    )]
    pub pause: Duration,
}

impl RequestResponse {
    /// The size of all responses.
    pub fn total(&self) -> ByteCount {
        ByteCount::new(u64::from(self.requests.get()).saturating_mul(self.response.get()))
    }

    /// The responses, of incompressible bytes.
    pub(super) fn generate(&self, seed: Seed) -> Result<ObjectStream, WorkloadError> {
        let refused = |problem| WorkloadError::spec("request-response", problem);
        if self.request == ByteCount::ZERO || self.response == ByteCount::ZERO {
            return Err(refused("a request and a response must be at least 1 B".to_owned()));
        }
        if self.total() > STREAM_BYTES_MAX || self.request > STREAM_BYTES_MAX {
            return Err(refused(format!(
                "{} responses of {} are more than {STREAM_BYTES_MAX}, the maximum",
                self.requests, self.response
            )));
        }
        let mut rng = seed.derive("request-response").rng();
        let mut response = || {
            let mut bytes = vec![0; self.response.get() as usize];
            rng.fill_bytes(&mut bytes);
            Bytes::from(bytes)
        };
        Ok(ObjectStream {
            objects: (0..self.requests.get()).map(|_| response()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkloadSpec;

    fn stream(requests: u32, request: u64, response: u64) -> Result<ObjectStream, WorkloadError> {
        let exchanges = RequestResponse {
            requests: NonZeroU32::new(requests).unwrap(),
            request: ByteCount::new(request),
            response: ByteCount::new(response),
            pause: Duration::ZERO,
        };
        WorkloadSpec::RequestResponse(exchanges).generate(Seed::new(1))
    }

    #[test]
    fn each_response_is_an_object_of_its_size() {
        let stream = stream(3, 100, 2000).unwrap();
        assert_eq!(stream.objects.len(), 3);
        assert!(stream.objects.iter().all(|response| response.len() == 2000));
        assert_ne!(stream.objects[0], stream.objects[1]);
    }

    #[test]
    fn what_is_empty_or_too_much_is_refused() {
        let refusal = |requests, request, response| stream(requests, request, response).unwrap_err().to_string();
        assert!(refusal(3, 0, 2000).contains("at least 1 B"));
        assert!(refusal(1_000_000, 1, 2_000_000).contains("the maximum"));
    }
}
