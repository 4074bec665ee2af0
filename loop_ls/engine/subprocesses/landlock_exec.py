"""Sandboxed exec on Linux: take every right from this process but reading one folder, then become the program.

    python -I -S landlock_exec.py FOLDER PROGRAM [ARGUMENT...]

Run as a file by `landlock`, with nothing but the standard library. Landlock takes the rights on files (and,
on newer kernels, TCP and signals); one seccomp filter takes what Landlock does not know: sockets, tracing,
namespaces, signals, and changes of modes, owners, times and attributes. Both need no root and hold for all
children. Where a part cannot be put in force, nothing is started: the status is `NOT_FENCED`.
"""

import ctypes
import os
import platform
import struct
import sys

NOT_FENCED = 125

#: What programs are loaded from, besides their own file.
LIBRARIES = (
    *("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32"),
    *("/etc/ld.so.cache", "/nix/store", "/gnu/store"),
)

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READING = _READ | _LIST
#: Version of Landlock's interface -> how many rights on files it knows. All that it knows are taken.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446

#: System calls that are refused, with their numbers on x86_64 and aarch64 (None: there is none).
# fmt: off
_REFUSED: tuple[tuple[str, int | None, int | None], ...] = (
    ("socket", 41, 198), ("socketpair", 53, 199), ("io_uring_setup", 425, 425),
    ("ptrace", 101, 117), ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271),
    ("perf_event_open", 298, 241), ("bpf", 321, 280), ("userfaultfd", 323, 282),
    ("add_key", 248, 217), ("request_key", 249, 218), ("keyctl", 250, 219),
    ("unshare", 272, 97), ("setns", 308, 268), ("mount", 165, 40), ("umount2", 166, 39),
    ("open_tree", 428, 428), ("move_mount", 429, 429), ("fsopen", 430, 430), ("mount_setattr", 442, 442),
    ("kill", 62, 129), ("tkill", 200, 130), ("tgkill", 234, 131), ("rt_sigqueueinfo", 129, 138),
    ("rt_tgsigqueueinfo", 297, 240), ("pidfd_send_signal", 424, 424),
    ("truncate", 76, 45), ("ftruncate", 77, 46),  # Landlock knows them from its version 3 on only
    ("chmod", 90, None), ("fchmod", 91, 52), ("fchmodat", 268, 53), ("fchmodat2", 452, 452),
    ("chown", 92, None), ("fchown", 93, 55), ("lchown", 94, None), ("fchownat", 260, 54),
    ("utime", 132, None), ("utimes", 235, None), ("futimesat", 261, None), ("utimensat", 280, 88),
    ("setxattr", 188, 5), ("lsetxattr", 189, 6), ("fsetxattr", 190, 7), ("setxattrat", 463, 463),
    ("removexattr", 197, 14), ("lremovexattr", 198, 15), ("fremovexattr", 199, 16), ("removexattrat", 466, 466),
    ("file_setattr", 469, 469),
)
# fmt: on
#: Requests of `ioctl` that are refused: flags of files (two), and typing into a terminal.
_REFUSED_IOCTLS = (0x40086602, 0x401C5820, 0x5412)
#: Machine -> its column in `_REFUSED`, its name for the filter, and the numbers of `seccomp` and `ioctl`.
_MACHINES = {"x86_64": (1, 0xC000003E, 317, 16), "aarch64": (2, 0xC00000B7, 277, 29)}

_NO_NEW_PRIVS, _SET_FILTER = 38, 1
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refused: EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000


def landlock_version() -> int:
    """Of the running kernel; 0 where it offers none or the machine is unknown."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES or struct.calcsize("P") != 8:
        return 0
    try:
        return _system_call(_CREATE, None, 0, 1)
    except OSError:
        return 0


def filters_system_calls() -> bool:
    """Whether this kernel has seccomp."""
    return os.path.exists("/proc/sys/kernel/seccomp")  # noqa: PTH110 - pathlib would double the time of a start


def fence(folder: str, program: str, version: int) -> None:
    """From here on: reading below `folder`, and what `program` is loaded from. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _restrict_files(folder, program, version)
    _filter_system_calls()


def _system_call(number: int, *arguments: object) -> int:
    found: int = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return found


def _restrict_files(folder: str, program: str, version: int) -> None:
    if version < 1:
        raise OSError(95, "this kernel does not support Landlock")
    files = (1 << _RIGHTS[min(version, max(_RIGHTS))]) - 1
    network = 3 if version >= 4 else 0  # bind and connect of TCP
    scopes = 3 if version >= 6 else 0  # abstract unix sockets, signals
    attributes = struct.pack("=QQQ", files, network, scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = _system_call(_CREATE, attributes, len(attributes), 0)
    loaded = [(path, _READING | _EXECUTE) for path in (*LIBRARIES, program)]
    for path, rights in (*loaded, (folder, _READING), ("/dev/null", _READ | _WRITE)):
        if os.path.exists(path):  # noqa: PTH110 - see above
            _allow(rules, path, rights)
    _system_call(_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    there = os.open(path, os.O_PATH | os.O_CLOEXEC)
    given = rights if os.path.isdir(path) else rights & ~_LIST  # noqa: PTH112 - see above
    _system_call(_ADD_RULE, rules, 1, struct.pack("=Qi", given, there), 0)
    os.close(there)


def _filter_system_calls() -> None:
    column, machine, seccomp, ioctl = _MACHINES[platform.machine()]
    code = [_step(_LOAD, 4), _step(_EQUAL, machine, 1, 0), _step(_RETURN, _KILL), _step(_LOAD, 0)]
    if platform.machine() == "x86_64":  # the same calls by the numbers of x32
        code += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _REFUSE)]
    for call in _REFUSED:
        if isinstance(number := call[column], int):
            code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE)]
    code += [_step(_EQUAL, ioctl, 0, 1 + 2 * len(_REFUSED_IOCTLS)), _step(_LOAD, 24)]  # its second argument
    for request in _REFUSED_IOCTLS:
        code += [_step(_EQUAL, request, 0, 1), _step(_RETURN, _REFUSE)]
    code.append(_step(_RETURN, _ALLOW))
    program = ctypes.create_string_buffer(b"".join(code))
    _system_call(seccomp, _SET_FILTER, 0, struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))


def _step(operation: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, operand)


def main(words: list[str]) -> int:
    folder, program = words[:2]
    try:
        os.closerange(3, 4096)
        fence(folder, program, landlock_version())
    except OSError as error:
        sys.stderr.write(f"The sandbox cannot be activated: {error}.\n")
        return NOT_FENCED
    try:
        os.execv(program, words[1:])
    except OSError as error:
        sys.stderr.write(f"{program}: {error.strerror}\n")
    return 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
