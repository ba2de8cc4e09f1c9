"""The daily page (placeholder until its tables stand)."""

from pathlib import Path


def write(file: Path, folder: Path) -> Path:
    """Write the page of the published file into the folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text("")
    return page
