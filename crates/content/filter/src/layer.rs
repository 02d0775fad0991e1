//! The tower layer that adds content coding to a service.

use crate::compute::NoCost;
use crate::policy::Policy;
use crate::service::CompressionService;
use http::{request, response};
use std::sync::Arc;
use tower_layer::Layer;

/// Compresses the responses of the wrapped service, as each client accepts and a [`Policy`] allows.
///
/// ```
/// use lastmile_filter::{CompressionLayer, Policy};
/// let layer = CompressionLayer::new(Policy { offered: vec!["gzip:6".parse().unwrap()], ..Policy::default() })
///     // Secrets beside client input are not compressed: the length would leak them (BREACH).
///     .with_predicate(|request, _response| !request.uri.path().starts_with("/account"));
/// ```
#[derive(Clone)]
pub struct CompressionLayer<C = NoCost> {
    settings: Settings<C>,
}

/// Decides for a request and its response whether the response may be compressed.
pub(crate) type Predicate = dyn Fn(&request::Parts, &response::Parts) -> bool + Send + Sync;

/// Settings that all services of a layer share.
#[derive(Clone)]
pub(crate) struct Settings<C> {
    pub(crate) policy: Arc<Policy>,
    pub(crate) predicate: Option<Arc<Predicate>>,
    pub(crate) compute: C,
}

impl CompressionLayer {
    /// A layer that follows `policy`.
    pub fn new(policy: Policy) -> Self {
        Self {
            settings: Settings {
                policy: Arc::new(policy),
                predicate: None,
                compute: NoCost,
            },
        }
    }
}

impl<C> CompressionLayer<C> {
    /// Charges compression to `compute`; the default adds no cost.
    pub fn with_compute<D>(self, compute: D) -> CompressionLayer<D> {
        let Settings { policy, predicate, .. } = self.settings;
        CompressionLayer {
            settings: Settings {
                policy,
                predicate,
                compute,
            },
        }
    }

    /// Compresses only responses for which `predicate` holds, in addition to the policy's conditions. It is called once per response,
    /// with the head of the request as it reached the layer; if it returns false, the response is sent unchanged. If the result
    /// depends on a request field, the handler must name that field in `Vary`.
    #[must_use]
    pub fn with_predicate<P>(mut self, predicate: P) -> Self
    where
        P: Fn(&request::Parts, &response::Parts) -> bool + Send + Sync + 'static,
    {
        self.settings.predicate = Some(Arc::new(predicate));
        self
    }
}

impl<S, C: Clone> Layer<S> for CompressionLayer<C> {
    type Service = CompressionService<S, C>;

    fn layer(&self, inner: S) -> Self::Service {
        CompressionService::new(inner, self.settings.clone())
    }
}
