"""Write the tables of all settings into docs/settings.md, from the model that reads them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "settings.md"
START, END = "<!-- made by tools/settings_page.py -->", "<!-- end -->"


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    from flows.config import show

    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{show.reference()}\n\n{END}{after}"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    DOCUMENT.write_text(page(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
