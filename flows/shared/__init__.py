"""What every room of flows uses: queries, redaction, output, files, and the types of what it passes on."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Returns the present moment, aware."""
Progress = Callable[[str], None]
"""Shows what is going on."""
