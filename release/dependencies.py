"""What is linked into the binary: its list as CycloneDX, and the licences of other people's code."""

import json
import re
import subprocess
import uuid
from pathlib import Path

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
# Parts of bundled C libraries that are not compiled; zstd and lz4 have the GPL for these alone.
NOT_LINKED = {"programs", "contrib", "examples", "tests", "zlib-ng"}


class Dependencies:
    """The packages of one target, as cargo resolves its normal dependencies; procedural macros and build scripts are not linked."""

    def __init__(self, root, target, environment):
        def cargo(*words):
            return subprocess.run(
                ["cargo", *words], cwd=root, env=environment, check=True, capture_output=True, text=True
            ).stdout

        metadata = json.loads(cargo("metadata", "--locked", "--format-version=1", f"--filter-platform={target}"))
        tree = cargo(
            "tree", "--locked", "--package=lastmile", "--edges=normal,no-proc-macro", f"--target={target}",
            "--prefix=none", "--format={p}",
        )  # fmt: skip
        linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
        of_id = {package["id"]: package for package in metadata["packages"]}
        chosen = [package for package in of_id.values() if (package["name"], "v" + package["version"]) in linked]
        self.packages = sorted(chosen, key=lambda package: (package["name"], package["version"]))
        self.edges = {
            reference(of_id[node["id"]]): [reference(of_id[known]) for known in node["dependencies"]]
            for node in metadata["resolve"]["nodes"]
        }
        lock = (root / "Cargo.lock").read_text()
        self.checksums = {
            (name, version): checksum
            for name, version, checksum in re.findall(
                r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', lock
            )
        }
        self.root = root

    def software_bill(self, created, rustc):
        """CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/."""
        components = [self.component(package) for package in self.packages]
        ours = next(component for component in components if component["name"] == "lastmile")
        references = {component["bom-ref"] for component in components}
        return {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(components)).urn,
            "version": 1,
            "metadata": {
                "timestamp": created,
                "tools": {"components": [{"type": "application", "name": "rustc", "version": rustc}]},
                "component": ours | {"type": "application"},
            },
            "components": [component for component in components if component is not ours],
            "dependencies": [
                {"ref": name, "dependsOn": sorted(references.intersection(self.edges[name]))}
                for name in sorted(references)
            ],
        }

    def component(self, package):
        checksum = self.checksums.get((package["name"], package["version"]))
        component = {
            "type": "library",
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "licenses": [{"expression": expression(package)}],
        }
        if checksum:
            component |= {"purl": reference(package), "hashes": [{"alg": "SHA-256", "content": checksum}]}
        return component

    def notices(self, musl):
        """The licences, each text once, with the packages that it is for. A package without a file of its own is under the text of another
        of the same repository, or, where it may be, under our copy of the Apache licence."""
        others = [package for package in self.packages if package["source"]]
        repositories = {}
        for package in others:
            repositories.setdefault(package["repository"], []).extend(texts(package))
        apache = (self.root / "LICENSE-APACHE").read_text()
        users = {}
        for package in others:
            own = texts(package) or repositories[package["repository"]]
            if not own and "Apache-2.0" in expression(package):
                own = [apache]
            if not own and not {"0BSD", "CC0-1.0"}.intersection(expression(package).split()):
                raise SystemExit(f"release: {package['name']} has no text of its licence, {expression(package)}")
            for text in own:
                users.setdefault(text.strip() + "\n", []).append(f"{package['name']} {package['version']}")
        users.setdefault(apache.strip() + "\n", []).append("Rust's standard library")
        if musl.exists():
            users.setdefault(musl.read_text().strip() + "\n", []).append("musl, the C library")
        lines = ["lastmile contains these packages of others, under these licences:\n"]
        lines += [f"{package['name']} {package['version']}: {expression(package)}" for package in others]
        lines += ["Rust's standard library: MIT OR Apache-2.0", "musl, the C library: MIT\n"]
        for text, names in sorted(users.items(), key=lambda item: item[1]):
            lines += ["-" * 78, ", ".join(sorted(set(names))), "-" * 78, text]
        return "\n".join(lines)


def reference(package):
    """The package's URL, https://github.com/package-url/purl-spec; our own crates are in no registry."""
    prefix = "pkg:cargo/" if package["source"] else ""
    return f"{prefix}{package['name']}@{package['version']}"


def expression(package):
    return (package["license"] or "").replace("/", " OR ")


def texts(package):
    folder = Path(package["manifest_path"]).parent
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and LICENCE_FILE.match(file.name))
    linked = [file for file in files if not NOT_LINKED.intersection(file.relative_to(folder).parts)]
    # COPYING beside LICENSE is the GPL, the other choice.
    beside = {file.parent for file in linked if file.name == "LICENSE"}
    chosen = [file for file in linked if not (file.name == "COPYING" and file.parent in beside)]
    return [file.read_text(errors="replace") for file in chosen if file.suffix != ".rs"]
