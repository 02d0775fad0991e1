#!/usr/bin/env python3
"""Packs built binaries: for each a tar, a Debian package, a container image and a list of dependencies, with the sums of all.

release/package.py FOLDER BINARY...: each BINARY as release/build leaves it, .../TARGET/release/lastmile; the first one has to run on this
machine, since it prints the manual page and the completions. RELEASE_URL is where the files will be: no other host is named.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

from archive import Tree, deb, gzipped, image
from dependencies import Dependencies

ROOT = Path(__file__).resolve().parent.parent
URL = os.environ.get("RELEASE_URL") or "https://lastmile.example"
# Architectures: as the kernel, Debian and container images call them.
ARCHITECTURES = {"x86_64": ("amd64", "amd64"), "aarch64": ("arm64", "arm64")}
NOBODY = 65534
SUMMARY = "what a delivery choice costs on the link your users really have"
DESCRIPTION = """\
 lastmile replays traffic of yours over simulated links, under every setting
 of compression worth trying, and recommends the ones to use. It also puts
 commands behind links, loads servers, reads captures, and keeps events.
"""


def main(folder, binaries):
    def output(*words):
        return subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout

    date = int(output("release/date"))
    created = datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    rustc = output("rustc", "--version").decode().split()[1]
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"man/lastmile.1": output(binaries[0], "man")}
    shells = {"bash": "lastmile.bash", "zsh": "_lastmile", "fish": "lastmile.fish"}
    texts |= {f"completions/{name}": output(binaries[0], "completions", shell) for shell, name in shells.items()}
    texts |= {f"systemd/{file.name}": file.read_bytes() for file in (ROOT / "release/files").glob("*.service")}
    installer = (ROOT / "release/install.sh").read_text().replace("https://lastmile.example", URL)
    files = {"install.sh": installer.encode()}
    for binary in binaries:
        target = Path(binary).parts[-3]
        machine = target.split("-")[0]
        dependencies = Dependencies(ROOT, target, os.environ)
        docs = {name: (ROOT / name).read_bytes() for name in ("README.md", "LICENSE-MIT", "LICENSE-APACHE")}
        docs["THIRD-PARTY-LICENSES.txt"] = dependencies.notices(musl_licence()).encode()
        name = f"lastmile-{version}-{machine}-linux"
        program = Path(binary).read_bytes()
        files |= {
            f"{name}.tar.gz": archive(date, program, docs | texts, name),
            f"lastmile_{version}_{ARCHITECTURES[machine][0]}.deb": debian(date, program, docs, texts, version, machine),
            f"{name}.oci.tar": container(date, created, program, docs, version, machine),
            f"{name}.cdx.json": (json.dumps(dependencies.software_bill(created, rustc), indent=1) + "\n").encode(),
        }
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    files["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
        print(f"{len(content) / 1e6:7.1f} MB  {folder / name}")
    (folder / "install.sh").chmod(0o755)


def archive(date, program, files, name):
    tree = Tree(date)
    tree.add(f"{name}/lastmile", program, 0o755)
    for path, content in files.items():
        tree.add(f"{name}/{path}", content)
    return gzipped(tree.tar())


def debian(date, program, docs, texts, version, machine):
    """The package of Debian's policy, without maintainer scripts: the monitor is started by those who want one."""
    when = datetime.fromtimestamp(date, timezone.utc)
    maintainer = f"The lastmile developers <lastmile@{urlsplit(URL).hostname}>"
    change = f"lastmile ({version}) unstable; urgency=medium\n\n  * See the release.\n\n -- {maintainer}  {when:%a, %d %b %Y %H:%M:%S +0000}\n"
    copyright_file = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
        f"Files: *\nCopyright: {when:%Y} The lastmile developers\nLicense: Expat or Apache-2.0\n"
        f"{indented(docs['LICENSE-MIT'])}"
        " .\n On Debian systems, the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0;\n"
        " the licences of the parts by others are in THIRD-PARTY-LICENSES.txt.gz beside this file.\n"
    )
    data = Tree(date)
    shared = "usr/share"
    data.add("usr/bin/lastmile", program, 0o755)
    data.add(f"{shared}/doc/lastmile/copyright", copyright_file.encode())
    data.add(f"{shared}/doc/lastmile/changelog.gz", gzipped(change.encode()))
    data.add(f"{shared}/doc/lastmile/README.md.gz", gzipped(docs["README.md"]))
    data.add(f"{shared}/doc/lastmile/THIRD-PARTY-LICENSES.txt.gz", gzipped(docs["THIRD-PARTY-LICENSES.txt"]))
    data.add(f"{shared}/man/man1/lastmile.1.gz", gzipped(texts["man/lastmile.1"]))
    data.add(f"{shared}/bash-completion/completions/lastmile", texts["completions/lastmile.bash"])
    data.add(f"{shared}/zsh/vendor-completions/_lastmile", texts["completions/_lastmile"])
    data.add(f"{shared}/fish/vendor_completions.d/lastmile.fish", texts["completions/lastmile.fish"])
    for path, content in texts.items():
        if path.startswith("systemd/"):
            data.add(f"lib/{path.replace('systemd/', 'systemd/system/')}", content)
    overrides = (
        "# One binary for every distribution, and for images without a C library.\nlastmile: statically-linked-binary\n"
    )
    data.add(f"{shared}/lintian/overrides/lastmile", overrides.encode())
    size = sum(len(content) for content, _, _ in data.entries.values() if content) // 1024
    control = Tree(date)
    control.add(
        "control",
        f"Package: lastmile\nVersion: {version}\nArchitecture: {ARCHITECTURES[machine][0]}\nMaintainer: {maintainer}\n"
        f"Installed-Size: {size}\nSection: net\nPriority: optional\nHomepage: {URL}\n"
        f"Description: {SUMMARY}\n{DESCRIPTION}".encode(),
    )
    data_sums = (
        f"{hashlib.md5(content).hexdigest()}  {path}\n" for path, (content, _, _) in sorted(data.entries.items())
    )
    control.add("md5sums", "".join(data_sums).encode())
    return deb(control, data, date)


def indented(text):
    lines = text.decode().strip().splitlines()
    return "".join(f" {line or '.'}\n" for line in lines)


def container(date, created, program, docs, version, machine):
    """An image without a distribution. Reports are written to /work, which a volume may take the place of."""
    layer = Tree(date)
    layer.add("usr/bin/lastmile", program, 0o755)
    for name, content in docs.items():
        layer.add(f"usr/share/doc/lastmile/{name}", content)
    layer.folder("tmp", 0o1777)
    layer.folder("work", owner=NOBODY)
    config = {
        "User": f"{NOBODY}:{NOBODY}",
        "Env": ["PATH=/usr/bin"],
        "Entrypoint": ["/usr/bin/lastmile"],
        "Cmd": ["--help"],
        "WorkingDir": "/work",
        "Labels": {
            "org.opencontainers.image.title": "lastmile",
            "org.opencontainers.image.description": SUMMARY,
            "org.opencontainers.image.version": version,
            "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            "org.opencontainers.image.url": URL,
        },
    }
    return image(layer, ARCHITECTURES[machine][1], config, created, f"lastmile:{version}")


def musl_licence():
    """The licence of the C library, as zig's wheel has it."""
    tools = Path(os.environ.get("RELEASE_TOOLS") or ROOT / "target/release-tools")
    return next(tools.glob("zig/lib/python*/site-packages/ziglang/lib/libc/musl/COPYRIGHT"), tools / "none")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
