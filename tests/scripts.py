"""Scripts of tools/ and bench/, which are no packages, as modules."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def script(path: str) -> ModuleType:
    """Return a script by its path in the checkout, such as bench/soak.py, loaded once and known by its name."""
    name = Path(path).stem
    if name not in sys.modules:
        spec = spec_from_file_location(name, Path(__file__).parent.parent / path)
        assert spec
        assert spec.loader
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
