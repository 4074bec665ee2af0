"""One LSP feature per module: pure functions `(workspace, document, place, ...) -> values`, no LSP types.

Editor features: completion.complete/.describe, hover.hover, definition.definition, symbols.symbols,
lenses.lenses, actions.actions/.fix_all, run_findings.run_findings (with run_view.run_view). Runs are
seen as plain values (values.RunView); nothing in this room starts or waits for anything.
"""
