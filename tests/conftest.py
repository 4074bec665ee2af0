"""For all tests: programs that they start hear Ctrl-C, as those of a person at a terminal do, and what is kept
from edit to edit is compared with what it was derived from."""

import signal

from loop_ls.text.invariant import check_invariants

check_invariants(True)

# A shell that starts something in the background has it ignore Ctrl-C, and so all that it starts in turn.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
