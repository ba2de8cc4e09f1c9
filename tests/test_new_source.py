"""A made-up provider is added by `chipledger new-source` in a copy of the checkout, and holds the rules of all."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>North GPU</title></head><body><h1>North GPU</h1><h2>On-demand GPUs</h2>
<table><tr><th>GPU</th><th>VRAM</th><th>vCPUs</th><th>Price per GPU</th></tr>
<tr><td>NVIDIA H100 SXM</td><td>80 GB</td><td>26</td><td>$2.49/hr</td></tr>
<tr><td>NVIDIA H200 SXM</td><td>141 GB</td><td>26</td><td>$3.19/hr</td></tr>
<tr><td>NVIDIA B200 SXM</td><td>180 GB</td><td>32</td><td>Contact sales</td></tr></table>
<h2>Questions</h2><p>Prices are before tax.</p></body></html>
"""
MACHINES = [
    {"id": "n1", "gpu_model": "H100 SXM5 80GB", "gpu_count": 8, "region": "oslo-1", "price_per_hour": "19.92"},
    {"id": "n2", "gpu_model": "L40S 48GB", "gpu_count": 1, "region": "bergen-1", "price_per_hour": "0.99"},
]
ANSWER = json.dumps({"total": len(MACHINES), "data": {"machines": MACHINES}}, indent=1)
SITE = ("--url", "https://northgpu.example/pricing", "--terms", "https://northgpu.example/terms")
EACH = """
import json, sys
from flows.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        main(["new-source", *words])
    except SystemExit as ended:
        print("exit code", ended.code or 0)
if sys.argv[2:]:
    import pytest
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/extract/test_neoclouds.py", "-k", sys.argv[2]]))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what the command and the tests of sources need of this checkout, with two answers in it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("extract", "flows", "reports", "transform", "warehouse", "tools", "tests/neoclouds", "tests/standin"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("pyproject.toml", "tests/conftest.py", "tests/extract/test_neoclouds.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for file in (ROOT / "tests").glob("*.py"):
        shutil.copy(file, folder / "tests")
    (folder / "page.html").write_text(PAGE)
    (folder / "answer.json").write_text(ANSWER)
    return folder


def python(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, with the copy's own packages."""
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=environment, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


def new_source(checkout: Path, *each: tuple[str, ...], rules_of: str = "") -> tuple[list[int], str, str]:
    """Call the command with each of these words, then rules, in one process; return exit codes and what was said."""
    done = python(checkout, "-c", EACH, json.dumps(each), *([rules_of] if rules_of else []))
    assert done.returncode == 0, done.stderr + done.stdout
    codes = re.findall(r"^exit code (\d+)\n", done.stdout, flags=re.MULTILINE)
    return [int(code) for code in codes], done.stdout, done.stderr


def expected(checkout: Path, name: str) -> list[tuple[str, ...]]:
    rows = json.loads((checkout / f"tests/neoclouds/fixtures/{name}.expected.json").read_text())
    columns = ("accelerator_label", "accelerator_count", "purchase_option", "pricing_currency", "unit_price")
    return [tuple(row[column] for column in columns) for row in rows]


def test_what_is_added_holds_the_rules(checkout: Path) -> None:
    """A table's source and an answer's; the answer's refuses until what it does not say has a value."""
    codes, said, errors = new_source(
        checkout,
        ("northgpu", "page.html", "--provider", "North GPU", *SITE),
        ("northgpu", "page.html"),
        ("northapi", "answer.json", "--provider", "North API", *SITE),
        ("northapi", "--rows"),
    )
    assert codes == [0, 2, 0, 1], errors
    assert "exists already" in errors
    assert "field UNIT" in errors
    of_page, of_answer = re.split("exit code 2", said)
    assert len(re.findall("^wrote ", of_page, flags=re.MULTILINE)) == 5
    assert expected(checkout, "northgpu") == [
        ("NVIDIA H100 SXM 80 GB", "1", "on_demand", "USD", "2.49"),
        ("NVIDIA H200 SXM 141 GB", "1", "on_demand", "USD", "3.19"),
    ]
    assert '\nnorthgpu\nnorthapi\n"""\n' in (checkout / "extract/neoclouds/__init__.py").read_text()
    assert re.findall(r"^TODO (\w+):", of_answer, flags=re.MULTILINE) == ["UNIT", "OPTION", "CURRENCY"]
    assert not (checkout / "tests/neoclouds/fixtures/northapi.expected.json").exists()
    the_answer_is_read_with_what_it_does_not_say(checkout)
    ruff = python(checkout, "-m", "ruff", "check", "extract/neoclouds", "tests/neoclouds/cases")
    assert ruff.returncode == 0, ruff.stdout


def the_answer_is_read_with_what_it_does_not_say(checkout: Path) -> None:
    """Currency, unit and option are questions of the module; then it, and the page's, hold the rules of all sources."""
    module = checkout / "extract/neoclouds/northapi.py"
    for field, value in (("UNIT", "machine-hour"), ("OPTION", "on_demand"), ("CURRENCY", "USD")):
        text, count = re.subn(
            rf"^{field} = todo\(.*?\)$", f'{field} = "{value}"', module.read_text(), flags=re.M | re.S
        )
        assert count == 1
        module.write_text(text)
    codes, said, errors = new_source(checkout, ("northapi", "--rows"), rules_of="northgpu or northapi or every_source")
    assert codes == [0], errors
    assert re.search(r"^\d\d passed", said, flags=re.MULTILINE), said
    assert expected(checkout, "northapi") == [
        ("H100 SXM5 80GB", "8", "on_demand", "USD", "19.92"),
        ("L40S 48GB", "1", "on_demand", "USD", "0.99"),
    ]


def test_what_cannot_be_read_writes_no_source_and_no_code(checkout: Path) -> None:
    """An answer without prices writes nothing; a field whose name would end a text of the module is not read."""
    before = (checkout / "extract/neoclouds/__init__.py").read_text()
    for name, answer in (("object", '{"gpus": []}'), ("page", "<p>No table</p>"), ("text", "no answer")):
        (checkout / f"{name}.txt").write_text(answer)
    name = 'gpu_model"); import os; ("'
    (checkout / "evil.json").write_text(json.dumps([{name: "H100", "gpu": '"""', "usd_per_gpu_hour": 2.5}]))
    codes, _, errors = new_source(
        checkout,
        *(("southgpu", f"{name}.txt") for name in ("object", "page", "text")),
        ("evilgpu", "evil.json", *SITE),
    )
    assert codes == [2, 2, 2, 0], errors
    assert len(re.findall("found no|neither JSON nor HTML", errors)) == 3
    registry = (checkout / "extract/neoclouds/__init__.py").read_text()
    assert registry.replace("evilgpu\n", "") == before
    assert not (checkout / "extract/neoclouds/southgpu.py").exists()
    assert "import os" not in (checkout / "extract/neoclouds/evilgpu.py").read_text()


def test_it_works_in_a_checkout_only(checkout: Path) -> None:
    (checkout / "tools/new_source.py").rename(checkout / "tools/away.py")
    try:
        codes, _, errors = new_source(checkout, ("westgpu", "page.html"))
    finally:
        (checkout / "tools/away.py").rename(checkout / "tools/new_source.py")
    assert codes == [2]
    assert "in a checkout only" in errors
