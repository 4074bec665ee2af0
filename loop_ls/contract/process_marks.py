"""Variables in the environment of what a loop starts, by which our own commands know who calls them."""

from __future__ import annotations

from typing import Final

#: Set for commands and programs of a stage: they start no loops.
IN_A_STAGE: Final = "LOOP_LS_STAGE"
#: Set for every agent program that a loop starts: what a person decides, it does not.
IN_AN_AGENT: Final = "LOOP_LS_AGENT"
#: What an agent hears that wants to decide what is its user's.
NOT_FOR_AGENTS: Final = "An agent of a loop cannot decide this; ask your user to do it."
