"""A git repository with tables of prices as SkyPilot's catalogues have them, made here."""

import os
import subprocess
from pathlib import Path

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n"


class Repository:
    """A git repository with tables of prices, each version committed at the moment it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=master")
        for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
            self.git("config", name, "true")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *words: str, at: str = "2026-01-01T00:00:00+00:00") -> str:
        """Run git here at a moment; return what it prints."""
        person = {
            f"GIT_{who}_{what}": "nobody@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = os.environ | person | {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": "2020-01-01T00:00:00+00:00"}
        done = subprocess.run(["git", "-C", self.folder, *words], env=environment, check=True, capture_output=True)
        return done.stdout.decode()

    def commit(self, at: str, **tables: bytes | str) -> None:
        """Commit tables by folder, such as v8_lambda, at a moment."""
        for name, table in tables.items():
            path = self.folder.joinpath("catalogs", *name.split("_"), "vms.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(table.encode() if isinstance(table, str) else table)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "tables", at=at)


def table(price: object) -> str:
    """Return a table with one machine."""
    return f"{HEADER}gpu_1x_a10,A10,1.0,30.0,200.0,{price},us-east-1,,\n"
