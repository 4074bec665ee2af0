"""The child side of the supervisor: starts a program in a session of its own and ends all of it.

Run as a file by `supervisor`, with nothing but the standard library and as little of it as possible
(15 ms). The pipe tells it what to do: `t` ends the group politely and soon, `l` politely and with more time, `i` as if
a person had interrupted it; when the pipe closes, the engine is gone and the group goes at once. What left the group is
found by the mark in its environment, where there is a /proc to look into.
"""

import os
import select
import signal
import sys

SOON, INTERRUPTED, LATER = 0.2, 1.0, 5.0
#: The variable by which a program is known that made a session of its own, as daemons do.
MARK = "LOOP_LS_LEASH"


def main() -> int:
    pipe, argv = int(sys.argv[1]), sys.argv[2:]
    wake, alarm = os.pipe()
    for end in (wake, alarm):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(alarm)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = start(argv, pipe)
    return end_of(child, pipe, wake)


def start(argv: list[str], pipe: int) -> int:
    """The process id; on failure says why on standard error, like a shell, and exits."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.close(pipe)
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(tell, str(error.errno or 1).encode())
        os._exit(127)
    os.close(tell)
    failed = os.read(told, 16)
    if failed:
        os.waitpid(child, 0)
        sys.stderr.write(f"{argv[0]}: {os.strerror(int(failed))}\n")
        sys.exit(127)
    return child


def end_of(child: int, pipe: int, wake: int) -> int:
    """Wait for the program or for a word from the engine; leave nothing of the group behind."""
    patience: float | None = None
    listening = [pipe, wake]
    while not finished(child):
        ready, _, _ = select.select(listening, [], [], patience)
        if not ready:
            kill(child, signal.SIGKILL)
            patience = None
        if wake in ready and signal.SIGTERM in os.read(wake, 64):
            kill(child, signal.SIGKILL)
        if pipe in ready:
            word = os.read(pipe, 1)
            kill(child, {b"": signal.SIGKILL, b"i": signal.SIGINT}.get(word, signal.SIGTERM))
            patience = {b"t": SOON, b"i": INTERRUPTED, b"l": LATER}.get(word)
            listening = [pipe, wake] if word else [wake]
    kill(child, signal.SIGKILL)  # whatever the program left running
    for _ in range(3):  # one that starts another meanwhile is looked for again
        if not kill_strays(os.environ.get(MARK, "")):
            break
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def finished(child: int) -> bool:
    """Whether the program has ended; it is not reaped yet, so its group's number stays ours."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_strays(mark: str) -> bool:
    """Whether there were any. Only where processes can be looked at."""
    wanted, found = f"{MARK}={mark}\0".encode(), False
    for number in younger() if mark and os.access("/proc/self/environ", os.R_OK) else ():
        try:
            with open(f"/proc/{number}/environ", "rb") as environ:
                if wanted not in environ.read():
                    continue
            os.kill(number, signal.SIGKILL)
            found = True
        except OSError:
            continue
    return found


def younger() -> list[int]:
    """Processes that began after this one: those with higher numbers, unless the numbers began anew since."""
    with open("/proc/loadavg") as told:
        last = int(told.read().split()[-1])
    own = os.getpid()
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - see SIM105
    return [number for number in numbers if number > own or (last < own and number != own)]


def kill(group: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib would cost half of the start
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


if __name__ == "__main__":
    sys.exit(main())
