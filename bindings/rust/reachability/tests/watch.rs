// SPDX-License-Identifier: MIT
//! The iterator, and single checks. The thread of each test enters a namespace of its own.

mod common;

use std::io;
use std::os::unix::io::{AsRawFd, RawFd};
use std::thread;
use std::time::Duration;

use common::{enter_namespace, holds_in_child, ip, ADD, DELETE};
use reachability::{
    Evidence, Flags, Flow, Interface, InterfaceType, Network, NextHop, Path, Reason, Target, Watch,
};

const TIME_LIMIT: Duration = Duration::from_secs(60);

fn next(watch: &mut Watch) -> reachability::Path {
    watch.wait(TIME_LIMIT).expect("no error").expect("a path in time")
}

#[test]
fn iterator_returns_the_current_path_and_each_change() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut seen = Vec::new();
    for path in Target::host("192.0.2.1").watch().unwrap().take(3) {
        seen.push(path.unwrap().is_reachable());
        if seen.len() < 3 {
            ip(if seen[seen.len() - 1] { DELETE } else { ADD });
        }
    }
    assert_eq!(seen, [true, false, true]);
}

#[test]
fn change_of_the_reason_is_a_change() {
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").watch().unwrap();
    assert_eq!(next(&mut watch).reason, Some(Reason::NoRoute));
    ip("route add blackhole default");
    assert_eq!(watch.wait(Duration::MAX).unwrap().unwrap().reason, Some(Reason::RouteBlackhole));
    assert_eq!(watch.wait(Duration::ZERO), Ok(None));
}

#[test]
fn event_loop_waits_for_the_descriptor() {
    #[repr(C)]
    struct PollDescriptor(RawFd, i16, i16);
    extern "C" {
        fn poll(descriptors: *mut PollDescriptor, count: u64, timeout: i32) -> i32;
    }
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").poll_watch().unwrap();
    assert!(!watch.next_change().unwrap().unwrap().is_reachable());
    assert_eq!(watch.next_change(), Ok(None));
    ip(ADD);
    let path = loop {
        let mut ready = PollDescriptor(watch.as_raw_fd(), 1, 0);
        assert_eq!(unsafe { poll(&mut ready, 1, 60_000) }, 1);
        if let Some(path) = watch.next_change().unwrap() {
            break path;
        }
    };
    assert!(path.is_reachable());
}

#[test]
fn watch_moves_to_another_thread() {
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").watch().unwrap();
    ip(ADD);
    let thread = thread::spawn(move || loop {
        if next(&mut watch).is_reachable() {
            return watch;
        }
    });
    assert_eq!(thread.join().unwrap().addresses(), ["192.0.2.1".parse::<std::net::IpAddr>().unwrap()]);
}

#[test]
fn watch_of_the_parent_is_refused_in_a_child() {
    const ECHILD: i32 = 10;
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").watch().unwrap();
    assert!(!next(&mut watch).is_reachable());
    assert!(holds_in_child(|| {
        let errors =
            [watch.next_change().unwrap_err(), watch.wait(TIME_LIMIT).unwrap_err(), watch.next().unwrap().unwrap_err()];
        errors.iter().all(|error| error.raw_os_error() == Some(ECHILD)) && watch.next().is_none()
    }));
    ip(ADD);
    assert!(next(&mut watch).is_reachable());
}

#[test]
fn check_gets_interface_gateway_and_source() {
    let _namespace = enter_namespace();
    assert!(!Target::default_path().check().unwrap().is_reachable());
    ip(ADD);
    let path = Target::host("192.0.2.1").check().unwrap();
    assert_eq!(path.to_string(), "reachable dev e0 via 10.0.0.1 src 10.0.0.2");
    assert_eq!(path.interface.unwrap().interface_type, InterfaceType::Virtual);
    assert!(Target::default_path().check().unwrap().is_reachable());
    assert!(Target::default_path().interface("e0").check().unwrap().is_reachable());
}

#[test]
fn rules_and_text_of_a_path_are_the_librarys() {
    let mut path = Path::reachable();
    path.interface = Some(Interface { name: "wlan0".into(), index: 3, interface_type: InterfaceType::WiFi });
    path.source = Some([10, 0, 0, 2].into());
    path.gateway = Some("fe80::1".parse().unwrap());
    path.evidence = Evidence::Socket;
    path.flow = Flow::SOURCE_FOREIGN;
    path.next_hop = NextHop::Failed;
    assert!(path.is_reachable() && !path.is_viable());
    let route = "reachable dev wlan0 type wifi via fe80::1 src 10.0.0.2";
    assert_eq!(path.to_string(), format!("{route}, foreign source, next hop failed, from a UDP socket"));
    let mut path = Path::reachable();
    path.flags |= Flags::CONNECTION_REQUIRED;
    assert!(!path.is_reachable());
    path.flags |= Flags::CONNECTION_ON_TRAFFIC;
    assert!(path.is_viable());
    path.reason = Some(Reason::NamePending);
    assert!(!path.is_reachable());
}

#[test]
fn source_and_interface_count() {
    let _namespace = enter_namespace();
    ip(ADD);
    let target = || Target::address([192, 0, 2, 1]);
    let reason = |target: Target| target.check().unwrap().reason;
    assert_eq!(reason(target().source([10, 0, 0, 2])), None);
    assert_eq!(reason(target().source([10, 0, 0, 3])), Some(Reason::LocalAddressNotAssigned));
    assert_eq!(reason(target().interface("e7")), Some(Reason::InterfaceMissing));
    assert_eq!(reason(target().mark(7)), None);
}

#[test]
fn only_addresses_of_the_family_count() {
    let _namespace = enter_namespace();
    ip(ADD);
    assert!(Target::default_path().ipv4_only().check().unwrap().is_reachable());
    assert_eq!(Target::default_path().ipv6_only().check().unwrap().reason, Some(Reason::NoRoute));
    let destination = |target: Target| target.check().unwrap().destination.unwrap().to_string();
    assert_eq!(destination(Target::host("localhost").ipv4_only()), "127.0.0.1");
    assert_eq!(destination(Target::host("localhost").ipv6_only()), "::1");
    for target in [Target::address([192, 0, 2, 1]).ipv6_only(), Target::host("::1").ipv4_only()] {
        assert_eq!(target.watch().unwrap_err().code(), 1002);
    }
}

#[test]
fn name_is_looked_up_while_it_is_watched() {
    let _namespace = enter_namespace();
    let pending = Target::host("name.invalid").check_within(Duration::ZERO).unwrap();
    assert_eq!((pending.reason, pending.to_string().as_str()), (Some(Reason::NamePending), "pending"));
    let mut watch = Target::host("name.invalid").watch().unwrap();
    let path = loop {
        let path = next(&mut watch);
        if path.reason != Some(Reason::NamePending) {
            break path;
        }
    };
    assert_eq!(path.flags, Flags::default());
    let path = Target::host("localhost").check().unwrap();
    assert_eq!(path.flags, Flags::REACHABLE | Flags::IS_LOCAL_ADDRESS | Flags::IS_DIRECT);
}

#[test]
fn error_has_the_code_and_its_text() {
    let _namespace = enter_namespace();
    for host in ["x".repeat(1025), String::new(), "a\0b".into()] {
        let error = Target::host(host).check().unwrap_err();
        assert_eq!((error.code(), error.raw_os_error()), (1002, None));
        assert!(!error.detail().is_empty());
        assert_eq!(error.to_string(), format!("Invalid argument: {}", error.detail()));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    }
    assert!(Target::host("example.com").source([127, 0, 0, 1]).watch().is_err());
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn descriptors_are_closed() {
    let _namespace = enter_namespace();
    let before = entries("/proc/self/fd");
    for _ in 0..10 {
        next(&mut Target::host("192.0.2.1").watch().unwrap());
        Target::host("192.0.2.1").poll_watch().unwrap().next_change().unwrap();
    }
    assert!(entries("/proc/self/fd") < before + 20);
}

#[test]
fn ten_thousand_watches_need_few_descriptors_and_one_thread() {
    let _namespace = enter_namespace();
    ip(ADD);
    let (descriptors, threads) = (entries("/proc/self/fd"), entries("/proc/self/task"));
    let mut watches: Vec<Watch> =
        (0..10_000u32).map(|number| Target::address((0xC000_0200 + number).to_be_bytes()).watch().unwrap()).collect();
    assert!(watches.iter_mut().all(|watch| next(watch).is_reachable()));
    assert!(entries("/proc/self/fd") < descriptors + 20);
    assert!(entries("/proc/self/task") <= threads + 1);
    ip(DELETE);
    assert!(!watches.iter_mut().any(|watch| next(watch).is_reachable()));
}

#[test]
fn another_thread_stops_the_iteration() {
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").watch().unwrap();
    let handle = watch.stop_handle();
    next(&mut watch);
    let thread = thread::spawn(move || watch.count());
    handle.stop();
    assert_eq!(thread.join().unwrap(), 0);
}

#[test]
fn stopped_watch_ends_at_once() {
    let _namespace = enter_namespace();
    let mut watch = Target::host("192.0.2.1").watch().unwrap();
    watch.stop_handle().stop();
    assert_eq!(watch.wait(TIME_LIMIT), Ok(None));
    assert!(watch.next().is_none());
}

#[test]
fn wait_ends_when_the_host_becomes_reachable() {
    let _namespace = enter_namespace();
    let target = Target::host("192.0.2.1");
    assert_eq!(target.wait_until_reachable(Duration::ZERO), Ok(None));
    assert_eq!(target.wait_until_reachable(Duration::from_millis(1)), Ok(None));
    let waits = thread::spawn(move || target.wait_until_reachable(TIME_LIMIT));
    ip(ADD);
    assert!(waits.join().unwrap().unwrap().unwrap().is_reachable());
}

#[test]
fn network_has_the_uplinks() {
    let _namespace = enter_namespace();
    assert!(reachability::network().unwrap().uplinks.is_empty());
    ip(ADD);
    let network = reachability::network().unwrap();
    assert!(network.ipv4.is_reachable() && !network.ipv6.is_reachable() && network.uplinks_are_complete);
    assert_eq!(network.uplinks.len(), 1);
    assert_eq!(network.uplinks[0].interface.name, "e0");
    assert_eq!(network.uplinks[0].ipv4.gateway, Some([10, 0, 0, 1].into()));
}

/// Before the first callback of the library, the uplinks may not be complete.
fn next_with_uplinks(watch: &mut Watch<Network>, count: usize) -> Network {
    let is_next = |network: &Network| network.uplinks_are_complete && network.uplinks.len() == count;
    watch.map(|network| network.expect("no error")).find(is_next).expect("it has not ended")
}

#[test]
fn watch_of_the_network_gets_the_current_one_and_each_change() {
    let _namespace = enter_namespace();
    ip(ADD);
    ip("link add e1 link e0 type macvlan");
    ip("addr add 10.0.1.2/24 dev e1");
    ip("link set e1 up");
    let mut watch = reachability::watch_network().unwrap();
    let network = next_with_uplinks(&mut watch, 1);
    assert!(network.uplinks[0].interface.name == "e0" && network.ipv4_loopback_flags.contains(Flags::REACHABLE));
    ip("route add default via 10.0.1.1 metric 10");
    let network = next_with_uplinks(&mut watch, 2);
    assert_eq!((network.uplinks[1].interface.name.as_str(), network.uplinks[1].ipv4.metric), ("e1", 10));
    assert!(!network.uplinks[0].leads_out && network.uplinks[1].leads_out);
    assert_eq!(watch.network(), Ok(network));
    ip("route flush exact default");
    assert_eq!(next_with_uplinks(&mut watch, 0).ipv4.reason, Some(Reason::NoRoute));
    ip(ADD);
    next_with_uplinks(&mut watch, 1);
    watch.stop_handle().stop();
    assert!(watch.next().is_none());
}

#[test]
fn unknown_values_of_a_later_library_are_kept() {
    assert_eq!((u32::from(Reason::from(77)), Reason::from(77)), (77, Reason::Unrecognized(77)));
    let flags = Flags::from_bits(1 << 30 | 1 << 1);
    assert!(flags.bits() == 1 << 30 | 1 << 1 && flags.intersects(Flags::IS_WWAN | Flags::REACHABLE));
    assert!(!flags.contains(Flags::IS_WWAN | Flags::REACHABLE) && !flags.is_empty() && Flags::default().is_empty());
    assert_eq!(Reason::from(77).to_string(), "unknown reason");
    assert_eq!((Flags::REACHABLE | Flags::from_bits(1 << 30)).to_string(), "Reachable,0x40000000");
    assert_eq!(reachability::library_version().matches('.').count(), 2);
}
