"""Every feature at random places of texts that are being typed: answers, and never fails.

An ordinary run asks some thousand times; `LOOP_LS_CALLS=1000000` asks as often as one has time for,
`LOOP_LS_SEED` tries other places, `LOOP_LS_FILES` other files. A failure says all it takes to see it again.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from loop_ls.rules.engine.checker import Checker
from tests.properties.asking import FEATURES, Case, ask
from tests.properties.proofs import PROOFS
from tests.properties.random_edits import edited_at_random, random_position
from tests.properties.samples import Sample, by_format

CALLS = int(os.environ.get("LOOP_LS_CALLS", "4000"))
SEED = int(os.environ.get("LOOP_LS_SEED", "1"))
#: Of all calls; workflows have most of the features.
_SHARES = {"workflow": 0.55, "assistant": 0.15, "role_loop": 0.15, "settings": 0.15}
_EDITS = 12
_PLACES = 3


def typing(sample: Sample, seed: str, counted: Counter[str]) -> None:
    """A text grows and breaks; everything is asked about it, and everything that it offers is tried."""
    rng = random.Random(seed)
    workspace, document = sample.workspace()
    checker = Checker()
    for _ in range(rng.randint(1, _EDITS)):
        try:
            workspace = workspace.with_document(document)
            for _ in range(_PLACES):
                case = Case(
                    workspace, document, checker, random_position(document, rng), random_position(document, rng), rng
                )
                for feature in rng.sample(list(FEATURES), 10):
                    step = feature
                    ask(feature, case)
                    counted[feature] += 1
                proof = rng.choice(PROOFS)
                step = proof.__name__
                counted[step] += proof(case)
            step = "typing"
            document = edited_at_random(document, rng)
            if str(document.text).startswith("\ufeff"):
                return  # one that was typed is no byte order mark
        except Exception as error:
            text = str(document.text)
            pytest.fail(f"{sample.name}, seed {seed!r}: {step} at {case.at}: {error!r}\n{text!r}\n{text}")


@pytest.mark.timeout(max(120, CALLS // 50))
@pytest.mark.parametrize("name", _SHARES)
def test_every_feature_answers_at_every_place_of_every_text(name: str) -> None:
    counted: Counter[str] = Counter()
    wanted, number = CALLS * _SHARES[name], 0
    rng = random.Random(f"{SEED} {name}")
    while counted.total() < wanted:
        number += 1
        typing(rng.choice(by_format()[name]), f"{SEED} {name} {number}", counted)
    assert set(FEATURES) <= set(counted)
    print(f"{name}: {counted.total()} calls, {number} texts, {dict(counted.most_common())}")
