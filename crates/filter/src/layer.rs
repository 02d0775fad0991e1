//! How does content coding come to a service?

use crate::compute::NoCost;
use crate::policy::Policy;
use crate::service::CompressionService;
use http::{request, response};
use std::sync::Arc;
use tower_layer::Layer;

/// Codes the responses of the service it is laid over, as each client accepts it and a [`Policy`] allows.
///
/// ```
/// use lastmile_filter::{CompressionLayer, Policy};
/// let layer = CompressionLayer::new(Policy { offered: vec!["gzip:6".parse().unwrap()], ..Policy::default() })
///     // Secrets beside what the client sent are not coded: their length would tell of them (BREACH).
///     .only_if(|request, _response| !request.uri.path().starts_with("/account"));
/// ```
#[derive(Clone)]
pub struct CompressionLayer<C = NoCost> {
    settings: Settings<C>,
}

/// Says of a request and its response whether the response may be coded.
pub(crate) type Predicate = dyn Fn(&request::Parts, &response::Parts) -> bool + Send + Sync;

/// What every service of a layer shares.
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
    /// Charges coding to `compute`; nothing by default.
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

    /// Codes only those responses for which `predicate` holds, besides what the policy demands. It is asked once a response, with
    /// the head of the request as it reached the layer; where it says no, the response goes as the handler made it. Where the
    /// answer depends on a request field, it is for the handler to name that field in `Vary`.
    #[must_use]
    pub fn only_if<P>(mut self, predicate: P) -> Self
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
