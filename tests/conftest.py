"""For all tests: programs that they start hear Ctrl-C, as those of a person at a terminal do, and what is kept
from edit to edit is compared with what it was derived from."""

import gc
import signal
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from loop_ls.text.invariant import check_invariants

check_invariants(True)

# Whoever runs them twice sees the same: `--hypothesis-profile=default` looks elsewhere each time.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

# A shell that starts something in the background has it ignore Ctrl-C, and so all that it starts in turn.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Tests of these folders need no server process, database or network: `pytest -m quick` runs them in a minute.
QUICK = (
    *("architecture", "contract", "features", "formats", "index", "report", "rules", "syntax", "text"),
    *("engine/context", "engine/core", "engine/events", "engine/projections", "engine/workflow"),
)
_TESTS = Path(__file__).resolve().parent
#: Among those, what starts programs, looks through all of the code or tries hundreds of variations.
_NOT_QUICK = frozenset(
    {
        *("test_ci_script.py", "test_rows.py", "test_schemas.py", "test_hostile_input.py", "test_found_before.py"),
        *("test_circles.py", "test_unused.py", "test_format_literals.py", "test_effects.py"),
        *("test_no_new_findings.py", "test_variations.py", "test_prefilter.py", "test_incremental.py"),
        *("test_cut_equals_whole.py", "test_fast_path.py", "test_convert_lost.py", "test_edits.py"),
    }
)
#: Of the features only: runs of workflows have a file of that name as well.
_LONG_FEATURES = "features/test_targets.py"


@cache
def is_quick(path: Path) -> bool:
    path = path.resolve()
    if not path.is_relative_to(_TESTS):
        return False
    inside = path.relative_to(_TESTS).as_posix()
    if path.name in _NOT_QUICK or inside == _LONG_FEATURES:
        return False
    return inside.startswith(tuple(f"{folder}/" for folder in QUICK))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files outside of the ring are not even read: collecting all tests takes longer than the quick ones."""
    if config.getoption("markexpr") != "quick" or collection_path.suffix != ".py":
        return None
    return None if collection_path.name == "conftest.py" or is_quick(collection_path) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_quick(item.path):
            item.add_marker(pytest.mark.quick)
    if not config.getoption("markexpr"):
        _leave_out_long(config, items)
    items.sort(key=lambda item: item.path.name not in _LARGE)  # else one of them would go on alone at the end


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Long bytes name nothing, and where a time is packed in them, each worker collects another test."""
    return argname if isinstance(val, bytes) and len(val) > 40 else None


def pytest_collection_finish() -> None:
    """What was collected stays until the end: no search for garbage goes through ten thousand tests again."""
    gc.collect()
    gc.freeze()


def _leave_out_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Unless their file is named on the command line."""
    named = {Path(config.invocation_params.dir, arg.partition("::")[0]).resolve() for arg in config.args}
    left_out = [item for item in items if item.get_closest_marker("long") and item.path not in named]
    if left_out:
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)


#: Files with few tests that take their time.
_LARGE = frozenset(
    {
        *("test_soak.py", "test_targets.py", "test_rows.py", "test_adversarial_planner.py", "test_fleet.py"),
        *("test_namespaces.py", "test_trouble.py", "test_sharing.py", "test_edits_equal_fresh.py", "test_anywhere.py"),
        *("test_matrix.py", "test_enhance_trust.py", "test_hostile_folder.py", "test_engine.py", "test_ci_script.py"),
        *("test_enhance_commands.py", "test_engine_connection.py", "test_lists_of_runs.py", "test_editors.py"),
    }
)
