//! Mixes: a setting for each kind of response, how a page's responses are sent under it, and what it costs besides the page's time.

use super::PreparedReplay;
use lastmile_codec::content::CodecSpec;
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_traffic::responses::Origin;
use lastmile_units::ByteCount;
use std::collections::BTreeSet;
use std::time::Duration;

/// What the responses of a kind are sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KindSetting {
    /// Each with the encoding that it was recorded with.
    AsRecorded,
    /// All with one codec.
    Codec(CodecSpec),
}

impl KindSetting {
    /// Uncompressed.
    pub(super) const IDENTITY: Self = Self::Codec(CodecSpec::IDENTITY);

    /// The codec, where it is one that compresses.
    pub(super) fn codec(self) -> Option<CodecSpec> {
        match self {
            Self::Codec(codec) if !codec.is_identity() => Some(codec),
            Self::AsRecorded | Self::Codec(_) => None,
        }
    }
}

/// The setting of each group, in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mix(pub(super) Vec<KindSetting>);

impl Mix {
    /// The same with another setting for one group.
    pub(super) fn with(&self, group: usize, setting: KindSetting) -> Self {
        let mut mix = self.clone();
        mix.0[group] = setting;
        mix
    }
}

/// How simple a mix is; the least is the simplest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Simplicity {
    /// The number of distinct settings, without identity.
    pub(super) settings: usize,
    /// How many of them are no server's ordinary setting.
    pub(super) unusual_settings: usize,
    /// The CPU time of the server for every body once.
    pub(super) server_cpu: Duration,
}

/// The seconds that other requests wait for each second of CPU time.
pub(super) fn queueing_delay_factor(load: f64) -> f64 {
    load / ((1.0 - load) * (1.0 - load))
}

impl PreparedReplay<'_> {
    /// Whether the traffic contains recorded encodings or transferred sizes.
    pub(super) fn has_recorded_encoding(&self) -> bool {
        self.traffic
            .responses
            .iter()
            .any(|response| response.transferred.is_some() || response.content_encoding.is_some())
    }

    /// Every response as it was recorded; none where the traffic does not say how that was.
    pub(super) fn as_recorded(&self) -> Option<Mix> {
        let all = || Mix(vec![KindSetting::AsRecorded; self.groups.len()]);
        self.has_recorded_encoding().then(all)
    }

    /// A mix with one group left as it is today: as recorded, or uncompressed where the traffic does not say; none where it is sent alike.
    pub(super) fn with_today(&self, mix: &Mix, group: usize) -> Option<Mix> {
        let today = if self.has_recorded_encoding() {
            KindSetting::AsRecorded
        } else {
            KindSetting::IDENTITY
        };
        let left = mix.with(group, today);
        let items = &self.groups[group].items;
        let [sent, left_sent] = [mix, &left].map(|mix| self.deliveries(mix));
        items.iter().any(|item| sent[*item] != left_sent[*item]).then_some(left)
    }

    /// The bytes of a group's bodies under a mix.
    pub(super) fn group_bytes(&self, mix: &Mix, group: usize) -> ByteCount {
        let sent = self.deliveries(mix);
        self.groups[group].items.iter().map(|item| sent[*item].size).sum()
    }

    /// A codec for every group whose format is not compressed already; uncompressed where the server cannot do that for its origin.
    pub(super) fn uniform(&self, codec: CodecSpec) -> Mix {
        self.by_origin(Some(codec), Some(codec))
    }

    /// One codec for static responses and one for dynamic ones.
    pub(super) fn by_origin(&self, of_files: Option<CodecSpec>, on_request: Option<CodecSpec>) -> Mix {
        let setting = |group: &super::Group| {
            let codec = match group.origin {
                Origin::Static => of_files,
                Origin::Dynamic => on_request,
            };
            let codec = codec.filter(|codec| !group.already_compressed && self.options.can(group.origin, *codec));
            codec.map_or(KindSetting::IDENTITY, KindSetting::Codec)
        };
        Mix(self.groups.iter().map(setting).collect())
    }

    /// The codec that a mix is, for everything that can have it; none where it is none.
    pub(super) fn uniform_codec(&self, mix: &Mix) -> Option<CodecSpec> {
        self.settings.iter().copied().find(|codec| self.uniform(*codec) == *mix)
    }

    /// How each item is sent under a mix.
    pub(super) fn deliveries(&self, mix: &Mix) -> Vec<EncodedResponse> {
        let mut sent: Vec<EncodedResponse> = (0..self.page.items.len())
            .map(|item| match self.as_recorded() {
                Some(recorded) if recorded == *mix => self.recorded_delivery(item),
                _ => self.size_as_recorded(item),
            })
            .collect();
        for (group, setting) in self.groups.iter().zip(&mix.0) {
            for item in &group.items {
                sent[*item] = match setting {
                    KindSetting::AsRecorded => self.recorded_delivery(*item),
                    KindSetting::Codec(codec) if codec.is_identity() => {
                        EncodedResponse::identity(self.page.items[*item].plain)
                    }
                    KindSetting::Codec(codec) => self.delivery(*item, *codec),
                };
            }
        }
        sent
    }

    /// The CPU time of the server for each group under a mix, for every body once.
    fn server_cpu<'a>(&'a self, mix: &'a Mix) -> impl Iterator<Item = (Origin, Duration)> + 'a {
        self.groups
            .iter()
            .enumerate()
            .zip(&mix.0)
            .map(|((index, group), setting)| {
                let computing = match setting {
                    KindSetting::AsRecorded => self.recorded_cpu[index].unwrap_or_default(),
                    KindSetting::Codec(codec) => self.candidates[index]
                        .iter()
                        .find(|candidate| candidate.codec == *codec)
                        .map_or(Duration::ZERO, |candidate| candidate.server),
                };
                (group.origin, computing)
            })
    }

    /// The seconds that compressing one page's dynamic responses delays other requests, in total.
    pub(super) fn delay_of_others(&self, mix: &Mix) -> f64 {
        let on_request = self.server_cpu(mix).filter(|(origin, _)| *origin == Origin::Dynamic);
        let computing: Duration = on_request.map(|(_, computing)| computing).sum();
        queueing_delay_factor(self.options.load.server.load) * computing.as_secs_f64()
    }

    /// How simple a mix is to configure and to run.
    pub(super) fn simplicity(&self, mix: &Mix) -> Simplicity {
        let ordinary: Vec<CodecSpec> = super::candidates::common_defaults().collect();
        let recorded = self.as_recorded().is_some_and(|recorded| recorded == *mix);
        let distinct: BTreeSet<KindSetting> = mix
            .0
            .iter()
            .copied()
            .filter(|setting| *setting != KindSetting::IDENTITY)
            .collect();
        let unusual = |setting: &&KindSetting| setting.codec().is_some_and(|codec| !ordinary.contains(&codec));
        Simplicity {
            // To leave everything as it is takes no setting at all.
            settings: if recorded { 0 } else { distinct.len() },
            unusual_settings: distinct.iter().filter(unusual).count(),
            server_cpu: self.server_cpu(mix).map(|(_, computing)| computing).sum(),
        }
    }
}
