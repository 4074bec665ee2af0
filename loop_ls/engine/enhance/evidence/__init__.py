"""Evidence for a text of a workflow: trials over cases, and what may be concluded from them."""
