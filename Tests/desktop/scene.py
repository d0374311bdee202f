"""What the tests of desktop programs share: the module, a network namespace with a default route over e0, programs that print
a line for each state, and a table of what they print with GLib's own monitor and with the module.
"""
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIME_LIMIT = 60  # seconds, for a program to start, and for a line that must come
QUIET = 1  # seconds without a line, after which GLib's monitor is taken to be silent
INSIDE = "REACHABILITY_DESKTOP_INSIDE"
MONITORS = ("netlink", "reachability")
# A change, and whether the program is online after it.
STEPS = [
    ("link set p0 down", "carrier lost", False),
    ("link set p0 up", "carrier back", True),
    ("link set e0 down", "link down", False),
    ("link set e0 up\nroute add default via 192.0.2.1", "link up", True),
    ("route add 0.0.0.0/1 via 192.0.2.1\nroute add 128.0.0.0/1 via 192.0.2.1\nroute del default", "halves", True),
    ("route flush all", "no route", False),
]


def skip(reason):
    print("SKIP:", reason)
    sys.exit(77)


def ip(commands):
    subprocess.run(["ip", "-batch", "-"], input=commands + "\n", text=True, check=True)


def enter():
    """Runs this script again in a network namespace, with the module that `make test-desktop` has built."""
    if INSIDE in os.environ:
        return
    if not (ROOT / "build/gio/libgioreachability.so").exists():
        sys.exit("build/gio has no module: make test-desktop")
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/runtime", mode=0o700)
        environment = dict(os.environ, GIO_EXTRA_MODULES=str(ROOT / "build/gio"),
                           LD_LIBRARY_PATH=str(ROOT / "build"),
                           HOME=folder, XDG_RUNTIME_DIR=f"{folder}/runtime", NO_AT_BRIDGE="1",
                           DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
        environment[INSIDE] = folder
        # The services that a program starts end with the namespace of processes, and their mounts are gone.
        unshare = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--net", "--mount", "--pid", "--fork", "--kill-child",
                   "--mount-proc"]
        sys.exit(subprocess.run([*unshare, sys.executable, *sys.argv], env=environment).returncode)


def reset():
    """One default route over e0, whose cable ends at p0."""
    subprocess.run(["ip", "link", "del", "e0"], stderr=subprocess.DEVNULL)
    ip("link add e0 type veth peer name p0\nlink set lo up\nlink set e0 up\nlink set p0 up\n"
       "addr add 192.0.2.2/24 dev e0\nroute add default via 192.0.2.1")


class Program:
    """A program that prints `online` or `offline` at its start and after each change."""

    def __init__(self, command, monitor):
        environment = dict(os.environ, GIO_USE_NETWORK_MONITOR=monitor)
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def next(self, seconds):
        """The next line; None: there is none in this time."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            raise EOFError(f"{self.process.args}: it has ended with {self.process.wait()}")
        return line

    def settle(self, expected, seconds):
        """The last line until the expected one."""
        last = None
        while (line := self.next(seconds)) is not None:
            last = line
            if last == expected:
                break
        return last

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def observe(name, command, monitor):
    """Whether the program was right at each step, as a list; None: this program does not start here."""
    reset()
    program = Program(command, monitor)
    try:
        state = program.next(TIME_LIMIT)
        if state != "online":
            raise ValueError(f"{name} with {monitor}: {state} at the start")
        right = []
        for commands, _, online in STEPS:
            ip(commands)
            expected = "online" if online else "offline"
            if state != expected or monitor == "netlink":
                state = program.settle(expected, TIME_LIMIT if monitor == "reachability" else QUIET) or state
            right.append(state == expected)
        return right
    finally:
        program.end()


def compare(name, command):
    """Prints a row of the table for each monitor. The module must be right at each step."""
    print(f"| {name:22} | {'monitor':12} | " + " | ".join(f"{title:12}" for _, title, _ in STEPS) + " |")
    results = {}
    for monitor in MONITORS:
        results[monitor] = observe(name, command, monitor)
        words = " | ".join(f"{'right' if right else 'WRONG':12}" for right in results[monitor])
        print(f"| {name:22} | {monitor:12} | {words} |")
    return 0 if all(results["reachability"]) else 1
