#!/usr/bin/python3
"""What NetworkManager and the desktop portal know reaches the program, with python-dbusmock's on buses of their own.

    unshare -rn tests/network_manager.py FOLDER-OF-THE-MODULE
"""
import os
import subprocess
import sys
import time
import unittest

# GLib asks the portal outside of a sandbox, too, if there is one.
os.environ.update(GIO_MODULE_DIR=sys.argv.pop(1), GIO_USE_NETWORK_MONITOR="reachability", GTK_USE_PORTAL="1")

import dbus  # noqa: E402
import dbusmock  # noqa: E402
import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME, PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
PORTAL_NAME, PORTAL_PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
PORTAL_INTERFACE = "org.freedesktop.portal.NetworkMonitor"
PORTAL, LIMITED, FULL = 2, 3, 4  # NMConnectivityState
DISCONNECTED, SITE, GLOBAL = 20, 60, 70  # NMState
YES, NO = 1, 2  # NMMetered
TIME_LIMIT = 30  # seconds
Connectivity = Gio.NetworkConnectivity


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


class Daemon(dbusmock.DBusTestCase):
    """NetworkManager, as far as a GNetworkMonitor asks it."""

    def __init__(self, bus):
        super().__init__()
        self.process, _ = self.spawn_server_template("networkmanager", {}, stdout=subprocess.DEVNULL)
        self.mock = dbus.Interface(bus.get_object(NAME, PATH), dbusmock.MOCK_IFACE)
        self.mock.AddProperty(NAME, "Metered", dbus.UInt32(NO))

    def set(self, **properties):
        """Changes properties, and emits one signal for all."""
        self.mock.UpdateProperties(NAME, {name: dbus.UInt32(value) for name, value in properties.items()})

    def stop(self):
        self.process.terminate()
        self.process.wait()


class NetworkManager(dbusmock.DBusTestCase):
    @classmethod
    def setUpClass(cls):
        cls.start_system_bus()
        cls.start_session_bus()
        cls.bus = cls.get_dbus(system_bus=True)
        for bus in (Gio.BusType.SYSTEM, Gio.BusType.SESSION):
            Gio.bus_get_sync(bus, None).set_exit_on_close(False)
        ip("link", "add", "e0", "type", "veth", "peer", "name", "p0")
        for link in ("lo", "e0", "p0"):
            ip("link", "set", link, "up")
        ip("addr", "add", "192.0.2.2/24", "dev", "e0")

    def setUp(self):
        ip("route", "replace", "default", "via", "192.0.2.1")
        self.daemon = None
        self.events = []

    def tearDown(self):
        if self.daemon:
            self.daemon.stop()

    def start(self, **properties):
        self.daemon = Daemon(self.bus)
        if properties:
            self.daemon.set(**properties)

    def watch(self):
        """A new monitor. Its events are in self.events."""
        self.monitor = Gio.NetworkMonitor.get_default().__gtype__.pytype()
        self.monitor.init(None)
        self.monitor.connect("network-changed", lambda _, available: self.events.append(available))
        self.monitor.connect("notify", lambda _, property: self.events.append(property.name))

    def state(self):
        return (self.monitor.get_network_available(), self.monitor.get_connectivity(),
                self.monitor.get_network_metered())

    def expect(self, available, connectivity, metered, *events):
        """Runs the context until the events of this state have come."""
        deadline = time.monotonic() + TIME_LIMIT
        while len(self.events) < len(events) or self.state() != (available, connectivity, metered):
            self.assertLess(time.monotonic(), deadline, (self.state(), self.events))
            GLib.MainContext.default().iteration(False)
        self.assertEqual(self.state(), (available, connectivity, metered))
        self.assertEqual(self.events, list(events))
        self.events.clear()

    def test_it_is_this_monitor(self):
        self.watch()
        self.assertEqual(self.monitor.__gtype__.name, "ReachabilityNetworkMonitor")

    def test_glib_prefers_its_own_monitor_for_the_daemon(self):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("GIO_USE_NETWORK_MONITOR", "GTK_USE_PORTAL")}
        program = "from gi.repository import Gio; print(Gio.NetworkMonitor.get_default().__gtype__.name)"

        def default():
            return subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True,
                                  text=True).stdout.strip()
        self.assertEqual(default(), "ReachabilityNetworkMonitor")
        self.start()
        self.assertEqual(default(), "GNetworkMonitorNM")

    def test_without_the_daemon_nothing_is_known(self):
        self.watch()
        self.expect(True, Connectivity.FULL, False)

    def test_first_state_is_the_daemons(self):
        self.start(State=SITE, Connectivity=PORTAL)
        self.watch()
        self.expect(True, Connectivity.PORTAL, False)
        self.assertFalse(self.events)

    def test_portal_and_limited_arrive(self):
        self.start()
        self.watch()
        self.daemon.set(State=SITE, Connectivity=PORTAL)
        self.expect(True, Connectivity.PORTAL, False, "connectivity", True)
        self.daemon.set(Connectivity=LIMITED)
        self.expect(True, Connectivity.LIMITED, False, "connectivity", True)
        self.daemon.set(State=GLOBAL, Connectivity=FULL)
        self.expect(True, Connectivity.FULL, False, "connectivity", True)

    def test_metered_arrives_and_is_no_other_change(self):
        self.start()
        self.watch()
        self.daemon.set(Metered=YES)
        self.expect(True, Connectivity.FULL, True, "network-metered")
        self.daemon.set(Metered=NO)
        self.expect(True, Connectivity.FULL, False, "network-metered")

    def test_kernel_decides_what_is_available(self):
        self.start()
        self.watch()
        ip("route", "del", "default")
        self.expect(False, Connectivity.LOCAL, False, "network-available", "connectivity", False)
        ip("route", "add", "default", "via", "192.0.2.1")
        self.expect(True, Connectivity.FULL, False, "network-available", "connectivity", True)
        self.daemon.set(Metered=YES)
        self.expect(True, Connectivity.FULL, True, "network-metered")
        self.daemon.set(State=DISCONNECTED)  # it does not manage e0
        self.expect(True, Connectivity.FULL, False, "network-metered")

    def test_daemon_dies_and_comes_back(self):
        self.start(State=SITE, Connectivity=PORTAL)
        self.watch()
        self.expect(True, Connectivity.PORTAL, False)
        self.daemon.stop()
        self.expect(True, Connectivity.FULL, False, "connectivity", True)
        self.start(State=GLOBAL, Connectivity=FULL, Metered=YES)
        self.expect(True, Connectivity.FULL, True, "network-metered")
        self.daemon.set(State=SITE, Connectivity=LIMITED)
        self.expect(True, Connectivity.LIMITED, False, "network-metered", "connectivity", True)

    def test_portal_is_asked_in_a_sandbox(self):
        self.start(Metered=YES)  # the portal comes first
        portal = self.spawn_server(PORTAL_NAME, PORTAL_PATH, PORTAL_INTERFACE, stdout=subprocess.DEVNULL)
        self.addCleanup(portal.wait)
        self.addCleanup(portal.terminate)
        mock = dbus.Interface(self.get_dbus(system_bus=False).get_object(PORTAL_NAME, PORTAL_PATH), dbusmock.MOCK_IFACE)
        status = ("ret = dbus.Dictionary({'available': dbus.Boolean(False), 'metered': dbus.Boolean(%s),"
                  " 'connectivity': dbus.UInt32(%d)}, signature='sv')")
        mock.AddMethod(PORTAL_INTERFACE, "GetStatus", "", "a{sv}", status % (False, Connectivity.PORTAL))
        self.watch()
        self.expect(True, Connectivity.PORTAL, False, "connectivity", True)
        mock.AddMethod(PORTAL_INTERFACE, "GetStatus", "", "a{sv}", status % (True, Connectivity.LIMITED))
        mock.EmitSignal(PORTAL_INTERFACE, "changed", "", [])
        self.expect(True, Connectivity.LIMITED, True, "network-metered", "connectivity", True)
        mock.AddMethod(PORTAL_INTERFACE, "GetStatus", "", "a{sv}", status % (True, Connectivity.LOCAL))
        mock.EmitSignal(PORTAL_INTERFACE, "changed", "", [])
        self.expect(True, Connectivity.FULL, True, "connectivity", True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
