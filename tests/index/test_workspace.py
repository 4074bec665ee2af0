"""Keys, references and callers in a workspace."""

import pytest

from loop_ls.index.disk.roots import Root, Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Resolution, Workspace
from tests.index.building import document, element, typed, workspace


def calling(*references: str, name: str = "caller", path: str | None = None, extra: str = "") -> Document:
    steps = "".join(f"  - {{name: s{n}, template: {{name: '{r}'{extra}}}}}\n" for n, r in enumerate(references))
    return document("steps:\n" + steps, name, path)


# -- C10: from folder d, with x in the root, d/x and d/e/y -------------------------------------------

X, DX, DEY = (document("", n, p) for n, p in (("x", "/w/x.yaml"), ("x", "/w/d/x.yaml"), ("y", "/w/d/e/y.yaml")))
FROM_D = document("", "me", "/w/d/me.yaml")
C10 = workspace(X, DX, DEY, FROM_D)


def test_C10_a_bare_name_means_the_own_folder_before_the_root() -> None:
    found = C10.resolve(FROM_D, "x")
    assert (found.key, found.document, found.hidden) == ("d/x", DX, "x")


def test_C10_a_key_with_folders_is_exact() -> None:
    found = C10.resolve(FROM_D, "d/x")
    assert (found.key, found.document, found.hidden) == ("d/x", DX, None)


@pytest.mark.parametrize(("reference", "suggested"), [("y", "d/e/y"), ("e/y", "d/e/y"), ("X", "x")])
def test_C10_what_is_not_found_is_suggested(reference: str, suggested: str) -> None:
    found = C10.resolve(FROM_D, reference)
    assert (found.key, found.document) == (None, None)
    assert found.suggestions[0] == suggested


@pytest.mark.parametrize("reference", ["./x", "../x", "x.yaml", "d/X"])
def test_WF601_other_forms_are_no_references(reference: str) -> None:
    found = C10.resolve(FROM_D, reference)
    assert found.key is None
    assert "x" in found.suggestions or "d/x" in found.suggestions


def test_only_the_own_folder_is_tried_and_not_the_ones_above() -> None:
    deep = document("", "deep", "/w/d/e/deep.yaml")
    found = workspace(DX, deep).resolve(deep, "x")
    assert found.key is None


def test_WF601_suggestions_best_first() -> None:
    files = [
        document("", "report", "/w/other/report.yaml"),
        document("", "called_otherwise", "/w/report.yaml"),
        document("", "reports", "/w/reports.yaml"),
        document("", "report_all", "/w/report_all.yaml"),
        document("", "unlike", "/w/unlike.yaml"),
        document("", "me", "/w/a/me.yaml"),
    ]
    found = workspace(*files).resolve(files[-1], "report")
    assert found.suggestions == ("other/report", "called_otherwise", "reports", "report_all")


def test_an_empty_reference_means_nothing_and_suggests_nothing() -> None:
    assert C10.resolve(FROM_D, "") == Resolution(None, None)


# -- keys --------------------------------------------------------------------------------------------


def test_1_3_the_key_comes_from_folder_and_name_and_not_from_the_file() -> None:
    one = document("", "code_review", "/w/team/code-review.yaml")
    assert workspace(one).key(one) == "team/code_review"


def test_a_file_outside_of_the_root_counts_from_the_workspace() -> None:
    roots = Roots("/w", (Root("/w/flows"),))
    inside, outside = document("", "a", "/w/flows/a.yaml"), document("", "b", "/w/demo/b.yaml")
    found = Workspace.of(roots, [inside, outside])
    assert set(found.keys) == {"a", "demo/b"}


@pytest.mark.parametrize(
    ("pattern", "path", "key"),
    [
        ("*.yaml", "/w/flows/a.yaml", "n"),
        ("*.yaml", "/w/flows/deep/a.yaml", "flows/deep/n"),
        ("**/*.yaml", "/w/flows/deep/a.yaml", "deep/n"),
        ("**/*.yaml", "/w/flows/a.yml", "n"),
        ("**/*-flow.yaml", "/w/flows/deep/a.yaml", "flows/deep/n"),
        ("deep/*.yaml", "/w/flows/deep/a.yaml", "deep/n"),
    ],
)
def test_1_3_a_glob_says_what_counts_as_inside(pattern: str, path: str, key: str) -> None:
    assert Roots("/w", (Root("/w/flows", pattern),)).key(path, "n") == key


def test_WF605_of_two_files_with_one_key_the_first_in_path_order_counts() -> None:
    later, first = document("", "x", "/w/b.yaml"), document("", "x", "/w/a.yaml")
    found = workspace(later, first)
    assert found.by_key("x") is first
    assert found.namesakes(later) == (first, later)
    assert found.callers(later) == ()


def test_files_of_other_formats_and_without_names_have_no_key() -> None:
    nameless = Document.open("file:///w/a.yaml", "$schema: workflow/v2.0\n")
    other = Document.open("file:///w/b.yaml", "name: b\nexecution: {}\nsteps: []\n")
    found = workspace(nameless, other)
    assert found.keys == {}
    assert found.key(nameless) is None
    assert found.callers(nameless) == ()
    assert found.neighbours(other) == frozenset()


# -- callers -----------------------------------------------------------------------------------------


def test_callers_are_found_by_whatever_form_they_use() -> None:
    target = document("", "t", "/w/d/t.yaml")
    near, far = calling("t", name="near", path="/w/d/near.yaml"), calling("d/t", "t", name="far", path="/w/far.yaml")
    found = workspace(target, near, far)
    assert [(c.document.name, c.element.name) for c in found.callers(target)] == [("near", "s0"), ("far", "s0")]


def test_WF502_a_parameter_is_settled_when_every_caller_supplies_it() -> None:
    target = document("steps:\n  - {name: a, run: '{{p}} {{q}}'}\n", "t")
    full = calling("t", name="full", extra=", with: {p: 1, q: 2}")
    part = calling("t", name="part", extra=", with: {p: 1}")
    found = workspace(target, full, part)
    assert [(p.name, p.settled, len(p.missing)) for p in found.parameters(target)] == [("p", True, 0), ("q", False, 1)]
    alone = workspace(target).parameters(target)
    assert [p.settled for p in alone] == [False, False]


def test_an_iterate_loop_supplies_the_item() -> None:
    target = document("steps:\n  - {name: a, run: '{{item}}'}\n", "t")
    loop = document("loops:\n  - {name: l, workflow: t, mode: iterate, items: x, max_iterations: 1}\n", "c")
    assert workspace(target, loop).parameters(target)[0].settled


def test_neighbours_are_callers_callees_and_namesakes() -> None:
    one, two = document("", "t", "/w/a.yaml"), document("", "t", "/w/b.yaml")
    caller, other = calling("t", "callee"), document("", "callee")
    found = workspace(one, two, caller, other, document("", "stranger"))
    assert found.neighbours(one) == {two.uri, caller.uri}
    assert found.neighbours(caller) == {one.uri, other.uri}


def test_the_last_step_of_a_callee() -> None:
    target = document("steps:\n  - {name: a, run: x}\n  - {name: b, run: says PASS}\n", "t")
    caller = calling("t")
    found = workspace(target, caller)
    called = found.callee(caller, element(caller, "s0").reference)
    assert called is not None
    assert called.last_step() is element(target, "b")
    assert found.callee(caller, "nowhere") is None


# -- replacing a document ----------------------------------------------------------------------------


def test_replacing_a_document_shares_what_did_not_change() -> None:
    target, caller = document("steps:\n  - {name: a, run: x}\n", "t"), calling("t")
    before = workspace(target, caller)
    after = before.with_document(typed(target, "run: x", "run: y"))
    assert after.keys is before.keys
    assert after.referring is before.referring
    assert after.by_key("t") is not target
    assert before.by_key("t") is target


def test_a_new_name_and_a_new_reference_are_seen() -> None:
    target, caller = document("", "t"), calling("t")
    found = workspace(target, caller)
    found = found.with_document(typed(target, "name: t", "name: u"))
    assert set(found.keys) == {"caller", "u"}
    renamed = found.by_key("u")
    assert renamed is not None
    assert found.callers(renamed) == ()
    found = found.with_document(typed(caller, "'t'", "'u'"))
    assert len(found.callers(renamed)) == 1


def test_a_document_that_goes_leaves_nothing_behind() -> None:
    target, caller = document("", "t"), calling("t")
    found = workspace(target, caller).without(caller.uri).without("file:///w/unknown.yaml")
    assert found.callers(target) == ()
    assert found.referring == {}
    assert list(found.keys) == ["t"]


def test_two_thousand_files_are_no_burden_for_one_edit() -> None:
    files = [calling(f"f{(n + 1) % 2000}", name=f"f{n}") for n in range(2000)]
    found = workspace(*files)
    after = found.with_document(typed(files[7], "s0", "s1"))
    assert len(after.documents) == 2000
    assert after.keys is found.keys
    assert [c.document.name for c in after.callers(files[8])] == ["f7"]
