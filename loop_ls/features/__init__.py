"""One LSP feature per module: pure functions `(workspace, document, place, ...) -> values`, no LSP types.

Writing: completion.complete/.describe, actions.actions/.fix_all, ignoring.ignoring, rename.prepare/.rename,
loop_places.loop_places, linked.linked, formatting.formatting, on_type.on_type, moving.moved. Reading:
hover.hover, definition.definition,
references.references, highlight.highlight, links.links, symbols.symbols, folding.folds, selection.selection,
workspace_symbols.workspace_symbols, call_hierarchy, inlays.inlays, tokens.tokens, lenses.lenses. Before a run:
estimate.estimate, preview.previews. Runs are seen as plain values (shown_run.shown_run,
run_findings.run_findings); nothing in this room starts or waits for anything.
"""
