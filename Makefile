# Frequent tasks. Using lastmile needs none of them: `cargo run -q -- --help` is enough.

MUTATIONS ?= 1000000
CASES ?= 2000
SEED ?= 1
SECONDS ?= 60

# What `make release` builds for, where its files go, and where they will be downloaded from: no other host is named.
TARGETS ?= x86_64-unknown-linux-musl
FILES ?= target/release-files
export RELEASE_URL ?= https://lastmile.example

.DEFAULT_GOAL := help
.PHONY: help run test lint peers bench bench-load late fidelity fidelity-pages recommendations gates traces recordings explore faults fuzz libfuzzer examples schemas release release-tools release-check release-twice

help:            ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run:             ## Advise on the traffic of examples/, over three links
	cargo run -q -- advise examples/shop.har --link wpt/3g,published/dialup-56k,wpt/cable

test:            ## Every test
	cargo test

lint:            ## CI's checks of the source
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc -q --workspace --no-deps
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level error check licenses bans sources; \
	else echo "cargo-deny is not installed: licences, duplicates and sources of the dependencies are not checked"; fi

peers:           ## Install the real programs that tests compare lastmile with
	@.ci/peers

# The measurements of one kind, each a program of the crate bench; the rest are parts of its main one.
SPEEDS = inspect_speed tune_speed encoding_speed radio_speed event_speed route_speed load_speed

bench:           ## Measure how fast and true lastmile is, beside its aims (ONLY=emulated, simulated, encoding_speed ...; NO_BUILD=1: no cold build)
	$(if $(filter $(SPEEDS),$(ONLY)),,cargo run -q -p lastmile-bench -- $(if $(NO_BUILD),--no-build) $(if $(ONLY),--only $(ONLY)))
	$(if $(filter-out $(SPEEDS),$(ONLY)),,cargo build -q)
	$(if $(filter-out $(SPEEDS),$(ONLY)),,@set -e; for speed in $(if $(ONLY),$(ONLY),$(SPEEDS)); do cargo run -q -p lastmile-bench --bin $$speed; done)

bench-load:      ## Measure the load generator only (PART=generators, schedule, stall, nginx, nginx-cpu, workers or connections; as root, on a quiet machine)
	cargo build -q && cargo run -q -p lastmile-bench --bin load_speed -- $(if $(PART),--only $(PART))

late:            ## Check what needs real time: that figures which busy loops move are invalid, and no others; a subscriber that sleeps for a minute (some ten minutes; as root, on a quiet machine)
	cargo build -q
	cargo run -q -p lastmile-bench --bin late_programs
	LASTMILE_SLEEP_SECONDS=60 cargo test -q --test binary slow_link

explore:         ## Run the property tests on cases that were not drawn before
	@seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "PROPTEST_RNG_SEED=$$seed"; PROPTEST_RNG_SEED=$$seed cargo test -q --lib

faults:          ## Kill monitors and sensors, fill their disks and flip bits of their files, in CASES cases from SEED on (some ten minutes; ONLY=kill, flip ...)
	cargo build -q && cargo run -q -p lastmile-faults -- --cases $(CASES) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

fuzz:            ## Feed every reader of foreign bytes its corpus and MUTATIONS seeded mutations
	cargo run -q -p lastmile-fuzz -- --mutations $(MUTATIONS)

libfuzzer:       ## Run libFuzzer on TARGET for SECONDS; needs a C++ compiler
	@fuzz/libfuzzer "$(TARGET)" "$(SECONDS)"

examples:        ## Regenerate the message streams in examples/
	cargo run -q -p lastmile-workload --example make_examples -- examples

fidelity:        ## Compare the simulated world with this machine's kernel, and record the result (some ten minutes)
	cargo run -q -- run fidelity --no-report --format json >fidelity.json
	cargo run -q -p lastmile-builtin-studies --example record_fidelity <fidelity.json >recorded.toml
	mv recorded.toml crates/studies/builtin_studies/src/fidelity/recorded.toml && rm fidelity.json

fidelity-pages:  ## Compare simulated page loads with Chromium's on this machine, and record the result (over an hour; nothing else may run)
	cargo run -q -- run fidelity-pages --no-report --format json >fidelity-pages.json
	cargo run -q -p lastmile-builtin-studies --example record_fidelity <fidelity-pages.json >recorded.toml
	mv recorded.toml crates/studies/builtin_studies/src/fidelity/recorded_pages.toml && rm fidelity-pages.json

recommendations: ## Check on every page and link of fidelity-pages that no setting tried is faster than the recommended one (some minutes)
	cargo run -q -p lastmile --example check_recommendations

gates:           ## Check on 20 pairs of equal runs of every study that few gates of compare break, and that a change is found (hours)
	cargo run -q -p lastmile --example check_gates

traces:          ## Record the segments that this machine's kernel sends (twice, in two minutes; as root, or where namespaces are allowed)
	UPDATE_TRACES=1 cargo test -q -p lastmile --test binary traces -- --nocapture

recordings:      ## Record calls of Ice 3.7 and omniORB 4.2, which hold the protocols of crates/protocols/rpc byte for byte (after make peers)
	cargo run -q -p lastmile-rpc --example call_values -- target/call-values
	peers/record-calls target/call-values crates/protocols/rpc/tests/recorded

schemas:         ## Regenerate schemas/ from the types
	UPDATE_SCHEMAS=1 cargo test -q keeps_what_every_record_must

release: release-tools ## Make the files of a release in FILES, for TARGETS: tar, Debian package, image, sums, dependencies and licences
	@release/run "$(FILES)" $(TARGETS)

release-tools:   ## Install what a release is built with
	@release/tools $(TARGETS)

release-check:   ## Check the files of a release in FILES as their users have them (as root: in a fresh Debian, and as an image)
	@release/check "$(FILES)"

release-twice:   ## Build the release of the last commit in two folders, and check that the bytes are equal
	@release/twice $(TARGETS)
