"""A Prefect server's API over plain HTTP, as far as tests ask it."""

import json
import urllib.request
from typing import Any


def ask(url: str, body: object | None = None) -> Any:
    """Return the answer to a GET, or to a POST where there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)


def newest_artifact(api: str, key: str) -> str:
    """Return the newest Markdown artifact of a key."""
    return str(ask(f"{api}/artifacts/{key}/latest")["data"])


def task_runs(api: str, flow_run_id: str) -> dict[str, Any]:
    """Return the task runs of a flow run by name."""
    found = ask(f"{api}/task_runs/filter", {"flow_runs": {"id": {"any_": [flow_run_id]}}})
    return {each["name"]: each for each in found}
