"""Write extract/shapes.json: the fields, columns and headings of the documents that sources were written for.

    python tools/shapes.py

Made of the fixtures in tests/neoclouds: `chipledger check-live` shows how a live document differs from them.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "extract" / "shapes.json"
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def text() -> str:
    """Return the content of the file."""
    from neoclouds.case import cases

    from flows.collect.inspect_document import shape_of

    found = {case.source.name: shape_of(case.body) for case in cases()}
    return json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
