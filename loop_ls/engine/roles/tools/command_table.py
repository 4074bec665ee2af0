"""Command table of the read-only shell: which programs there are, and which options each of them takes.

An option that is not listed does not exist for a role. Left out are those that write, run a program, wait
for more, read a list of names from a file, or follow links: what a link points to may lie outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

#: What stands behind an option: nothing, a text, a number, a path of the workspace, a `-printf` format.
Kind = Literal["flag", "text", "number", "path", "format"]


@dataclass(frozen=True, slots=True)
class Program:
    """`options` by their spelling. `least` and `most` count paths; `shorthand` is what `-5` means.
    `first` names a first word that is no path (the pattern of grep), unless one of `instead` is given;
    `recursive` are the options with which no path means the whole workspace."""

    options: Mapping[str, Kind]
    least: int = 0
    most: int | None = None
    shorthand: str = ""
    first: str = ""
    instead: frozenset[str] = field(default_factory=frozenset)
    recursive: frozenset[str] = field(default_factory=frozenset)


def _options(*, flag: str = "", text: str = "", number: str = "", path: str = "", format: str = "") -> dict[str, Kind]:
    """Spellings by kind, separated by spaces."""
    found: dict[str, Kind] = dict.fromkeys(flag.split(), "flag")
    found.update(dict.fromkeys(text.split(), "text"))
    found.update(dict.fromkeys(number.split(), "number"))
    found.update(dict.fromkeys(path.split(), "path"))
    found.update(dict.fromkeys(format.split(), "format"))
    return found


_PARTS = "-c --bytes -n --lines"

PROGRAMS: Mapping[str, Program] = {
    "grep": Program(
        _options(
            flag="""-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp
                -i --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -v --invert-match
                -s --no-messages -n --line-number -H --with-filename -h --no-filename -o --only-matching
                -q --quiet --silent -a --text -I -r --recursive -L --files-without-match -l --files-with-matches
                -c --count -T --initial-tab -Z --null -z --null-data -b --byte-offset""",
            text="-e --regexp --include --exclude --exclude-dir",
            number="-m --max-count -A --after-context -B --before-context -C --context",
            path="-f --file --exclude-from",
        ),
        least=1,
        shorthand="-C",
        first="-e",
        instead=frozenset({"-e", "--regexp", "-f", "--file"}),
        recursive=frozenset({"-r", "--recursive"}),
    ),
    "cat": Program(
        _options(
            flag="""-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank
                -t -T --show-tabs -u -v --show-nonprinting"""
        ),
        least=1,
    ),
    "head": Program(
        _options(flag="-q --quiet --silent -v --verbose -z --zero-terminated", number=_PARTS), least=1, shorthand="-n"
    ),
    "tail": Program(
        _options(flag="-q --quiet --silent -v --verbose -z --zero-terminated", number=_PARTS), least=1, shorthand="-n"
    ),
    "wc": Program(_options(flag="-c --bytes -m --chars -l --lines -L --max-line-length -w --words"), least=1),
    "ls": Program(
        _options(
            flag="""-a --all -A --almost-all -b --escape -B --ignore-backups -c -C -d --directory -f -g -G --no-group
                -h --human-readable --si -i --inode -k --kibibytes -l -m -n --numeric-uid-gid -N --literal -o -p
                -q --hide-control-chars -Q --quote-name -r --reverse -R --recursive -s --size -S -t -u -U -v -x -X
                -1 --full-time""",
            text="-I --ignore --hide --format --sort --time --time-style --quoting-style",
            number="-w --width -T --tabsize",
        )
    ),
    "diff": Program(
        _options(
            flag="""--normal -q --brief -s --report-identical-files -c -u -e --ed -n --rcs -y --side-by-side
                --left-column --suppress-common-lines -p --show-c-function -t --expand-tabs -T --initial-tab
                --suppress-blank-empty -r --recursive --no-dereference -N --new-file --unidirectional-new-file
                --ignore-file-name-case --no-ignore-file-name-case -i --ignore-case -E --ignore-tab-expansion
                -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines
                --strip-trailing-cr -a --text -d --minimal --speed-large-files""",
            text="-F --show-function-line --label -x --exclude -S --starting-file -I --ignore-matching-lines",
            number="-C --context -U --unified -W --width --tabsize --horizon-lines",
            path="-X --exclude-from",
        ),
        least=2,
        most=2,
        shorthand="-U",
    ),
    "find": Program(
        _options(
            flag="""( ) ! , -a -and -o -or -not -depth -d -mount -xdev -daystart -noleaf -ignore_readdir_race
                -noignore_readdir_race -warn -nowarn -empty -false -true -ls -print -print0 -prune -quit""",
            text="""-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname
                -type -size -perm -links -inum -uid -gid -newermt -newerat -newerct
                -mtime -mmin -atime -amin -ctime -cmin""",
            number="-maxdepth -mindepth",
            path="-newer -anewer -cnewer -samefile",
            format="-printf",
        )
    ),
}
