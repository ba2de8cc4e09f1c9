"""One question that would never end, beside twenty others of other clients: it delays none of them."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest
from cost_file import P5
from mcp import Client
from mcp_file import published_now
from own_postgres import free_port

from flows.read_api import server
from flows.shared.child import Child, Pool
from warehouse.errors import ChipledgerError

HOSTILE = {
    "that cannot be interrupted": "select levenshtein(repeat('a', 300000), repeat('b', 300000))",
    "that is stopped in time": "select sum(hash(i)) from range(1000000000000) as r(i)",
}
OTHERS: dict[str, dict[str, object]] = {
    "latest_price": {"instance_type": P5}, "cheapest": {"chip": "H100 SXM"},
    "query": {"sql": "from core.sku_price limit 5"}, "cost_per_token": {"model": "llama-2-70b"},
}  # fmt: skip
N = 20
COMMAND = ("-c", "from flows.cli.main import main; main()", "--data-dir")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published_now(tmp_path_factory)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a data directory over HTTP, and give the address."""
    port = free_port()
    command = [sys.executable, *COMMAND, str(folder), "mcp", "--http", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


async def slowest(client: Client | server.ReadApi, tool: str, *, together: bool, n: int) -> float:
    """Return the seconds of the slowest of n answers, put one after the other or all together: more than their p99."""
    found: list[float] = []

    async def ask() -> None:
        began = time.perf_counter()
        answer: Any = await client.call_tool(tool, OTHERS[tool])
        assert not answer.is_error, answer.structured_content
        found.append(time.perf_counter() - began)

    if together:
        async with anyio.create_task_group() as group:
            for _ in range(n):
                group.start_soon(ask)
    else:
        for _ in range(n):
            await ask()
    return max(found)


async def beside(
    client: Client | server.ReadApi, other: Client | server.ReadApi, tool: str, sql: str, *, together: bool, n: int = N
) -> tuple[float, float]:
    """Return the slowest answer alone, and beside a hostile question of another client, which is open all the time."""
    await slowest(client, tool, together=together, n=n)  # the first questions wait for processes to start
    alone = await slowest(client, tool, together=together, n=n)
    ended: list[object] = []

    async def hostile() -> None:
        ended.append(await other.call_tool("query", {"sql": sql, "seconds": 30}))

    async with anyio.create_task_group() as group:
        group.start_soon(hostile)
        await anyio.sleep(0.3)
        found = await slowest(client, tool, together=together, n=n)
        if not together:
            assert ended == []
        group.cancel_scope.cancel()
    return alone, found


def test_a_question_without_an_end_delays_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four others take at most ten times as long as alone, all before it ends; it is ended where it is cancelled.

    `make prove` puts twenty over HTTP, of each tool, one after the other and together.
    """
    monkeypatch.setattr(Pool, "warm", lambda pool: None)  # nobody asks the processes in reserve
    sql = HOSTILE["that cannot be interrupted"]
    with closing(server.ReadApi(lambda: folder / "prices.duckdb", lambda: datetime.now(UTC))) as api:
        alone, found = anyio.run(partial(beside, api, api, "latest_price", sql, together=False, n=4))
        end = time.monotonic() + 5
        while api.pools[True]._busy and time.monotonic() < end:
            time.sleep(0.05)
        assert api.pools[True]._busy == []
    assert found <= 10 * alone, (alone, found)


def test_a_queue_has_an_end() -> None:
    """Of one process and one that may wait, the third question is refused in words; the second is answered."""
    pool = Pool(server.ADDRESS_SPACE_BYTES, "time", size=1, waiting=1)
    slept: list[object] = []
    waits = Thread(target=lambda: slept.append(pool.ask("time:monotonic", seconds=5)))
    child = Child(server.ADDRESS_SPACE_BYTES, "time")
    pool._busy.append(child)  # as if it answered
    waits.start()
    while pool._n_waiting < 1:
        time.sleep(0.01)
    with pytest.raises(ChipledgerError, match="too many questions: 1 are being answered and 1 wait"):
        pool.ask("time:monotonic", seconds=5)
    with pool._ready:
        pool._busy.remove(child)
        pool._ready.notify()
    waits.join()
    pool.close()
    assert len(slept) == 1


@pytest.mark.prove
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
@pytest.mark.parametrize("tool", OTHERS)
@pytest.mark.parametrize("sql", HOSTILE.values(), ids=HOSTILE)
def test_over_http_other_clients_are_not_delayed(folder: Path, tool: str, sql: str, *, together: bool) -> None:
    """Each tool, asked one after the other and all together, by another client than that of the hostile question."""

    async def main(address: str) -> tuple[float, float]:
        async with Client(address) as client, Client(address) as other:
            return await beside(client, other, tool, sql, together=together)

    with served(folder) as address:
        alone, found = anyio.run(main, address)
    sys.stdout.write(f"{tool}: alone {alone:.3f} s, beside {found:.3f} s\n")
    assert found <= 10 * alone, (alone, found)
