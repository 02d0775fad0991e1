//! Prepares the replays: compresses the bodies, and finds the settings worth replaying.

use super::candidates::{Candidate, common_defaults, worth_replaying};
use super::compressed_sizes::{Extent, Sizes};
use super::response_classes::{self, Group};
use super::{AdviseError, Options, Phase, PreparedReplay, Progress, checks, snippets};
use crate::record::Server;
use lastmile_codec::content::CodecSpec;
use lastmile_page::Page;
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_traffic::responses::{Body, Origin, Traffic};
use lastmile_units::workers::Workers;
use std::collections::BTreeSet;

/// Formats that are already compressed (images, WOFF) are tried with these two codecs only. If neither gets below this share of the
/// size, they are left uncompressed. Our own choice.
const PROBES: [&str; 2] = ["gzip:6", "br:5"];
const WORTH_CODING: f64 = 0.9;

impl<'a> PreparedReplay<'a> {
    pub(super) fn prepare(
        traffic: &'a Traffic,
        options: &'a Options,
        costs: &'a CostTable,
        workers: &Workers<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, AdviseError> {
        let page = Page::from_traffic(traffic);
        checks::check_page(traffic, &page, options)?;
        let mut prepared = Self {
            traffic,
            options,
            costs,
            groups: response_classes::groups(&page),
            page,
            sizes: Sizes::default(),
            candidates: Vec::new(),
            recorded_cpu: Vec::new(),
            settings: Vec::new(),
        };
        checks::check_server(options, &prepared.groups)?;
        let phase = Phase::Compressing;
        let mut on_done = |done, total| progress(Progress { phase, done, total });
        let mut compress = |prepared: &mut Self, already_compressed: bool, codecs: &[CodecSpec], extent| {
            let bodies = prepared.bodies(already_compressed);
            prepared.sizes.measure(&bodies, codecs, extent, workers, &mut on_done)
        };
        let within = Extent::Within(options.exact_within);
        let probes = PROBES.map(|probe| probe.parse().expect("a probe is a codec"));
        compress(&mut prepared, true, &probes, within)?;
        let is_worth_coding = |group: &Group| {
            let sizes = probes
                .iter()
                .map(|probe| prepared.candidate(*probe, group).size.as_f64());
            sizes.into_iter().any(|size| size < WORTH_CODING * group.plain.as_f64())
        };
        let worth_coding: Vec<bool> = prepared.groups.iter().map(is_worth_coding).collect();
        for (group, is_worth_coding) in prepared.groups.iter_mut().zip(worth_coding) {
            group.already_compressed &= !is_worth_coding;
        }
        compress(&mut prepared, false, &options.levels, within)?;
        prepared.candidates = prepared.all_candidates(&probes);
        prepared.settings = prepared.settings_worth_replaying();
        let settings = prepared.settings.clone();
        compress(&mut prepared, false, &settings, Extent::Whole)?;
        prepared.candidates = prepared.all_candidates(&probes);
        let groups = prepared.groups.iter();
        prepared.recorded_cpu = groups.map(|group| prepared.cpu_as_recorded(group)).collect();
        Ok(prepared)
    }

    /// The bodies, with their items, of the groups whose formats are compressed already, or of the others.
    fn bodies(&self, already_compressed: bool) -> Vec<(usize, &'a [u8])> {
        let traffic = self.traffic;
        let groups = self.groups.iter();
        let groups = groups.filter(|group| group.already_compressed == already_compressed);
        let items = groups.flat_map(|group| &group.items);
        let body = |item: &usize| match &traffic.responses[self.page.items[*item].response].body {
            Body::Present(bytes) => Some((*item, &bytes[..])),
            Body::SizeOnly(_) | Body::Missing => None,
        };
        items.filter_map(body).collect()
    }

    /// For each group, identity and every setting that it was compressed with.
    fn all_candidates(&self, probes: &[CodecSpec]) -> Vec<Vec<Candidate>> {
        let of_group = |group: &Group| {
            let levels = if group.already_compressed {
                probes
            } else {
                &self.options.levels
            };
            let all = std::iter::once(CodecSpec::IDENTITY).chain(levels.iter().copied());
            all.map(|codec| self.candidate(codec, group)).collect()
        };
        self.groups.iter().map(of_group).collect()
    }

    /// The settings to replay: identity, those worth replaying for static or for dynamic responses, and common defaults among the levels
    /// considered.
    fn settings_worth_replaying(&self) -> Vec<CodecSpec> {
        let mut settings = BTreeSet::from([CodecSpec::IDENTITY]);
        for origin in [Origin::Static, Origin::Dynamic] {
            let groups = self.groups.iter().zip(&self.candidates);
            let open = groups.filter(|(group, _)| group.origin == origin && !group.already_compressed);
            let open: Vec<&Vec<Candidate>> = open.map(|(_, candidates)| candidates).collect();
            if open.is_empty() {
                continue;
            }
            let can = |codec| self.options.can(origin, codec);
            let worth_replaying = |is_usable: &dyn Fn(CodecSpec) -> bool| {
                let candidates = open.iter().copied().flatten();
                worth_replaying(
                    origin,
                    candidates.filter(|candidate| can(candidate.codec) && is_usable(candidate.codec)),
                )
            };
            settings.extend(worth_replaying(&|_| true));
            // A server that supports none of these has a snippet too.
            let is_asked = |server: &Server| self.options.server.is_none_or(|asked| asked == *server);
            for server in snippets::SERVERS.into_iter().filter(is_asked) {
                let supports = |codec: CodecSpec| !codec.is_identity() && snippets::supports(server, origin, codec);
                if !settings.iter().copied().any(supports) {
                    settings.extend(worth_replaying(&supports));
                }
            }
            settings.extend(common_defaults().filter(|codec| self.options.levels.contains(codec) && can(*codec)));
        }
        settings.into_iter().collect()
    }
}
