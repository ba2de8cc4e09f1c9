"""A process whose child runs flows as they are named to it, a line each, and says how each ended.

Its daily runs write no pages and the marts of the mail alone, and make no pauses between requests. A child that is
killed is followed by another one, which need not import all again. Nothing is computed before the fork, as threads do
not survive one.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[1]
KILLED = "KILLED"


def main() -> None:
    """Let children run the flow of each line of stdin; print its state and message, or that the child was killed."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, str(ROOT))

    import pytest
    from few_marts import OF_WEEK, published_with
    from one_thread import narrow
    from prefect.flows import load_flow_from_entrypoint

    from extract.web.polite import PAUSES_S

    with ExitStack() as held:
        held.enter_context(narrow())
        held.enter_context(published_with("drift", "front_chip", "front_move", *OF_WEEK))
        patch = held.enter_context(pytest.MonkeyPatch.context())
        patch.setitem(PAUSES_S, "127.0.0.1", 0.0)
        for name in ("daily", "weekly"):
            load_flow_from_entrypoint(f"flows/{name}.py:{name}")
        while child := os.fork():
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) >= 0:
                return
            answers.write(f"{KILLED}\n")
            answers.flush()
        for line in sys.stdin:
            name = line.strip()
            state = load_flow_from_entrypoint(f"flows/{name}.py:{name}")(return_state=True)
            answers.write(f"{state.type.value}: {str(state.message).replace(chr(10), ' ')}\n")
            answers.flush()


if __name__ == "__main__":
    main()
