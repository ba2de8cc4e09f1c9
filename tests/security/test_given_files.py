"""Names and files of others lead nowhere else, and have an end."""

import gzip
import io
import json
import os
import stat
import tarfile
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from packed import packed

from extract.benchmarks import content
from extract.neoclouds import answers
from flows.backup import snapshot
from flows.cli.main import main
from flows.collect import importer
from flows.collect.steps import open_run
from flows.config.settings import Settings
from flows.decisions import audit as auditing
from flows.decisions import hosted as self_hosting
from flows.shared import user_file
from flows.shared.tabular import inside
from reports.weekly.calendar import Week
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import ChipledgerError, LayoutChanged, SettingsError
from warehouse.landing import folder as landing
from warehouse.landing import packs
from warehouse.landing.folder import Landing
from warehouse.reference import claims
from warehouse.reference.table import DATA

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TRAVERSAL = (
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/../../x",
    "a\\..\\x",
    "C:\\x",
    "CON",
    "nul.txt",
    "x\0y",
    "x\ny",
    "x\x1b[2J",
    "x" * 5000,
    "\u202egnp.exe",
    "\u2044etc",
    "%2e%2e%2f",
    "~/.ssh/id",
    "$HOME",
    "file:///etc/passwd",
    "\udc80",
)


def document(word: str) -> Document:
    return Document(source="toy", scope=word, url=word, body=b"body", fetched_at=NOW, version_key=word)


@pytest.mark.parametrize("word", TRAVERSAL, ids=ascii)
def test_no_name_of_a_document_is_a_path(tmp_path: Path, word: str) -> None:
    """Documents lie under their hash alone; scopes and addresses are words in the journal."""
    folder = tmp_path / "landing"
    one = Landing(folder)
    try:
        one.record_fetch(
            ScopeFetch(source=word, scope=word, observed_at=NOW, complete=True, documents=(document(word),)),
            run_id=word, recorded_at=NOW,
        )  # fmt: skip
    except UnicodeEncodeError:
        assert word == "\udc80"
    assert {path.name for path in folder.rglob("*") if path.is_file()} - {"journal.jsonl"} == {
        f"{document('').sha256}.gz"
    }
    assert [path.name for path in tmp_path.iterdir()] == ["landing"]
    assert len(list(one.entries())) == (word != "\udc80")


@pytest.mark.parametrize("word", [*TRAVERSAL, "a" * 63, "A" * 64, "a" * 64 + "\n", "../" + "a" * 61])
def test_a_hash_of_a_foreign_journal_leads_nowhere(tmp_path: Path, word: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"secret"))
    with pytest.raises(ChipledgerError, match="hash of a document"):
        Landing(tmp_path / "etc").body(word)


def test_a_landed_body_and_a_pack_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes that swell beyond all documents are refused before they are unpacked."""
    monkeypatch.setattr(landing, "MAX_BODY_BYTES", 1000)
    monkeypatch.setattr(packs, "MAX_BYTES", 1000)
    one = Landing(tmp_path)
    bomb = Document(source="toy", scope="x", url="x", body=b"\0" * 100_000, fetched_at=NOW)
    sha256 = one.store(bomb)
    with pytest.raises(ChipledgerError, match="does not match its hash"):
        one.body(sha256)
    pack = tmp_path / "x.tar.zst"
    pack.write_bytes(packed({sha256: bomb.body}))
    with pytest.raises(ChipledgerError, match="cannot be read"):
        packs.read(pack)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_a_pack_is_read_and_never_unpacked_to_disk(tmp_path: Path, kind: bytes) -> None:
    """Members of any kind and name: what is no file is no document, and nothing is written."""
    import pyarrow

    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name in ("../out", "/out"):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
    place = tmp_path / "in" / "x.tar.zst"
    place.parent.mkdir()
    place.write_bytes(pyarrow.Codec("zstd").compress(written.getvalue(), asbytes=True))
    assert packs.read(place) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "word", ["../x", "/x", "landing/../x", "landing/a/../../x", "x", "landing", "landing/.", "build.duckdb\n"]
)
def test_a_manifest_names_nothing_else(tmp_path: Path, word: str) -> None:
    text = {"format": 1, "made_at": "x", "version": "x", "log": {}}
    text["files"] = [{"path": word, "size": 1, "sha256": "x"}]
    with pytest.raises(ChipledgerError, match="a name that no backup has"):
        snapshot.Manifest.parse(json.dumps(text).encode(), tmp_path)


def test_a_manifest_as_deep_as_it_gets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChipledgerError, match="manifest cannot be read"):
        snapshot.Manifest.parse(b"[" * 200_000, tmp_path)


def test_a_backup_that_is_a_zip_is_none(tmp_path: Path) -> None:
    for name in ("x.zip", "x.tar.gz"):
        with zipfile.ZipFile(tmp_path / name, "w") as packed:
            packed.writestr("../x", "x")
        with pytest.raises(ChipledgerError):
            snapshot.receive(tmp_path / name, tmp_path / "into")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.tar.gz", "x.zip"]


def test_json_has_a_depth() -> None:
    """Deeper is another layout, not a crash; in prices and in benchmark results."""
    body = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(LayoutChanged, match=r"recursion|too deep"):
        answers.content(body.encode())
    with pytest.raises(LayoutChanged, match=r"recursion|too deep"):
        content.json_runs(body, "x.json")


@pytest.mark.parametrize("name", ["device", "pipe", "folder", "missing", "huge", "denied"])
def test_a_file_that_is_named_has_an_end(tmp_path: Path, name: str) -> None:
    """A device, a pipe, a folder, nothing, one byte too many."""
    file = tmp_path / name
    if name == "device":
        file.symlink_to("/dev/zero")
    elif name == "pipe":
        os.mkfifo(file)
    elif name == "folder":
        file.mkdir()
    elif name == "huge":
        file.write_bytes(b"x" * 11)
    with pytest.raises(ChipledgerError) as refused:
        user_file.read(file, most=10)
    assert refused.value.hint
    (tmp_path / "good").write_bytes(b"x" * 10)
    assert user_file.read(tmp_path / "good", most=10) == b"x" * 10


@pytest.mark.parametrize("length", [2, 12, -9, None], ids=["name alone", "head", "without its end", "swells"])
def test_a_compressed_file_that_is_named_has_an_end(tmp_path: Path, length: int | None) -> None:
    """It is read as what it holds; one that was cut, or swells beyond the limit, is refused and never held whole."""
    file = tmp_path / "answer.json.gz"
    file.write_bytes(gzip.compress(b"x" * 10))
    assert user_file.read(file, most=10) == b"x" * 10
    file.write_bytes(gzip.compress(b"\0" * 1_000_000)[:length])
    with pytest.raises(ChipledgerError, match="has more than 10 bytes" if length is None else "cannot be read: .+"):
        user_file.read(file, most=10 if length is None else 2_000_000)


def test_a_table_that_is_named_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is what is read: a file that is exchanged meanwhile has no say. Line ends are any."""
    claims_csv, hosted_csv = tmp_path / "claims.csv", tmp_path / "hosted.csv"
    claims_csv.write_text((DATA / claims.MODEL.file).read_text(encoding="utf-8"))
    columns = ",".join(self_hosting.Hosted.__dataclass_fields__)
    hosted_csv.write_bytes(f"{columns}\r\na,b,1,2,,2026-11-21,https://x.test\r\n".encode())
    read = user_file.read

    def read_then_gone(file: Path, *, most: int) -> bytes:
        body = read(file, most=most)
        file.unlink()
        return body

    monkeypatch.setattr(user_file, "read", read_then_gone)

    assert auditing.read(claims_csv, None) == list(claims.shipped())
    assert [one.url for one in self_hosting.read(hosted_csv, None, price=None, model=None)[0]] == ["https://x.test"]


@pytest.mark.parametrize("name", ["a\nb.csv", "a\x1b[2J.csv", "a\udc80.csv", "x" * 201 + ".csv", "\u202ecsv.exe"])
def test_an_import_has_a_name_that_can_be_told(tmp_path: Path, name: str) -> None:
    """Nothing of it lands."""
    file = tmp_path / name
    file.write_text("x")
    with (
        open_run(Settings(data_dir=tmp_path / "data")) as one,
        pytest.raises(ChipledgerError, match="the name is too long or not printable"),
    ):
        importer.land(one, importer.landed(file, one.clock()))
    assert not (tmp_path / "data/landing/journal.jsonl").exists()


@pytest.mark.timeout(5)
@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
@pytest.mark.parametrize("command", [("import",), ("parse", "--source", "runpod"), ("benchmark", "add")], ids=str)
def test_commands_take_no_device(tmp_path: Path, command: tuple[str, ...], name: str) -> None:
    """/dev/zero is not read for ever, and nobody waits for a pipe that nothing writes to."""
    os.mkfifo(tmp_path / "pipe")
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path), *command, str(tmp_path / name)])
    assert result.exit_code in (1, 2)
    assert "not a regular file" in result.output


@pytest.mark.parametrize("word", [*TRAVERSAL, "2025-W26/../x", "2025-W26\n", "\u0662025-W26", "2025-W99"], ids=ascii)
def test_a_week_is_a_week(word: str) -> None:
    """Names of pages and mails are made of it."""
    with pytest.raises(SettingsError):
        Week.parse(word)


@pytest.mark.parametrize("word", ["../x", "/x", "..", "a/../../x", "link/x"])
def test_an_export_stays_in_its_folder(tmp_path: Path, word: str) -> None:
    """A name, or a link that is there, leads nowhere else."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(ChipledgerError, match="outside of the folder"):
        inside(folder, word)


def test_private_files_are_private_from_the_first_byte(tmp_path: Path) -> None:
    """What a backup holds is its owner's alone."""
    target = tmp_path / "b.tar.gz"
    snapshot.write(target, snapshot.Manifest(made_at="x", version="x", items=(), log={}), {})
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert zlib.decompress(target.read_bytes(), 31)
