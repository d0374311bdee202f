// SPDX-License-Identifier: MIT
//! Ports, connected sockets, and the next hop.

mod common;

use std::net::UdpSocket;
use std::time::Duration;

use common::{block_on, enter_namespace, ip, ADD};
use reachability::{Flow, NextHop, Reason, SocketTarget, Target, Transport, Watch};

const TIME_LIMIT: Duration = Duration::from_secs(60);

fn next(watch: &mut Watch) -> reachability::Path {
    watch.wait(TIME_LIMIT).expect("no error").expect("a path in time")
}

fn connect() -> UdpSocket {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("192.0.2.1:4500").unwrap();
    socket
}

#[test]
fn connection_behind_a_better_route_is_not_viable() {
    let _namespace = enter_namespace();
    ip(ADD);
    ip("link add e1 type ifb");
    ip("addr add 10.0.1.2/24 dev e1");
    ip("link set e1 up");
    let connection = connect();
    let mut watch = SocketTarget::new(&connection).watch().unwrap();
    let mut paths = SocketTarget::new(&connection).stream().unwrap();
    let path = next(&mut watch);
    assert!(path.is_viable() && path.flow == Flow::default() && path.source == Some([10, 0, 0, 2].into()));
    assert_eq!(block_on(paths.next()).unwrap().unwrap().flow, Flow::default());
    ip("route add 192.0.2.0/24 via 10.0.1.1");
    let path = next(&mut watch);
    assert_eq!(path.flow, Flow::BETTER_PATH | Flow::SOURCE_FOREIGN);
    assert!(path.is_reachable() && !path.is_viable());
    assert_eq!(path.interface.unwrap().name, "e1");
    assert!(!block_on(paths.next()).unwrap().unwrap().is_viable());
    ip("route del 192.0.2.0/24");
    assert!(next(&mut watch).is_viable());
}

#[test]
fn connection_without_its_source_is_not_viable() {
    let _namespace = enter_namespace();
    ip(ADD);
    let connection = connect();
    let mut watch = SocketTarget::new(&connection).watch().unwrap();
    assert!(next(&mut watch).is_viable());
    ip("addr del 10.0.0.2/24 dev e0");
    assert_eq!(next(&mut watch).reason, Some(Reason::LocalAddressNotAssigned));
    assert!(!SocketTarget::new(&connection).check().unwrap().is_viable());
    drop(connection); // the watch does not need it
    ip("addr add 10.0.0.2/24 dev e0");
    ip(ADD);
    while !next(&mut watch).is_viable() {}
}

#[test]
fn socket_that_is_not_connected_is_refused() {
    const ENOTCONN: i32 = 107;
    let _namespace = enter_namespace();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let errors = [
        SocketTarget::new(&socket).check().unwrap_err(),
        SocketTarget::new(&socket).watch().unwrap_err(),
        SocketTarget::new(&socket).poll_watch().unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.raw_os_error() == Some(ENOTCONN)));
}

#[test]
fn rule_for_a_port_counts_for_that_port() {
    let _namespace = enter_namespace();
    ip(ADD);
    ip("rule add ipproto tcp dport 443 prohibit");
    let targets = || {
        [
            Target::host("192.0.2.1"),
            Target::address([192, 0, 2, 1]),
            Target::address([192, 0, 2, 1]).source([10, 0, 0, 2]),
        ]
    };
    for target in targets() {
        let reason = |transport, port| target.clone().port(transport, port).check().unwrap().reason;
        assert_eq!(reason(Transport::Tcp, 443), Some(Reason::RouteProhibited));
        assert_eq!(reason(Transport::Udp, 443), None);
        assert_eq!(reason(Transport::Tcp, 80), None);
        assert!(target.check().unwrap().flow.contains(Flow::INCOMPLETE));
    }
    let mut watch = Target::host("192.0.2.1").port(Transport::Tcp, 443).watch().unwrap();
    assert!(!next(&mut watch).is_reachable());
    ip("rule del ipproto tcp dport 443 prohibit");
    assert!(next(&mut watch).is_reachable());
    ip("rule add tos 0x10 blackhole");
    assert_eq!(Target::host("192.0.2.1").traffic_class(0x10).check().unwrap().reason, Some(Reason::RouteBlackhole));
    assert!(Target::host("192.0.2.1").traffic_class(0x08).check().unwrap().is_reachable());
}

#[test]
fn gateway_that_does_not_respond_is_reported() {
    let _namespace = enter_namespace();
    ip("link add v0 type veth peer name v1"); // the other end never responds
    ip("link set v0 up");
    ip("link set v1 up");
    ip("addr add 10.9.0.2/24 dev v0");
    std::fs::write("/proc/sys/net/ipv4/neigh/v0/retrans_time_ms", "10").unwrap();
    std::fs::write("/proc/sys/net/ipv4/neigh/v0/mcast_solicit", "1").unwrap();
    ip("route add 192.0.2.0/24 via 10.9.0.1");
    let mut watch = Target::host("192.0.2.1").next_hop().watch().unwrap();
    let mut quiet = Target::host("192.0.2.1").watch().unwrap();
    assert_eq!(next(&mut watch).next_hop, NextHop::Unknown);
    assert!(next(&mut quiet).is_viable());
    UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"x", "192.0.2.1:9").unwrap();
    let path = next(&mut watch);
    assert_eq!(path.next_hop, NextHop::Failed);
    assert!(path.is_viable() && path.to_string().ends_with(", next hop failed"));
    assert_eq!(quiet.next_change(), Ok(None));
    ip("neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev v0 nud permanent");
    assert_eq!(next(&mut watch).next_hop, NextHop::Confirmed);
}
