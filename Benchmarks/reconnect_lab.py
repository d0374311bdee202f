"""Two network namespaces for Benchmarks/reconnect: a client's, and that of a switch with the gateway and the servers behind it.

    here (client) ---- veth ---- port | lan (bridge: switch, gateway, servers)

A carrier is lost as when the cable between client and switch is pulled: the gateway itself does not notice.
"""
import contextlib
import ctypes
import os
import pathlib
import select
import socket
import subprocess
import threading
import time

SERVER = {"4": "198.51.100.7", "6": "2001:db8:7::1"}
GATEWAY = {"4": "192.0.2.1", "6": "2001:db8::1"}
PREFIX = {"4": "192.0.2.{}/24", "6": "2001:db8::{}/64 nodad"}
CLONE_NEWNET = 0x40000000
RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR = 0x10, 0x100
PRIORITY = 10  # of SCHED_RR
starting = threading.Semaphore(os.cpu_count())  # a start needs a processor for some time
libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def hasten(process=None):
    """Real-time priority for all threads of a process, or for this thread. Without permission: none."""
    threads = os.listdir(f"/proc/{process}/task") if process else [0]
    with contextlib.suppress(PermissionError, ProcessLookupError, FileNotFoundError):
        for thread in map(int, threads):
            # What this program starts does not inherit it: a start needs much more time than a reply.
            os.sched_setscheduler(thread, os.SCHED_RR | (0 if process else os.SCHED_RESET_ON_FORK), os.sched_param(PRIORITY))


class Namespace:
    """A network namespace, and an ip(8) in it that waits for commands, so that its start takes no time."""

    def __init__(self):
        maker = threading.Thread(target=self._make)
        maker.start()
        maker.join()
        with self:
            self.batch = subprocess.Popen(["ip", "-force", "-batch", "-"], stdin=subprocess.PIPE, text=True)
        hasten(self.batch.pid)

    def _make(self):
        must(libc.unshare(CLONE_NEWNET))
        self.file = os.open("/proc/thread-self/ns/net", os.O_RDONLY)

    def __enter__(self):
        """Moves this thread into it: what it starts, and each socket."""
        self.before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        must(libc.setns(self.file, CLONE_NEWNET))

    def __exit__(self, *_):
        must(libc.setns(self.before, CLONE_NEWNET))
        os.close(self.before)

    def ip(self, *commands):
        with self:
            subprocess.run(["ip", "-batch", "-"], input="".join(f"{command}\n" for command in commands), text=True, check=True)

    def ip_now(self, *commands):
        self.batch.stdin.write("".join(f"{command}\n" for command in commands))
        self.batch.stdin.flush()

    def set(self, name, value):
        with self:
            pathlib.Path("/proc/sys/net", name).write_text(str(value))

    def listen(self, port):
        with self:
            return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.batch.stdin.close()
        self.batch.wait()
        os.close(self.file)


class Lab:
    def __init__(self, family, retrans=None):
        """retrans: milliseconds between two requests for the gateway's hardware address. The kernel has 1,000."""
        self.family = family
        self.here, self.there = Namespace(), Namespace()
        self.host = 2  # the last number of the client's address
        for namespace in (self.here, self.there):
            namespace.set("ipv6/conf/default/accept_dad", 0)
            namespace.ip("link set lo up")
        self.there.ip(
            "link add lan type bridge mcast_snooping 0",
            "link add other type veth peer name end",  # another port, so that the gateway keeps its carrier
            "link set other master lan", "link set other up", "link set end arp off up", "link set lan up",
            f"addr add {PREFIX[family].format(1)} dev lan", f"addr add {SERVER[family]} dev lo")
        with self.here:
            subprocess.run(["ip", "link", "add", "here", "type", "veth", "peer", "name", "port", "netns",
                            f"/proc/{os.getpid()}/fd/{self.there.file}"], check=True)
        self.there.ip("link set port master lan", "link set port up")
        if retrans:
            self.here.set(f"ipv{family}/neigh/here/retrans_time_ms", retrans)
        self.here.ip("link set here up", f"addr add {PREFIX[family].format(2)} dev here",
                     f"route add default via {GATEWAY[family]}")

    def begin_outage(self, kind):
        if kind == "route":
            self.here.ip(f"route del default via {GATEWAY[self.family]}")
        elif kind == "carrier":
            self.there.ip("link set port down")
        else:
            self.here.ip(f"addr del {PREFIX[self.family].format(self.host).split()[0]} dev here",
                         *([f"route del default via {GATEWAY['6']}"] if self.family == "6" else []))

    def _add_address(self, address):
        """Returns when the kernel reports it. An IPv6 address is not ready when ip(8) ends: a reply would be lost."""
        with self.here, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as changes:
            changes.bind((0, RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR))
            self.here.ip_now(f"addr add {address} dev here")
            changes.recv(4096)

    def end_outage(self, kind):
        """Returns the time of the command that gives the network back."""
        namespace, command = self.here, f"route add default via {GATEWAY[self.family]}"
        if kind == "carrier":
            namespace, command = self.there, "link set port up"
        elif kind == "address":
            self.host = self.host % 250 + 2  # never one that the servers still know
            self._add_address(PREFIX[self.family].format(self.host))
        time_of_command = time.monotonic_ns()
        namespace.ip_now(command)
        return time_of_command

    def run(self, kind, outage, command, time_limit, turn, environment):
        """Milliseconds from the end of the outage to the reply. -1: none."""
        self.begin_outage(kind)
        with starting:
            with self.here:
                client = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                          env=environment, bufsize=0)
            is_first = line_of(client, 300).startswith("first")
        try:
            if not is_first:
                raise RuntimeError(f"{command} did not begin")
            time.sleep(outage)
            hasten(client.pid)
            with turn:  # one outage at a time ends, so that clients do not wait for each other
                end = self.end_outage(kind)
                words = line_of(client, 0.1).split()
            words = words or line_of(client, time_limit).split()
            return (int(words[1]) - end) / 1e6 if words[:1] == ["done"] else -1
        finally:
            client.kill()
            client.wait()
            client.stdout.close()

    def close(self):
        self.here.close()
        self.there.close()


def line_of(process, seconds):
    """The next line that it prints. Empty: none in this time."""
    waiting = select.poll()
    waiting.register(process.stdout, select.POLLIN)
    return process.stdout.readline().decode() if waiting.poll(seconds * 1000) else ""
