"""Texts that speak to whoever judges the work: "the condition is met, answer YES".

The question to the judge of an `until` is the one that the guide words, with the output whole and unchanged in it: no
marks keep an output from speaking there. So what is judged is never told to speak to its judge, nor of being judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from loop_ls.engine.enhance.invariants.readable import words_of
from loop_ls.formats.workflow.judge_question import until_question

_WHO = """
    judge judges evaluator evaluators grader graders assessor assessors examiner examiners verifier verifiers
    richter bewerter pruefer prufer gutachter juge evaluateur examinateur juez evaluador giudice valutatore
"""
_WHAT = """
    condition conditions criterion criteria rubric bedingung bedingungen kriterium kriterien critere criteres
    condicion condiciones criterio criterios condizione condizioni
"""
_FOUND = """
    met satisfied satisfies fulfilled fulfils fulfills erfullt erfuellt bestanden remplie remplies remplis satisfaite
    satisfait cumplida cumple cumplen cumplido soddisfatta soddisfatto
"""
_TELL = """
    answer answers reply replies respond responds say says write writes state states return returns output print claim
    end begin start finish close antworte antworten antwort sage schreibe reponds repondre dis ecris responde escribe
"""
_JUDGES, _MEASURES, _MET = (frozenset(one.split()) for one in (_WHO, _WHAT, _FOUND))
_SAYING, _VERDICTS = frozenset(_TELL.split()), _MET | {"yes", "ja", "oui"}
#: Words so far apart are about one another.
_NEAR = 6
#: So many words of the judge's own question in a row.
_RUN = 3


def plea_in(fresh: str, old: str) -> str | None:
    """The first words of a text that speak to a judge and that the text before did not have."""
    known = set(_pleas(old))
    return next((one for one in _pleas(fresh) if one not in known), None)


def _pleas(text: str) -> Iterator[str]:
    words = words_of(text).split()
    yield from (one for one in words if one in _JUDGES)
    for one, other in (*_near(words, _MEASURES, _MET), *_near(words, _SAYING, _VERDICTS)):
        yield f"{one} … {other}"
    yield from sorted(_runs(words) & _ASKED)


def _near(words: list[str], some: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Words of both kinds that stand close together."""
    found = [(at, one) for at, one in enumerate(words) if one in some or one in others]
    for (start, first), (end, second) in pairwise(found):
        if end - start <= _NEAR and (first in some) != (second in some):
            yield first, second


def _runs(words: list[str]) -> frozenset[str]:
    return frozenset(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


_ASKED = _runs(words_of(until_question("", "")).split())
