"""No text and no key goes anywhere that the owner has not seen, and nobody else agrees for the owner."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.contract.key_file import read_key
from loop_ls.engine.capabilities.agents import agents
from loop_ls.engine.capabilities.consent import KEY_NAME, Consents, for_others, proof
from loop_ls.engine.capabilities.endpoints import endpoints
from loop_ls.engine.capabilities.needs import of_servers
from loop_ls.engine.capabilities.values import (
    Capabilities,
    Capability,
    EmbeddedModel,
    Endpoint,
    Program,
    asks,
    sentence,
)
from loop_ls.engine.core.addresses import address_fault
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import read_request
from loop_ls.engine.runs.fork import named_by
from loop_ls.engine.starting.asker import agreeing, as_asked_by
from loop_ls.engine.tools.servers import Server, server_program

ENVIRON = {"OPENAI_API_KEY": "sk-secret", "MY_KEY": "other-secret", "HOST": "evil.test", "PORT": "8080"}


def wanted(*names: str, **settings: dict[str, str]) -> list[tuple[str, str, str]]:
    found = [one for one in endpoints(names, settings, ENVIRON) if isinstance(one, Endpoint) and asks(one)]
    return [(one.provider, one.host, one.variable) for one in found]


def question(consents: Consents, *all_: Capability, project: str = "") -> dict[str, Any]:
    with pytest.raises(Refused) as refused:
        consents.settle(Capabilities.of(all_), None, project)
    return refused.value.answer()


@pytest.mark.parametrize("name", ["consents.json", KEY_NAME, "consents.new"])
def test_a_permission_that_cannot_be_kept_is_refused_with_the_file_that_is_in_the_way(
    name: str, tmp_path: Path
) -> None:
    """A folder in its place, as a synchronised or restored home may have it."""
    (tmp_path / name).mkdir()
    consents, wanted = Consents(tmp_path), Capabilities.of([Program(("touch", "x"))])
    with pytest.raises(Refused) as refused:
        consents.settle(wanted, None)
    if refused.value.code == "consent_required":
        proved = agreed(tmp_path, refused.value.answer())
        with pytest.raises(Refused) as refused:
            consents.settle(wanted, proved)
    assert refused.value.code == "engine_not_ready"
    assert f"{name} in the data folder {tmp_path} cannot be written (" in refused.value.message
    with pytest.raises(Refused):  # nothing was agreed to
        Consents(tmp_path).settle(wanted, None)


def test_a_known_service_is_shown_with_its_host_and_its_variable() -> None:
    assert wanted("openai", "openai") == [("openai", "api.openai.com", "OPENAI_API_KEY")]


def test_a_model_on_this_machine_needs_no_consent_unless_the_project_chose_its_address() -> None:
    assert wanted("ollama", "unknown") == []
    assert wanted("ollama", ollama={"baseUrl": "http://127.0.0.1:9/v1"}) == [("ollama", "127.0.0.1:9", "")]


def test_a_file_that_the_project_chose_for_the_embedded_model_is_asked_about() -> None:
    """It is read by native code, and may lie anywhere."""

    def found(**settings: dict[str, str]) -> list[Capability]:
        return endpoints(sorted(settings), settings, ENVIRON)

    assert found(local={}) == [EmbeddedModel()] == found(local={"defaultModel": "smollm2-135m-instruct"})
    assert not asks(EmbeddedModel())
    for mine in ({"local": {"defaultModel": "/x/m.gguf"}}, {"mine": {"kind": "local", "defaultModel": "/x/m.gguf"}}):
        [one] = found(**mine)
        assert asks(one)
        assert sentence(one) == "loads the model in /x/m.gguf"
        assert Capabilities.of([one]).digest != Capabilities.of([EmbeddedModel("/y/m.gguf")]).digest


def test_a_script_in_the_place_of_a_known_service_sends_nothing() -> None:
    assert wanted("openai", openai={"kind": "scripted"}) == []
    assert wanted("openai", openai={"kind": "scripted", "apiKeyEnv": "MY_KEY"}) == []


def test_a_project_that_sends_a_known_key_to_another_place_is_shown_with_that_place() -> None:
    assert wanted("openai", openai={"baseUrl": "https://evil.test/v1"}) == [("openai", "evil.test", "OPENAI_API_KEY")]
    mine = {"kind": "openai", "baseUrl": "https://example.test/v1", "apiKeyEnv": "MY_KEY"}
    assert wanted("mine", mine=mine) == [("mine", "example.test", "MY_KEY")]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:x@127.0.0.2:18703/v1",
        "http://localhost@evil.test/v1",
        "https://me:pass@api.openai.com/v1",
        "http://localhost\\@evil.test/v1",
        "http://localhost:80 @evil.test/v1",
        "http:///v1",
        "http://evil.test:99999/v1",
        "http://evil.test:80:80/v1",
        "http://evil.test:\uff18\uff10/v1",
        "http://evil.test:0/v1",
        "http://api.open\u200bai.com/v1",
        "http://moc.\u202eiapo.test/v1",
        "ftp://evil.test/v1",
        "file://evil.test/v1",
    ],
)
def test_an_address_that_two_readers_read_in_two_ways_is_none(url: str) -> None:
    assert wanted("mine", mine={"kind": "openai", "baseUrl": url}) == []


@pytest.mark.parametrize("host", ["api.\u043epenai.com", "\u0430pi.openai.com:8443", "api.openai.com\u3002evil.test"])
def test_a_host_with_letters_that_look_like_others_is_shown_as_it_is_looked_up(host: str) -> None:
    [(_, shown, _)] = wanted("mine", mine={"kind": "openai", "baseUrl": f"https://{host}/v1"})
    assert shown.isascii()
    assert not shown.startswith("api.openai.com/")
    assert shown.startswith("xn--") or "xn--" in shown or shown.endswith("evil.test")


def test_an_address_may_take_its_port_from_a_variable() -> None:
    assert wanted("mine", mine={"kind": "openai", "baseUrl": "http://${HOST}:${PORT}/v1"})
    assert address_fault("http://${HOST}:${PORT}/v1") == ""


def test_variables_in_an_address_are_named_and_never_filled() -> None:
    url = "https://${HOST}/${MY_KEY}/v1"
    [*found] = endpoints(["mine"], {"mine": {"kind": "openai", "baseUrl": url}}, ENVIRON, ["HOME"])
    assert {one.variable for one in found if isinstance(one, Endpoint)} == {"", "HOST", "MY_KEY", "HOME"}
    assert all("evil" not in repr(one) and "other-secret" not in repr(one) for one in found)
    assert {one.url for one in found if isinstance(one, Endpoint)} == {url}


def test_variables_that_files_put_into_prompts_are_shown_for_every_place_they_would_go_to() -> None:
    found = endpoints(["openai", "ollama"], {}, ENVIRON, ["HOME", "MY_KEY"])
    shown = [one.variable for one in found if isinstance(one, Endpoint) and asks(one)]
    assert shown == ["OPENAI_API_KEY", "HOME", "MY_KEY"]


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("mine", {"kind": "openai", "baseUrl": "http://127.0.0.1:9/v1"}),
        ("mine", {"kind": "openai", "baseUrl": "http://[::1]:9/v1"}),
        ("ollama", {"baseUrl": "http://localhost:9"}),
        ("ollama", {"apiKeyEnv": "MY_KEY"}),
    ],
)
def test_variables_are_shown_for_a_place_of_this_machine_that_the_project_chose(
    tmp_path: Path, name: str, provider: dict[str, str]
) -> None:
    """Behind a port of this machine may be a tunnel, or somebody else: what goes there is asked like anywhere."""
    plain, with_secret = (endpoints([name], {name: provider}, ENVIRON, names) for names in ([], ["HOME"]))
    consents = Consents(tmp_path)
    consents.settle(Capabilities.of(plain), agreed(tmp_path, question(consents, *plain)))
    consents.settle(Capabilities.of(plain), None)
    asked = question(consents, *with_secret)
    assert "HOME" in [one.get("variable") for one in asked["endpoints"]]


def test_consent_is_asked_once_and_shows_all_that_the_run_may_do(tmp_path: Path) -> None:
    first = Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
    second = Endpoint("mine", "https://example.test/v1")
    consents = Consents(tmp_path)
    shown = question(consents, first)
    assert shown["code"] == "consent_required"
    assert shown["endpoints"] == [
        {
            "provider": "openai",
            "host": "api.openai.com",
            "url": "https://api.openai.com/v1",
            "variable": "OPENAI_API_KEY",
        }
    ]
    assert shown["programs"] == []
    assert shown["digest"] == Capabilities.of([first]).digest
    consents.settle(Capabilities.of([first]), agreed(tmp_path, shown))
    again = Consents(tmp_path)
    again.settle(Capabilities.of([first]), None)
    assert [each["provider"] for each in question(again, first, second)["endpoints"]] == ["openai", "mine"]
    for name in ("consents.json", "consent.key"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_what_was_shown_is_no_answer_by_itself(tmp_path: Path) -> None:
    consents, one = Consents(tmp_path), Program(("rm", "-rf", "x"), "/w")
    shown = question(consents, one)
    for given in (shown["digest"], shown["nonce"], f"{shown['nonce']}.{shown['digest']}", "", proof("", "", "")):
        with pytest.raises(Refused):
            consents.settle(Capabilities.of([one]), given)


def test_an_answer_counts_once_and_for_its_own_question(tmp_path: Path) -> None:
    consents, one, other = Consents(tmp_path), Program(("a",)), Program(("b",))
    first = agreed(tmp_path, question(consents, one))
    with pytest.raises(Refused):
        consents.settle(Capabilities.of([other]), first)
    consents.settle(Capabilities.of([one]), first)
    (tmp_path / "consents.json").unlink()
    with pytest.raises(Refused):
        consents.settle(Capabilities.of([one]), first)


def test_both_sides_make_the_same_proof(tmp_path: Path) -> None:
    shown = question(Consents(tmp_path), Program(("a",)))
    key = read_key(tmp_path / KEY_NAME)
    assert key is not None
    assert agreed(tmp_path, shown) == proof(key, shown["nonce"], shown["digest"])
    assert agreed(tmp_path / "elsewhere", shown) == ""


def test_somebody_else_is_told_that_the_owner_has_to_agree(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        Consents(tmp_path).settle(Capabilities.of([Program(("make", "x"))]), None)
    told = for_others(refused.value)
    assert told.message == "The owner must give permission first: this run starts `make x`."
    assert "in a terminal or an editor" in told.hint
    assert "nonce" not in told.details
    named = for_others(refused.value, "loop-ls run a.yaml --agree-only")
    assert "`loop-ls run a.yaml --agree-only`" in named.hint
    assert named.details["command"] == "loop-ls run a.yaml --agree-only"


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"root": "/p", "path": "a b.yaml"}, "loop-ls run '/p/a b.yaml' --root /p --agree-only"),
        ({"root": "/p", "uri": "file:///p/a.yaml"}, "loop-ls run /p/a.yaml --root /p --agree-only"),
        ({"definition": "x; id", "parameters": {"n": "1"}}, "loop-ls run 'x; id' --param n=1 --agree-only"),
        ({"target": {"kind": "definition", "name": "tidy"}}, "loop-ls run tidy --agree-only"),
        ({"path": "a\x1b[2J.yaml"}, "loop-ls run 'a\\x1b[2J.yaml' --agree-only"),
        ({"path": "a.yaml", "check": {}}, "loop-ls run a.yaml --check --plain --agree-only"),
        ({"path": "a.yaml", "check": {"case": "empty"}}, ""),
        (
            {"path": "a.yaml", "provider": "acme", "model": "-x y"},
            "loop-ls run a.yaml --provider=acme '--model=-x y' --agree-only",
        ),
        ({"path": "a.yaml", "enhance": {"start": True}}, ""),
        ({}, ""),
    ],
)
def test_the_command_that_others_are_told(given: dict[str, Any], command: str) -> None:
    assert agreeing(given) == command


def test_the_command_for_a_fork_agrees_to_what_its_run_was_started_with() -> None:
    plan: dict[str, Any] = {"check": {"checks": "a.checks.yaml", "cases": "", "case": ""}, "instead": {"model": "m"}}
    body: dict[str, Any] = {"root": "/p", "path": "a.yaml", "target": {"kind": "workflow"}, "format": "workflow"}
    assert agreeing(named_by({**body, "plan": plan})) == (
        "loop-ls run /p/a.yaml --root /p --model=m --check --plain --agree-only"
    )
    assert agreeing(named_by(body)) == "loop-ls run /p/a.yaml --root /p --agree-only"
    assert agreeing(named_by({**body, "format": "enhance"})) == ""


@pytest.mark.parametrize("others", [{"user": "eve"}, {"origin": "mcp"}])
def test_nobody_but_the_owner_asks_to_agree_only(tmp_path: Path, others: dict[str, str]) -> None:
    argument = {"root": str(tmp_path), "path": "a.yaml", "agreeOnly": True, "origin": others.get("origin", "cli")}
    with pytest.raises(Refused) as refused:
        as_asked_by(read_request(argument), others.get("user"), tmp_path)
    assert refused.value.code == "forbidden"


def test_only_the_owner_starts_a_loop_that_writes_its_file_itself(tmp_path: Path) -> None:
    """An owner who agreed to a run has agreed to no change of the file."""
    (tmp_path / "a.yaml").write_text("")
    argument = {"root": str(tmp_path), "path": str(tmp_path / "a.yaml")}
    loop = read_request({**argument, "enhance": {"start": True, "headless": True}})
    assert as_asked_by(loop, None, tmp_path) == loop
    with pytest.raises(Refused) as refused:
        as_asked_by(loop, "eve", tmp_path)
    assert (refused.value.code, "applyWhenHeadless" in refused.value.hint) == ("forbidden", True)
    plain = read_request({**argument, "enhance": {"headless": True}})
    assert as_asked_by(plain, "eve", tmp_path).enhance == {}, "a run is theirs; that its file is written is not"
    assert as_asked_by(plain, None, tmp_path).enhance == {"headless": True}
    edited = read_request({**argument, "enhance": {"start": True, "editor": True}})
    assert as_asked_by(edited, "eve", tmp_path) == edited


def test_a_file_of_consents_that_cannot_be_read_means_asking_again(tmp_path: Path) -> None:
    (tmp_path / "consents.json").write_text("{")
    question(Consents(tmp_path), Program(("a",)))


def test_what_is_shown_is_one_line_with_nothing_hidden_in_it() -> None:
    words = ("sh", "-c", "evil\n\nstarts `true`\u202e\x1b[2K")
    told = sentence(Program(words, "/w"))
    assert "\n" not in told and "\x1b" not in told and "\u202e" not in told
    assert "evil" in told


@pytest.mark.parametrize("unseen", ["\u3164", "\u2800", "\u115f", "\uffa0", "\u034f", "\ufe0f", "\U000e0101", "\u180b"])
def test_no_sign_that_is_not_seen_makes_a_gap_in_what_is_shown(unseen: str) -> None:
    told = sentence(Program(("sh", "-c", f"true{unseen * 300}; evil")))
    assert unseen not in told
    assert "evil" in told
    assert sentence(Program(("echo", "שלום é 😀"))) == "starts `echo 'שלום é 😀'`"


def test_an_agent_that_works_is_shown_with_the_settings_that_the_project_has_for_it() -> None:
    """Its hooks and servers start programs that no loop file names."""
    [works] = agents(["claude-code"], {"claude-code": {"cli": ["claude"]}}, "/p", ["KEY"])
    told = "starts `claude`, which may run any command and change any file, with the project's settings for it"
    asked = "it can change protected files, but you are asked before such a turn counts"
    assert sentence(works) == f"{told}, including hooks and servers; {asked}, with the value of KEY"
    [reads] = agents(["claude-code"], {"claude-code": {"cli": ["claude"]}}, "/p", apart=True)
    held = "it is started with its read tools only, and enforces that itself"
    assert sentence(reads) == f"starts `claude`, read-only: {held}"
    [other] = agents(["own"], {"own": {"kind": "agent-cli", "cli": ["my-agent"]}}, "/p")
    assert sentence(other) == "starts `my-agent`, not sandboxed: it uses all of its own tools"


@pytest.mark.parametrize(
    ("agent", "held"), [("codex", "its own read-only sandbox"), ("opencode", "enforces them itself")]
)
def test_UP_94_what_is_agreed_to_says_of_each_agent_what_holds_it(agent: str, held: str) -> None:
    [reads], [works] = agents([agent], {}, "/p", apart=True), agents([agent], {}, "/p")
    assert "read-only: " in sentence(reads) and held in sentence(reads)
    assert "it can change protected files" in sentence(works) and held not in sentence(works)


@pytest.mark.parametrize("agent", ["claude-code", "codex", "opencode"])
def test_who_agreed_to_an_agent_that_only_reads_has_not_agreed_to_one_that_works(tmp_path: Path, agent: str) -> None:
    consents = Consents(tmp_path)
    [reads], [works] = agents([agent], {}, "/p", apart=True), agents([agent], {}, "/p")
    consents.settle(Capabilities.of([reads]), agreed(tmp_path, question(consents, reads)))
    consents.settle(Capabilities.of([reads]), None)
    shown = question(consents, works)
    assert "any command" in " ".join(shown["capabilities"])
    consents.settle(Capabilities.of([works]), agreed(tmp_path, shown))
    consents.settle(Capabilities.of([works]), None)


def test_who_agreed_to_an_agent_that_only_reads_has_agreed_neither_to_one_without_a_fence_nor_to_its_words_alone(
    tmp_path: Path,
) -> None:
    """Spoken to as another one it keeps its own tools; and as the command of a check it does what its project says."""
    own = {"kind": "agent-cli", "cli": ["claude"]}
    consents = Consents(tmp_path)
    [reads] = agents(["house"], {"house": own}, "/p", apart=True)
    consents.settle(Capabilities.of([reads]), agreed(tmp_path, question(consents, reads)))
    consents.settle(Capabilities.of([reads]), None)
    [spoken_to] = agents(["house"], {"house": {**own, "speaks": "codex"}}, "/p", apart=True)
    for other in (spoken_to, Program(("claude",), "/p")):
        assert question(consents, other)["nonce"]


@pytest.mark.parametrize(
    ("cli", "fenced"),
    [
        (["claude"], True),
        (["/opt/bin/codex"], True),
        (["./claude"], False),
        (["tools/opencode"], False),
        (["my-agent", "--print"], False),
        (["claude-wrapper"], False),
        (["claude", "--dangerously-skip-permissions"], False),
        (["codex", "--profile", "wide"], False),
        (["/p/tools/codex"], False),
        (["/opt/../p/claude"], False),
        (["/proc/self/cwd/claude"], False),
        (["/dev/fd/3/claude"], False),
    ],
)
def test_an_agent_that_nobody_can_fence_in_is_shown_as_such(cli: list[str], fenced: bool) -> None:
    (found,) = agents(["house"], {"house": {"kind": "agent-cli", "cli": cli}}, "/p")
    assert ("not sandboxed" in sentence(found)) is not fenced


def test_a_link_elsewhere_that_leads_into_the_project_is_a_file_of_the_project(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "clone", tmp_path / "bin"
    project.mkdir()
    elsewhere.mkdir()
    (elsewhere / "claude").symlink_to(project / "claude")
    (found,) = agents(["house"], {"house": {"kind": "agent-cli", "cli": [f"{elsewhere}/claude"]}}, str(project))
    assert "not sandboxed" in sentence(found)


@pytest.mark.parametrize(
    ("speaks", "cli", "fenced"),
    [
        ("claude-code", "claude", True),
        ("claude", "claude", True),
        ("codex", "codex", True),
        ("opencode", "claude", False),
        ("claude-code", "codex", False),
        ("my-own", "codex", False),
    ],
)
def test_an_agent_that_is_spoken_to_as_another_one_is_not_fenced(speaks: str, cli: str, fenced: bool) -> None:
    """What takes its tools away are options of its own, which another one does not know."""
    (found,) = agents(["house"], {"house": {"kind": "agent-cli", "cli": [cli], "speaks": speaks}}, "/p")
    assert ("not sandboxed" in sentence(found)) is not fenced


FREE = {"input": 0, "output": 0}


@pytest.mark.parametrize(
    "provider",
    [
        {"price": FREE},
        {"price": FREE, "baseUrl": "https://api.openai.com/v1"},
        {"price": FREE, "kind": "agent-cli", "cli": ["codex"]},
    ],
)
def test_a_price_of_the_project_is_agreed_to_with_the_rest(tmp_path: Path, provider: dict[str, Any]) -> None:
    """A cap in dollars is only as true as the prices: a repository could say that a service is free."""
    derive = partial(agents, folder="/p") if "cli" in provider else partial(endpoints, environ=ENVIRON)
    without = {name: value for name, value in provider.items() if name != "price"}
    honest, lies = (derive(["openai"], {"openai": each}) for each in (without, provider))
    consents = Consents(tmp_path)
    consents.settle(Capabilities.of(honest), agreed(tmp_path, question(consents, *honest)))
    asked = question(consents, *lies)
    told = "at $0 in and $0 out per million tokens (from the settings)"
    assert told in asked["message"]
    assert told in " ".join(asked["capabilities"])
    consents.settle(Capabilities.of(lies), agreed(tmp_path, asked))
    dearer = Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", price=(0, 1))
    assert "$0 in and $1.00 out" in question(consents, dearer)["message"]


def test_a_program_that_starts_elsewhere_is_shown_with_where_that_is(tmp_path: Path) -> None:
    """Links are followed: a harmless name may lead anywhere."""
    project, other = tmp_path / "clone", tmp_path / "other"
    (project / "sub").mkdir(parents=True)
    other.mkdir()
    (project / "docs").symlink_to(other)
    shown = {
        written: sentence(server_program(Server("s", "stdio", ("make",), cwd=written), str(project)))
        for written in ("", ".", "sub", "..", "docs", str(other))
    }
    assert shown == {
        "": "starts `make`",
        ".": "starts `make`",
        "sub": f"starts `make` in {project / 'sub'}",
        "..": f"starts `make` in {tmp_path}",
        "docs": f"starts `make` in {other}",
        str(other): f"starts `make` in {other}",
    }


def test_who_agreed_to_a_program_in_one_place_has_not_agreed_to_it_where_a_link_leads_now(tmp_path: Path) -> None:
    project, consents = tmp_path / "clone", Consents(tmp_path)
    for name in ("clone", "one", "other"):
        (tmp_path / name).mkdir()
    (project / "docs").symlink_to(tmp_path / "one")
    server = Server("s", "stdio", ("make",), cwd="docs")
    first = server_program(server, str(project))
    consents.settle(Capabilities.of([first]), agreed(tmp_path, question(consents, first)))
    consents.settle(Capabilities.of([server_program(server, str(project))]), None)
    (project / "docs").unlink()
    (project / "docs").symlink_to(tmp_path / "other")
    assert f"in {tmp_path / 'other'}" in question(consents, server_program(server, str(project)))["message"]


@pytest.mark.parametrize("how", ["as it is", "unsigned", "of another", "from another folder", "no text", "no entry"])
def test_a_consent_that_somebody_laid_into_the_data_folder_counts_for_nothing(tmp_path: Path, how: str) -> None:
    """Whoever can write a file there need not be able to read the owner's key."""
    one, other = Program(("make", "x"), "/w"), Program(("rm", "-rf", "x"), "/w")
    mine = tmp_path / "mine"
    consents, path = Consents(mine), mine / "consents.json"
    consents.settle(Capabilities.of([one]), agreed(mine, question(consents, one)))
    written = json.loads(path.read_text())
    [(name, entry)] = written.items()
    match how:
        case "as it is":
            Consents(mine).settle(Capabilities.of([one]), None)
            return
        case "unsigned":
            path.write_text(json.dumps({name: {key: value for key, value in entry.items() if key != "signature"}}))
        case "of another":
            path.write_text(json.dumps({_name_of(other, tmp_path): entry}))
            question(Consents(mine), other)
        case "from another folder":
            (tmp_path / "theirs").mkdir()
            (tmp_path / "theirs" / "consents.json").write_text(path.read_text())
            question(Consents(tmp_path / "theirs"), one)
            return
        case "no text":
            path.write_text(json.dumps({name: {**entry, "signature": ["\ud800"]}}))
        case "no entry":
            path.write_text(json.dumps({name: 7}))
    question(Consents(mine), one)


def _name_of(one: Capability, folder: Path) -> str:
    """Under which name its consent is kept."""
    consents = Consents(folder / "name")
    consents.settle(Capabilities.of([one]), agreed(folder / "name", question(consents, one)))
    [name] = json.loads((folder / "name" / "consents.json").read_text())
    return str(name)


BAD_ADDRESSES = {
    "a user name": "http://localhost:x@evil.test/mcp",
    "a password": "https://me:secret-9934@evil.test/mcp",
    "a blank": "http://evil.test /mcp",
    "a backslash": "http://127.0.0.1\\@evil.test/mcp",
    "a line": "http://evil.test/\nmcp",
    "another scheme": "file:///etc/passwd",
    "a scheme of a program": "javascript:alert(1)",
    "no host": "http:///mcp",
    "a port that there is not": "http://127.0.0.1:99999/mcp",
    "the port of nobody": "http://127.0.0.1:0/mcp",
    "no scheme": "//evil.test/mcp",
    "an open bracket": "http://[::1/mcp",
    "a letter that is not shown": "http://evil\u200b.test/mcp",
}


@pytest.mark.parametrize("why", BAD_ADDRESSES)
def test_a_server_of_tools_at_what_is_no_address_is_refused(why: str) -> None:
    """As of a provider: where two parsers disagree, the question would name another host than the one that is asked."""
    with pytest.raises(Refused, match=r"`servers\.far\.url`") as refused:
        of_servers({"far": {"url": BAD_ADDRESSES[why]}}, ["far"])
    assert refused.value.code == "bad_argument"
    assert "secret-9934" not in f"{refused.value.message} {refused.value.hint}"


def test_a_server_of_tools_at_an_address_is_shown_with_its_host() -> None:
    needed = of_servers({"far": {"url": "https://tools.test/mcp"}}, ["far"])
    assert "tools.test" in " ".join(map(sentence, needed.places({})))
