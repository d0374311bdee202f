// SPDX-License-Identifier: MIT
// Can a packet leave this machine for a host now, over which interface, and if not, why not? And when does that change?
//
// "Reachable" means that a packet to the host can leave this machine now. It does not mean that the host responds.

/** Apple's bits. */
export declare const Flags: {
  readonly transientConnection: number;
  readonly reachable: number;
  readonly connectionRequired: number;
  readonly connectionOnTraffic: number;
  readonly isLocalAddress: number;
  readonly isDirect: number;
  readonly isWWAN: number;
};

/** The bits of Path.flow. */
export declare const Flow: {
  /** A new connection, with no address bound, would leave over another interface. */
  readonly betterPath: number;
  /** Packets leave over an interface that does not have their source address: an established connection hangs. */
  readonly sourceForeign: number;
  /** A policy rule selects by what the watch does not say: transport, port, traffic class, or another user. */
  readonly incomplete: number;
};

/** Why a host is not reachable. "none": it is reachable. A later version of the library may add reasons. */
export type Reason =
  | 'none' | 'noRoute' | 'routeUnreachable' | 'routeProhibited' | 'routeBlackhole' | 'interfaceDown' | 'noCarrier'
  | 'noSourceAddress' | 'localAddressNotAssigned' | 'namePending' | 'nameNotFound' | 'nameServerFailure'
  | 'nameServerUnreachable' | 'interfaceMissing' | `unknown(${number})`;

/** The type of an interface. It depends on the device, never on the interface's name. */
export type InterfaceType =
  | 'other' | 'loopback' | 'wiredEthernet' | 'wiFi' | 'cellular' | 'pointToPoint' | 'tunnel' | 'virtual'
  | `unknown(${number})`;

/** What is known about the path to a host. */
export interface Path {
  /** Whether a packet can leave for the host now. False while its name is not resolved. */
  readonly isReachable: boolean;
  /** Whether packets can leave, and not with the address of another interface. If not, connect again. */
  readonly isViable: boolean;
  readonly flags: number;
  /** In the words of Apple's scutil: "Reachable,Directly Reachable Address". */
  readonly flagsText: string;
  readonly reason: Reason;
  readonly reasonText: string;
  /** The interface that packets leave over, or would leave over if the host is not reachable. */
  readonly interface: { readonly name: string; readonly index: number; readonly type: InterfaceType } | null;
  /** The evaluated address. null for the default path. */
  readonly destination: string | null;
  readonly source: string | null;
  /** null: on-link. */
  readonly gateway: string | null;
  /** Bytes. 0: unknown. */
  readonly mtu: number;
  /** The routing table of the route. 0: unknown. */
  readonly table: number;
  /** "socket": a sandbox denies rtnetlink. */
  readonly evidence: 'kernel' | 'socket' | `unknown(${number})`;
  /** What else is known about the packets: bits of Flow. */
  readonly flow: number;
  /** Whether the next hop responds, as the kernel knew it when the path was read: the gateway, or without one the host. */
  readonly nextHop: 'unknown' | 'confirmed' | 'unconfirmed' | 'failed' | `unknown(${number})`;
  /** A line in ip(8)'s words: "reachable dev eth0 via 10.0.0.1 src 10.0.0.2", "not reachable: no carrier dev eth0". */
  toString(): string;
}

export interface Options {
  /** Only addresses of this family count: of a name, of the host, or the default path of the family. 0: both count. */
  family?: 0 | 4 | 6;
  /** Only packets from this address count. The host must then be an address, or null. */
  source?: string | null;
  /** Only routes out of this interface count. */
  interface?: string | null;
  /** SO_MARK of the sockets that the program will use. */
  mark?: number;
  /** The packets of this transport to this port, as connect(2) decides. Policy rules can select by port. */
  port?: number;
  transport?: 'tcp' | 'udp' | null;
  /** IP_TOS or IPV6_TCLASS of the sockets. */
  trafficClass?: number;
}

export interface SignalOptions {
  /** Ends the iteration with the signal's reason. */
  signal?: { readonly aborted: boolean; readonly reason: unknown } | null;
}

export interface CheckOptions extends Options, SignalOptions {
  /** Milliseconds. */
  timeout?: number;
}

export interface WatchOptions extends Options, SignalOptions {
  /** A path comes also when the next hop fails, and when it responds again (false): see Path.nextHop. */
  reportsNextHop?: boolean;
  /**
   * Milliseconds. A change comes when nothing has changed for this time, or after ten times as long. One that is undone
   * meanwhile does not come.
   */
  settleTime?: number;
}

/** The way of packets of one family for which only a default route matches. */
export interface DefaultPath {
  readonly isReachable: boolean;
  readonly flags: number;
  readonly reason: Reason;
  /** 0: none, or not known. */
  readonly interfaceIndex: number;
  /** Of the default route. The kernel prefers the smaller. */
  readonly metric: number;
  readonly source: string | null;
  readonly gateway: string | null;
}

/** An interface that is up, has a carrier, and has a usable default path in one family or in both. */
export interface Uplink {
  readonly interface: { readonly name: string; readonly index: number; readonly type: InterfaceType };
  /** Whether it leads out of a container or a virtual machine: a veth, macvlan, or an interface above one of these. */
  readonly leadsOut: boolean;
  readonly ipv4: DefaultPath;
  readonly ipv6: DefaultPath;
  /** For a tunnel, the types of the interfaces that carry its packets, as far as the kernel shows. */
  readonly ipv4UnderlayTypes: readonly InterfaceType[];
  readonly ipv6UnderlayTypes: readonly InterfaceType[];
}

/** All default paths of a network namespace, and its name servers. */
export interface Network {
  /** The uplink that the kernel chooses. */
  readonly ipv4: DefaultPath;
  readonly ipv6: DefaultPath;
  /** Those of 127.0.0.1 and ::1. */
  readonly ipv4LoopbackFlags: number;
  readonly ipv6LoopbackFlags: number;
  /** First the kernel's choice for IPv4, then that for IPv6, then all others by metric. */
  readonly uplinks: readonly Uplink[];
  /** False: only the uplinks that the kernel chooses are known. */
  readonly uplinksAreComplete: boolean;
  /** At most three. */
  readonly nameServers: readonly string[];
  /** Whether a packet can leave for at least one. */
  readonly nameServerIsReachable: boolean;
  readonly evidence: 'kernel' | 'socket' | `unknown(${number})`;
}

/**
 * An error of the library. `errno` is the value of SCError(): an errno below 1000, or a kSCStatus... constant. `code` is its
 * name: "EMFILE", or "SC_INVALID_ARGUMENT". The message says which argument is wrong.
 */
export interface ReachabilityError extends Error {
  readonly errno: number;
  readonly code: string;
}

/**
 * Iterates over paths or networks: first the current one, then each that differs from the last. If several changes come while
 * the program is busy, it gets only the newest. An open watch keeps the process alive.
 */
declare class Changes<Value> implements AsyncIterableIterator<Value> {
  protected constructor();
  /** The open watch does not keep the process alive. */
  unref(): this;
  /** The opposite, which is the default. */
  ref(): this;
  next(): Promise<IteratorResult<Value, undefined>>;
  /** Ends the watch and its iteration. `break` does the same. */
  close(): void;
  return(): Promise<IteratorResult<Value, undefined>>;
  [Symbol.asyncIterator](): this;
  // Also [Symbol.asyncDispose](), for `await using`, which older versions of TypeScript do not know.
}

/** A name, an address, null for the default path, or a script in a test. */
export type Host = string | Script | null;

/** Iterates over the paths to a host. */
export declare class Watch extends Changes<Path> {
  constructor(host?: Host, options?: WatchOptions);
  /** The newest path that is known. null before the first one. */
  readonly path: Path | null;
  /**
   * The addresses of the host, of the newest look-up: a path of the iteration may be older. Empty while its name is not
   * resolved, and for the default path.
   */
  readonly addresses: readonly string[];
  /** All that is known about the target: a text for people and logs. */
  describe(): Promise<string>;
}

/** Iterates over the network. */
export declare class NetworkWatch extends Changes<Network> {
  constructor(options?: SignalOptions);
  /** The network as it was evaluated last. null before the first one, and after close(). */
  readonly network: Network | null;
}

/** Watches a host. Throws a ReachabilityError, or a TypeError if an address is not one. */
export declare function watch(host?: Host, options?: WatchOptions): Watch;

/** A connected net.Socket or tls.TLSSocket, or the descriptor of any connected socket. */
export type ConnectedSocket =
  number | { readonly localAddress?: string; readonly remoteAddress?: string; readonly remotePort?: number };

/**
 * Watches the packets of a connected socket.
 *
 *     for await (const path of watchSocket(socket).unref()) {
 *       if (!path.isViable) socket.destroy(); // the source address is gone, or foreign where packets leave
 *     }
 *
 * Path.flow says whether they leave as those of a new connection would. Nothing is said about the other end: no packet is
 * sent. The watch does not need the socket. Of a Node socket, its addresses and the remote port are read now: Node documents
 * no way to its descriptor. With a descriptor, also the local port, mark, interface, traffic class and owner. Throws a
 * TypeError if the socket is closed or not connected yet, and a ReachabilityError (ENOTCONN, ENOTSOCK, EBADF).
 */
export declare function watchSocket(socket: ConnectedSocket, options?: SignalOptions): Watch;

/** The path of the packets of a connected socket now. */
export declare function checkSocket(socket: ConnectedSocket): Promise<Path>;

/**
 * The path now. For a name, waits for the first result, at most `timeout` milliseconds (5000); then the reason is
 * "namePending". The time does not end the wait for a kernel that is busy, which usually takes microseconds: `signal` does.
 */
export declare function check(host?: Host, options?: CheckOptions): Promise<Path>;

/**
 * Waits until a packet can leave for the host, at most `timeout` milliseconds (Infinity). null: the time is over. As for
 * check(), it does not end the wait for a busy kernel. Reachable does not mean that the host responds: try to connect first,
 * and wait here if that fails.
 */
export declare function waitUntilReachable(host?: Host, options?: CheckOptions): Promise<Path | null>;

/** Why a sleep has ended. "path": packets leave over another interface or gateway, or from another source. */
export type Wake = 'time' | 'reachable' | 'path';

export interface RetryOptions extends Options {
  /**
   * A change ends the sleep after a random part of so many milliseconds (0). 250 is good for many clients of one server,
   * which must not come all at once.
   */
  jitter?: number;
  /** If changes go on, they end one sleep in so many milliseconds (1000). */
  minInterval?: number;
}

/**
 * The sleep between two attempts to connect, which ends early when an attempt has become worth while: the host becomes
 * reachable, or its path gets another interface, gateway or source while it is reachable.
 *
 *     const timer = new RetryTimer('db.internal');
 *     try {
 *       let pause = 1000;
 *       while (!(await connect())) { // the first attempt is always made
 *         const wake = await timer.sleep(pause, { signal });
 *         pause = wake === 'time' ? Math.min(pause * 2, 120_000) : 1000;
 *       }
 *     } finally {
 *       timer.close();
 *     }
 *
 * An unreachable host only means that the sleep lasts its time. What changes during the attempt ends the next sleep, at
 * once, also a loss that is over before the sleep begins. It does not see that the host itself comes back: that needs the
 * attempts. An open timer does not keep the process alive, a sleep does.
 */
export declare class RetryTimer {
  constructor(host?: Host, options?: RetryOptions);
  /** At most so many milliseconds. Rejects with the signal's reason, and if the timer is closed. */
  sleep(milliseconds: number, options?: SignalOptions): Promise<Wake>;
  close(): void;
  // Also [Symbol.dispose](), for `using`.
}

/** All default paths and name servers now. */
export declare function network(): Promise<Network>;

/** Watches all default paths and name servers. */
export declare function watchNetwork(options?: SignalOptions): NetworkWatch;

/** A path that a test makes. Without `reason` it is reachable: {}. `flags` follow from the reason if they are not given. */
export type ScriptPath = Partial<Pick<Path, 'flags' | 'reason' | 'destination' | 'source' | 'gateway' | 'mtu' | 'table'
  | 'evidence' | 'flow' | 'nextHop'>> & { interface?: { name: string; index?: number; type?: InterfaceType } | null };

/**
 * Supplies the paths of a program's tests, so that they need no network. It takes the place of a host, and the options of
 * the kernel's paths do not count.
 *
 *     const script = new Script({ reason: 'noCarrier' });
 *     const downloads = new Downloads(script); // it calls watch(host)
 *     script.play({ interface: { name: 'wlan0', type: 'wiFi' } });
 */
export declare class Script {
  /** The first path. */
  constructor(path?: ScriptPath);
  /** The next path. */
  play(path: ScriptPath): void;
  /** How many watches and timers are open. A test can check that the program has closed all. */
  readonly watches: number;
}

/** The version of the loaded library: "0.1.0". */
export declare const libraryVersion: string;

// Otherwise all that is declared here, such as Changes, would count as exported.
export {};
