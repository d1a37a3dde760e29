# The steps of `.ci/run`, one by one. `just` lists them.

default:
    @just --list

# Builds the programs.
build:
    cargo build --release

# Checks format, lints, licences and dependencies.
check:
    cargo fmt --all --check
    cargo clippy --locked --workspace --all-targets -- -D warnings
    cargo deny --locked check licenses bans sources

# Runs all tests that need no further tool.
test:
    cargo test --locked --workspace

# Runs the tests whose names contain a word: `just only outline`.
only NAME:
    cargo test --locked --workspace -- {{NAME}}

# Writes the generated pages, clients and snapshots again.
generate:
    UPDATE_DOCS=1 INSTA_UPDATE=always cargo test --locked --workspace -- docs:: pages:: help text_output human_output

# Builds the documentation of the code.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

# Runs a benchmark: `just bench look`. Without a name, all.
bench *NAME:
    cargo bench --locked --workspace --bench budgets -- {{NAME}}

# Runs the guided tour.
demo: build
    target/release/afctl demo

# Makes the Debian package, the wheel, the npm packages and the tarball.
packages DIR: build
    .ci/deb target/release {{DIR}}
    .ci/packages target/release {{DIR}}

# Runs everything that a change must pass, as on a fresh machine.
ci:
    .ci/run
