"""Archives with the same bytes for the same content: sorted, owned by root, dated as the release."""

import gzip
import hashlib
import io
import json
import lzma
import tarfile


class Tree:
    """Files and folders by their paths, from which archives are written."""

    def __init__(self, date):
        self.date = date
        self.entries = {}

    def add(self, path, content, mode=0o644):
        self.entries[path] = (content, mode, 0)

    def folder(self, path, mode=0o755, owner=0):
        self.entries[path] = (None, mode, owner)

    def tar(self, prefix=""):
        """The bytes of a tar in which each folder stands before its content."""
        for path in list(self.entries):
            parts = path.split("/")[:-1]
            for end in range(1, len(parts) + 1):
                self.entries.setdefault("/".join(parts[:end]), (None, 0o755, 0))
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, (content, mode, owner) in sorted(self.entries.items()):
                entry = tarfile.TarInfo(prefix + path)
                entry.mode, entry.uid, entry.gid, entry.mtime = mode, owner, owner, self.date
                entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
                entry.size = len(content or b"")
                tar.addfile(entry, io.BytesIO(content or b""))
        return out.getvalue()


def gzipped(content):
    return gzip.compress(content, 9, mtime=0)


def deb(control, data, date):
    """A Debian package, deb(5): an ar archive of the format's version, the control files and the files."""
    members = [("debian-binary", b"2.0\n")]
    members += [(f"{name}.tar.xz", lzma.compress(tree.tar("./"))) for name, tree in (("control", control), ("data", data))]
    out = b"!<arch>\n"
    for name, content in members:
        out += f"{name:<16}{date:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        out += content + b"\n" * (len(content) % 2)
    return out


def image(layer, architecture, config, created, name):
    """A container image of one layer, as the tar of an OCI image layout,
    https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md."""
    layout = Tree(layer.date)

    def blob(content, media_type, **more):
        digest = hashlib.sha256(content).hexdigest()
        layout.add(f"blobs/sha256/{digest}", content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)} | more

    def document(value):
        return json.dumps(value, sort_keys=True).encode()

    tar = layer.tar()
    diff = f"sha256:{hashlib.sha256(tar).hexdigest()}"
    kind = "application/vnd.oci.image."
    config = blob(
        document(
            {
                "created": created,
                "architecture": architecture,
                "os": "linux",
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": [diff]},
                "history": [{"created": created, "created_by": "release/package.py"}],
            }
        ),
        kind + "config.v1+json",
    )
    layers = [blob(gzipped(tar), kind + "layer.v1.tar+gzip")]
    manifest = {"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "config": config, "layers": layers}
    names = {"org.opencontainers.image.ref.name": name}
    index = [blob(document(manifest), kind + "manifest.v1+json", annotations=names)]
    layout.add("oci-layout", document({"imageLayoutVersion": "1.0.0"}))
    layout.add("index.json", document({"schemaVersion": 2, "manifests": index}))
    return layout.tar()
