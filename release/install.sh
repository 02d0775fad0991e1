#!/bin/sh
# Installs lastmile for the user who runs this, without root: downloads the tar for this machine, checks it against SHA256SUMS, and puts
# the program, its manual page and its completions under PREFIX, ~/.local unless it is set.
#   sh install.sh [URL]    URL is the folder with the release's files; LASTMILE_URL does the same
set -eu

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null; then
        curl -fsSL "$1" -o "$2"
    elif command -v wget >/dev/null; then
        wget -q "$1" -O "$2"
    else
        fail "neither curl nor wget is here to download with"
    fi || fail "$1 cannot be downloaded"
}

main() {
    url=${1:-${LASTMILE_URL:-https://lastmile.example}}
    prefix=${PREFIX:-$HOME/.local}
    [ "$(uname -s)" = Linux ] || fail "the release is for Linux; build lastmile from its sources here"
    case $(uname -m) in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no release for $(uname -m); build lastmile from its sources here" ;;
    esac
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cd "$folder"

    fetch "$url/SHA256SUMS" SHA256SUMS
    sum=$(grep -E "^[0-9a-f]{64}  lastmile-[^ /]*-$machine-linux\.tar\.gz\$" SHA256SUMS) || fail "$url has no release for $machine"
    archive=${sum##* }
    fetch "$url/$archive" "$archive"
    echo "$sum" | sha256sum -c - >/dev/null 2>&1 || fail "$archive is not what SHA256SUMS says; nothing was installed"
    tar -xzf "$archive"
    cd "${archive%.tar.gz}"

    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
    # A program that runs cannot be written over, but another can take its name.
    cp lastmile "$prefix/bin/.lastmile.new"
    mv "$prefix/bin/.lastmile.new" "$prefix/bin/lastmile"
    cp man/lastmile.1 "$prefix/share/man/man1/"
    cp completions/lastmile.bash "$prefix/share/bash-completion/completions/lastmile"
    cp completions/_lastmile "$prefix/share/zsh/site-functions/"
    cp completions/lastmile.fish "$prefix/share/fish/vendor_completions.d/"

    echo "installed: $prefix/bin/lastmile, $("$prefix/bin/lastmile" --version)"
    case :$PATH: in
        *:"$prefix/bin":*) echo "next: lastmile demo" ;;
        *) echo "next: PATH=$prefix/bin:\$PATH; lastmile demo" ;;
    esac
}

# Nothing runs before the whole script has arrived.
main "$@"
