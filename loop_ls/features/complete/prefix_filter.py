"""Which names can still become of a word that is being typed.

As generous as editors are: the typed letters, in their order, anywhere in the name.
"""

from __future__ import annotations


def may_become(typed: str, name: str) -> bool:
    if typed in name:
        return True
    letters = name.casefold()
    column = 0
    for letter in typed.casefold():
        column = letters.find(letter, column) + 1
        if not column:
            return False
    return True
