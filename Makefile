# What is done often with this tree. Nothing here is needed to use lastmile: `cargo run -q -- --help` is enough.

MUTATIONS ?= 1000000
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help run test lint peers bench fidelity traces fuzz libfuzzer examples schemas

help:            ## What there is to make
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run:             ## Advise on the traffic of examples/, over three links
	cargo run -q -- advise examples/shop.har --link wpt/3g,seeds/dialup-56k,wpt/cable

test:            ## Every test
	cargo test

lint:            ## What CI holds the source to
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc -q --workspace --no-deps
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level error check licenses bans sources; \
	else echo "cargo-deny is not installed: licences, duplicates and sources of the dependencies are not checked"; fi

peers:           ## Install the real programs that tests hold lastmile against
	@.ci/peers

bench:           ## How fast and true lastmile is, beside what it aims at (ONLY=emulated or simulated; NO_BUILD=1: no cold build)
	cargo run -q -p lastmile-bench -- $(if $(NO_BUILD),--no-build) $(if $(ONLY),--only $(ONLY))
	$(if $(ONLY),,cargo run -q -p lastmile-bench --bin inspect_speed)
	$(if $(ONLY),,cargo run -q -p lastmile-bench --bin tune_speed)

fuzz:            ## Feed every reader of foreign bytes its corpus and MUTATIONS seeded mutations
	cargo run -q -p lastmile-fuzz -- --mutations $(MUTATIONS)

libfuzzer:       ## Let libFuzzer loose on TARGET for SECONDS; takes a C++ compiler
	@fuzz/libfuzzer "$(TARGET)" "$(SECONDS)"

examples:        ## Make examples/ again
	cargo run -q -p lastmile-payload --example make_examples

fidelity:        ## Hold the simulated world against this machine's kernel, and record what came of it (some ten minutes)
	cargo run -q -- run fidelity --no-report --format json >fidelity.json
	cargo run -q -p lastmile-study --example record_fidelity <fidelity.json >recorded.toml
	mv recorded.toml crates/study/src/fidelity/recorded.toml && rm fidelity.json

traces:          ## Record what this machine's kernel sends, segment by segment (twice, in two minutes; as root, or where namespaces are allowed)
	UPDATE_TRACES=1 cargo test -q -p lastmile --test binary traces -- --nocapture

schemas:         ## Write schemas/ from the types
	UPDATE_SCHEMAS=1 cargo test -q -p lastmile-report schemas
