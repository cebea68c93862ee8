# SPDX-License-Identifier: Apache-2.0
"""Debian packages pinned in a lock file: fetched and checked without a change to the host.

The lock names each package's place in Debian's pool, so that a build needs neither package lists
nor a foreign architecture of dpkg. Lists, of the build's own, are needed for a new lock only.
The mirror is the one that the host's apt is set up for.
"""

import hashlib
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gandalf.base.paths import UserError, shown

Log = Callable[[str], None]

APT_HELPER = Path("/usr/lib/apt/apt-helper")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# The release that all packages come from, whatever release the host runs.
RELEASE = "bookworm"
# Seconds between two lines of progress.
PROGRESS_INTERVAL = 5.0


@dataclass(frozen=True)
class Package:
    """One package of the lock; `path` is relative to the root of a mirror."""

    group: str
    name: str
    version: str
    architecture: str
    path: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the package's file in the cache."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Origin:
    """Where a list of packages comes from: its lock in the tree, and the module that writes it."""

    lock: str
    module: str

    @property
    def update(self) -> str:
        """The command that pins the newest packages."""
        return f"build/venv/bin/python -m gandalf.{self.module} update-lock"


GUEST_LINUX = Origin("guest/linux/packages.lock", "guests.linux")


def read_lock(lock: Path) -> list[Package]:
    """Return the packages of a lock file."""
    try:
        table = tomllib.loads(lock.read_text(encoding="utf-8"))
        return [Package(**entry) for entry in table["package"]]
    except FileNotFoundError:
        raise UserError(f"{shown(lock)} is missing: restore it from the repository.") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise UserError(
            f"{shown(lock)} is not a list of packages ({error}): restore it from the repository."
        ) from None


def write_lock(lock: Path, packages: Iterable[Package], heading: str) -> None:
    """Write a lock file that read_lock() reads, below `heading` as a comment."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    for package in packages:
        lines += [
            "",
            "[[package]]",
            f'group = "{package.group}"',
            f'name = "{package.name}"',
            f'version = "{package.version}"',
            f'architecture = "{package.architecture}"',
            f'path = "{package.path}"',
            f"size = {package.size}",
            f'sha256 = "{package.sha256}"',
        ]
    lock.write_text("\n".join(lines) + "\n", encoding="utf-8")


def mirrors() -> list[str]:
    """Return the roots of the Debian repositories that the host's apt knows, best first."""
    if shutil.which("apt-get") is None or not APT_HELPER.exists():
        raise UserError(
            "The guest's packages are fetched with apt, which this machine does not have: "
            "build on Debian 12 or newer."
        )
    listing = subprocess.run(
        ["apt-get", "update", "--print-uris"], capture_output=True, text=True, check=False
    ).stdout
    return parse_mirrors(listing)


def parse_mirrors(listing: str) -> list[str]:
    """Return the Debian repositories among the addresses that `apt-get update` would fetch."""
    roots = []
    for line in listing.splitlines():
        address = line.split(" ", 1)[0].strip("'")
        root, separator, _ = address.partition("/dists/")
        is_debian = root.rstrip("/").rsplit("/", 1)[-1] in ("debian", "debian-security")
        if separator and is_debian and root not in roots:
            roots.append(root)
    if not roots:
        raise UserError(
            "apt on this machine knows no Debian mirror: add one to /etc/apt/sources.list.d and "
            "run the command again."
        )
    return roots


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(
    packages: Iterable[Package], cache: Path, log: Log, origin: Origin = GUEST_LINUX
) -> list[Path]:
    """Return the packages' files in `cache`; what is missing there is downloaded and checked."""
    wanted = list(packages)
    cache.mkdir(parents=True, exist_ok=True)
    missing = [package for package in wanted if not (cache / package.file_name).exists()]
    if missing:
        _download_all(missing, cache, log, origin)
    return [cache / package.file_name for package in wanted]


def _download_all(packages: list[Package], cache: Path, log: Log, origin: Origin) -> None:
    megabytes = sum(package.size for package in packages) / 1e6
    what = packages[0].name if len(packages) == 1 else f"{len(packages)} packages"
    log(f"fetching {what} from Debian ({megabytes:.0f} MB)")
    parts = {package: cache / f"{package.file_name}.part" for package in packages}
    output = ""
    for mirror in mirrors():
        left = {package: part for package, part in parts.items() if not _matches(package, part)}
        if left:
            output += _run_helper(mirror, left, log)
    for package, part in parts.items():
        if not _matches(package, part):
            part.unlink(missing_ok=True)
            raise _download_error(package, output, origin)
        part.rename(cache / package.file_name)


def _matches(package: Package, file: Path) -> bool:
    if not file.exists() or file.stat().st_size != package.size:
        return False
    return file_sha256(file) == package.sha256


def _run_helper(mirror: str, parts: dict[Package, Path], log: Log) -> str:
    """Run apt's downloader for several files, with progress; return what it printed."""
    command = [str(APT_HELPER), "-oAcquire::Retries=2", "download-file"]
    for package, part in parts.items():
        part.unlink(missing_ok=True)
        command += [f"{mirror}/{package.path}", str(part), f"SHA256:{package.sha256}"]
    total = sum(package.size for package in parts)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while True:
        try:
            return process.communicate(timeout=PROGRESS_INTERVAL)[0]
        except subprocess.TimeoutExpired:
            done = sum(part.stat().st_size for part in parts.values() if part.exists())
            log(f"fetched {100 * done // total} %")


def _download_error(package: Package, output: str, origin: Origin) -> UserError:
    """Say in a sentence why a package did not arrive, from what apt printed."""
    name = f"{package.name} {package.version}"
    if "Hash Sum mismatch" in output or "unexpected size" in output:
        return UserError(
            f"What Debian's mirror sent as {name} does not have the pinned checksum: run the "
            f"command again, or update {origin.lock} if it keeps failing."
        )
    if "404" in output:
        return UserError(
            f"Debian's mirror no longer has {name}: run `{origin.update}`, look at the change of "
            f"{origin.lock}, and build again."
        )
    errors = [line for line in output.splitlines() if line.startswith("E: ")]
    reason = errors[0].removeprefix("E: ").strip() if errors else "apt gave no reason"
    return UserError(
        f"{name} could not be fetched ({reason}): check the network connection and free space, "
        "and run the command again."
    )


def unpack(package: Path, target: Path) -> None:
    """Unpack a package's files into a folder, which is created."""
    target.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        ["dpkg-deb", "--extract", str(package), str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise UserError(
            f"{shown(package)} cannot be unpacked ({result.stderr.strip()}): check that the disk "
            "has space, or delete the file and run the command again."
        )


# In the place of an architecture: the list of the sources, of which apt wants an architecture, too.
SOURCE = "source"


class Lists:
    """Package lists of one architecture or the sources', in a folder; for update-lock only."""

    def __init__(
        self, folder: Path, architecture: str, log: Log, origin: Origin = GUEST_LINUX
    ) -> None:
        """Fetch the lists of RELEASE from the first mirror that has them."""
        self._origin = origin
        self._folder = folder / architecture
        (self._folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (self._folder / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        machine = "amd64" if architecture == SOURCE else architecture
        self._options = [
            f"-oAPT::Architecture={machine}",
            f"-oAPT::Architectures={machine}",
            f"-oDir::State::Lists={self._folder / 'lists'}",
            f"-oDir::Cache::archives={self._folder / 'archives'}",
            f"-oDir::Etc::sourcelist={self._folder / 'sources.list'}",
            "-oDir::Etc::sourceparts=-",
            "-oDir::Cache::pkgcache=",
            "-oDir::Cache::srcpkgcache=",
        ]
        log(f"fetching the list of Debian's packages for {architecture}")
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        kind = "deb-src" if architecture == SOURCE else "deb"
        source = f"{kind} {signed}{mirrors()[0]} {RELEASE} main\n"
        (self._folder / "sources.list").write_text(source, encoding="utf-8")
        update = subprocess.run(
            ["apt-get", *self._options, "update"], capture_output=True, text=True, check=False
        )
        if update.returncode != 0:
            raise UserError(
                f"The list of Debian's packages could not be fetched ({update.stderr.strip()}): "
                "check the network connection and run the command again."
            )

    def _fields(self, name: str) -> dict[str, str]:
        """Return what the list says of the newest version of a package."""
        show = subprocess.run(
            ["apt-cache", *self._options, "--no-all-versions", "show", name],
            capture_output=True,
            text=True,
            check=False,
        )
        fields = dict(
            line.split(": ", 1)
            for line in show.stdout.splitlines()
            if ": " in line and not line.startswith(" ")
        )
        if "Filename" not in fields:
            raise UserError(
                f"Debian {RELEASE} has no package {name}: correct the list of packages in "
                f"tools/gandalf/{self._origin.module.replace('.', '/')}.py."
            )
        return fields

    def depends(self, name: str) -> list[str]:
        """Return the names of the packages that the newest version of a package depends on."""
        entries = self._fields(name).get("Depends", "").split(",")
        return [entry.split()[0] for entry in entries if entry.strip()]

    def newest(self, group: str, name: str) -> Package:
        """Return the newest version of a package."""
        fields = self._fields(name)
        return Package(
            group=group,
            name=name,
            version=fields["Version"],
            architecture=fields["Architecture"],
            path=fields["Filename"],
            size=int(fields["Size"]),
            sha256=fields["SHA256"],
        )

    def newest_source(self, group: str, name: str) -> Package:
        """Return the archive of what a package's newest version is made from, of Debian's SOURCE.

        It is what its authors have published; Debian's changes are another archive.
        """
        show = subprocess.run(
            ["apt-cache", *self._options, "showsrc", "--only-source", name],
            capture_output=True,
            text=True,
            check=False,
        )
        return parse_source(group, name, show.stdout)


# In a list of sources, of an archive: its checksum, size and name; elsewhere, a field.
_ARCHIVE = re.compile(
    r"^ (?P<sha256>[0-9a-f]{64}) (?P<size>\d+) (?P<file>\S+\.orig\.tar\.\w+)$", re.M
)
_FIELD = re.compile(r"^(?P<name>Version|Directory): (?P<value>\S+)$", re.M)


def parse_source(group: str, name: str, listing: str) -> Package:
    """Return the archive that a list of sources has of one package."""
    archive = _ARCHIVE.search(listing)
    fields = {field["name"]: field["value"] for field in _FIELD.finditer(listing)}
    if archive is None or set(fields) != {"Version", "Directory"}:
        raise UserError(f"Debian {RELEASE} has no sources of {name}.")
    return Package(
        group=group,
        name=name,
        version=fields["Version"],
        architecture=SOURCE,
        path=f"{fields['Directory']}/{archive['file']}",
        size=int(archive["size"]),
        sha256=archive["sha256"],
    )


def elapsed(start: float) -> str:
    """Return the time since `start` (time.monotonic()) as messages print it."""
    return f"{time.monotonic() - start:.0f} s"
