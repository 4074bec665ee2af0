"""`loop-ls engine token`: who besides the owner may use an engine, and as what.

Works on the data folder itself, so it needs no running engine; a running one sees the change at once.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path

from loop_ls.cli.arguments import print_json
from loop_ls.cli.engine.connect import add_place, data_folder_of, refuse, root_of
from loop_ls.client.engine_location import claim
from loop_ls.client.refusal import refusal
from loop_ls.contract.operations import ROLES
from loop_ls.engine.core.users import Token, TokenRefused, Tokens
from loop_ls.report.terminal_text import shown


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="token_verb", metavar="VERB", required=True)
    create = verbs.add_parser("create", help="Create a token for a user; it is shown only once")
    create.add_argument("--user", metavar="NAME", required=True, help="Name of the user; runs belong to their user")
    create.add_argument(
        "--role",
        choices=ROLES,
        default="editor",
        metavar="ROLE",
        help="viewer: read; editor: also start runs and control their own; admin: control all",
    )
    listing = verbs.add_parser("list", help="List users and roles; never the tokens themselves")
    revoke = verbs.add_parser("revoke", help="Revoke a token, or all tokens of a user")
    revoke.add_argument("which", metavar="ID|USER", help="Id of a token, or a user for all of theirs")
    for verb in (create, listing, revoke):
        add_place(verb)
        verb.add_argument("--json", action="store_true", help="Print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    tokens = Tokens(folder_of(args))
    try:
        match args.token_verb:
            case "create":
                return _create(tokens, args)
            case "revoke":
                return _revoke(tokens, args)
            case _:
                return _list(tokens, args)
    except TokenRefused as refused:
        return refuse(refusal("bad_argument", str(refused)), args.json)
    except OSError as error:
        told = f"The data folder cannot be written: {error.strerror or error}."
        return refuse(refusal("bad_argument", told), args.json)


def folder_of(args: argparse.Namespace) -> Path:
    folder = data_folder_of(args.data_dir, root_of(args.root))
    claim(folder)
    return folder


def _create(tokens: Tokens, args: argparse.Namespace) -> int:
    made, text = tokens.create(args.user, args.role)
    if args.json:
        return print_json({"ok": True, "token": text, **_row(made)})
    print(text)
    return _print_error(f"{made.role} `{made.name}`, id {made.id}. It is not shown again.")


def _list(tokens: Tokens, args: argparse.Namespace) -> int:
    found = tokens.all()
    if args.json:
        return print_json({"ok": True, "tokens": [_row(each) for each in found]})
    if not found:
        print("Only the owner has access. Create a token: loop-ls engine token create --user NAME --role viewer")
    for each in found:
        page = "  page of a browser" if each.is_page else ""
        made = datetime.fromtimestamp(each.created_at).astimezone().strftime("%Y-%m-%d %H:%M")
        print(f"{each.id}  {each.role:<7} {made}  {shown(each.name)}{page}")
    return 0


def _revoke(tokens: Tokens, args: argparse.Namespace) -> int:
    gone = tokens.revoke(args.which)
    if args.json:
        return print_json({"ok": True, "revoked": [_row(each) for each in gone]})
    for each in gone:
        print(f"revoked {each.id}, {each.role} `{each.name}`")
    return 0


def _row(token: Token) -> dict[str, object]:
    row = {"id": token.id, "user": token.name, "role": token.role, "createdAt": token.created_at}
    return {**row, "expiresAt": token.expires_at} if token.is_page else row


def _print_error(line: str) -> int:
    print(line, file=sys.stderr)
    return 0
