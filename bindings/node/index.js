// SPDX-License-Identifier: MIT
'use strict';

const { isIP } = require('node:net');
const { getSystemErrorName } = require('node:util');
const addon = require('./build/reachability.node');

// Apple's bits.
const Flags = Object.freeze({
  transientConnection: 1 << 0,
  reachable: 1 << 1,
  connectionRequired: 1 << 2,
  connectionOnTraffic: 1 << 3,
  isLocalAddress: 1 << 16,
  isDirect: 1 << 17,
  isWWAN: 1 << 18,
});

const Flow = Object.freeze({ betterPath: 1 << 0, sourceForeign: 1 << 1, incomplete: 1 << 2 });

// By their values. A later version of the library may add some.
const reasons = Object.freeze([
  'none', 'noRoute', 'routeUnreachable', 'routeProhibited', 'routeBlackhole', 'interfaceDown', 'noCarrier',
  'noSourceAddress', 'localAddressNotAssigned', 'namePending', 'nameNotFound', 'nameServerFailure',
  'nameServerUnreachable', 'interfaceMissing',
]);
const interfaceTypes = Object.freeze([
  'other', 'loopback', 'wiredEthernet', 'wiFi', 'cellular', 'pointToPoint', 'tunnel', 'virtual',
]);
const nextHops = Object.freeze(['unknown', 'confirmed', 'unconfirmed', 'failed']);
const evidences = Object.freeze(['kernel', 'socket']);

const nameOf = (names, value) => names[value] ?? `unknown(${value})`;

// kSCStatus...: what SCError() returns besides errnos.
const statuses = { 1001: 'FAILED', 1002: 'INVALID_ARGUMENT', 1003: 'ACCESS_ERROR', 4001: 'REACHABILITY_UNKNOWN' };

/** A call of the library. Its error gets a code: that of Node for an errno, otherwise "SC_...". */
function call(name, ...values) {
  try {
    return addon[name](...values);
  } catch (error) {
    if (error.errno !== undefined) {
      error.code = error.errno < 1000 ? getSystemErrorName(-error.errno) : `SC_${statuses[error.errno] ?? error.errno}`;
    }
    throw error;
  }
}

const interfaceFrom = (raw) => (raw.interfaceIndex === 0 ? null : Object.freeze({
  name: raw.interfaceName,
  index: raw.interfaceIndex,
  type: nameOf(interfaceTypes, raw.interfaceType),
}));

/** The path as the user gets it. */
function pathFrom({ text, interfaceName, interfaceIndex, interfaceType, ...raw }) {
  const path = {
    ...raw,
    isReachable: raw.isReachable !== 0,
    isViable: raw.isViable !== 0,
    reason: nameOf(reasons, raw.reason),
    interface: interfaceFrom({ interfaceName, interfaceIndex, interfaceType }),
    evidence: nameOf(evidences, raw.evidence),
    nextHop: nameOf(nextHops, raw.nextHop),
  };
  return Object.freeze(Object.defineProperty(path, 'toString', { value: () => text }));
}

const defaultPathFrom = (raw) => Object.freeze({
  ...raw,
  isReachable: (raw.flags & Flags.reachable) !== 0,
  reason: nameOf(reasons, raw.reason),
});

const typesFrom = (bits) => Object.freeze([...Array(32).keys()].filter((number) => bits & (1 << number))
  .map((number) => nameOf(interfaceTypes, number)));

const uplinkFrom = (raw) => Object.freeze({
  interface: interfaceFrom(raw),
  leadsOut: raw.leadsOut !== 0,
  ipv4: defaultPathFrom(raw.ipv4),
  ipv6: defaultPathFrom(raw.ipv6),
  ipv4UnderlayTypes: typesFrom(raw.ipv4UnderlayTypes),
  ipv6UnderlayTypes: typesFrom(raw.ipv6UnderlayTypes),
});

// Milliseconds. A longer timer would end at once.
const longestTimer = 2 ** 31 - 1;

// What must change for a path to be news. That the next hop has failed counts only if the watch reports it. Nothing
// reports that it was confirmed.
function newsOf(path, reportsNextHop) {
  return JSON.stringify({ ...path, nextHop: reportsNextHop && path.nextHop === 'failed' });
}

// kSCNetworkReachabilityOption...
const notifyPath = 1;
const notifyNetwork = 2;
const notifyNextHop = 4;
const familyOptions = Object.freeze({ 0: 0, 4: 8, 6: 16 });
const transports = Object.freeze({ tcp: 6, udp: 17 });
const targetOptions = ['family', 'source', 'interface', 'mark', 'port', 'transport', 'trafficClass'];

function checkOptions(options, ...names) {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`unknown option: ${name}`);
  }
}

function checkNumber(name, value, bits) {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    throw new RangeError(`not a ${name} of ${bits} bits: ${value}`);
  }
}

/** Throws unless the value is null or an address. */
function checkAddress(value) {
  if (value != null && isIP(value) === 0) throw new TypeError(`not an address: ${value}`);
}

/** A target of the addon for what a user watches: a host, a script, or null for the default path. */
function createTarget(host, options) {
  const {
    family = 0, source = null, interface: device = null, mark = 0, port = 0, transport, trafficClass = 0,
    reportsNextHop = false,
  } = options;

  for (const text of host instanceof Script ? [device] : [host, device]) {
    if (text != null && (typeof text !== 'string' || text.includes('\0'))) throw new TypeError('not a string without NUL');
  }
  checkAddress(source);
  checkNumber('mark', mark, 32);
  checkNumber('port', port, 16);
  checkNumber('trafficClass', trafficClass, 8);
  if (![0, 4, 6].includes(family)) throw new TypeError(`not a family, 4 or 6: ${family}`);
  if (transport != null && !Object.hasOwn(transports, transport)) throw new TypeError(`unknown transport: ${transport}`);
  if (port !== 0 && transport == null) throw new TypeError('a port without a transport');
  if (host instanceof Script) return host.createTarget();
  const isName = host != null && source == null;
  if (!isName) checkAddress(host);
  return call('create', {
    name: isName ? host : null,
    source,
    address: isName ? null : host ?? (family === 6 || isIP(source) === 6 ? '::' : '0.0.0.0'),
    interface: device,
    mark,
    options: notifyPath | (reportsNextHop ? notifyNextHop : 0) | familyOptions[family],
    protocol: transport == null ? 0 : transports[transport],
    trafficClass,
    port,
  });
}

/**
 * A target for a connected net.Socket or tls.TLSSocket, by the properties that Node documents, or for a descriptor. Node
 * can set neither mark nor interface of its sockets.
 */
function createSocketTarget(socket) {
  if (Number.isInteger(socket)) return call('create', socket);
  const [source, address] = [socket?.localAddress, socket?.remoteAddress]
    .map((text) => (typeof text === 'string' ? text.replace(/^::ffff:(?=\d+\.)/i, '') : ''));
  if (!isIP(source) || !isIP(address)) throw new TypeError('not a connected socket');
  return call('create', { source, address, options: notifyPath, protocol: transports.tcp, port: socket.remotePort });
}

const scripts = new WeakMap(); // of scripted targets: the set of all open ones of the same script

/** Calls the function after each change, until close(). */
function open(target, changed) {
  call('watch', target, changed);
  scripts.get(target)?.add(target);
}

function close(target) {
  addon.unwatch(target);
  scripts.get(target)?.delete(target);
}

const scriptFields = [
  'flags', 'reason', 'interface', 'destination', 'source', 'gateway', 'mtu', 'table', 'evidence', 'flow', 'nextHop',
];

/** The path of a script, as the addon takes it. */
function rawFrom(path) {
  checkOptions(path, ...scriptFields);
  const { reason = 'none', interface: device = null, evidence = 'kernel', nextHop = 'unknown', ...others } = path;
  const valueOf = (names, name) => {
    if (!names.includes(name)) throw new TypeError(`unknown: ${name}`);
    return names.indexOf(name);
  };
  for (const name of ['destination', 'source', 'gateway']) checkAddress(path[name]);
  return {
    flags: reason === 'none' ? Flags.reachable : 0,
    ...others,
    reason: valueOf(reasons, reason),
    interfaceName: device?.name,
    interfaceIndex: device && (device.index ?? 1),
    interfaceType: device && valueOf(interfaceTypes, device.type ?? 'other'),
    evidence: valueOf(evidences, evidence),
    nextHop: valueOf(nextHops, nextHop),
  };
}

/** See index.d.ts. */
class Script {
  #raw;
  #targets = new Set();

  constructor(path = {}) {
    this.play(path);
  }

  play(path) {
    this.#raw = rawFrom(path);
    for (const target of this.#targets) call('play', target, this.#raw);
  }

  get watches() {
    return this.#targets.size;
  }

  createTarget() {
    const target = call('create');
    call('play', target, this.#raw);
    scripts.set(target, this.#targets);
    return target;
  }
}

/** null: it is not known yet. */
function lastPathOf(target) {
  const raw = call('lastPath', target);
  return raw === undefined ? null : pathFrom(raw);
}

const asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');

/** When a change is reported: when nothing has changed for the settle time, or after ten times as long. */
class Settling {
  #time;
  #limit = null;
  #latest = null;
  due = null; // by performance.now(); null: there is no change that is not reported

  constructor(time) {
    if (typeof time !== 'number' || !(time >= 0)) throw new RangeError(`not a number of milliseconds: settleTime ${time}`);
    this.#time = time;
  }

  /** Whether the newest value is reported now. `reported`: what was last; null: it is the first. */
  isNews(news, reported, now) {
    if (news !== reported) {
      if (this.due === null || news !== this.#latest) {
        this.#limit ??= now + 10 * this.#time;
        this.due = Math.min(now + this.#time, this.#limit);
      }
      this.#latest = news;
      if (reported !== null && now < this.due) return false;
    }
    this.due = this.#limit = null;
    return news !== reported;
  }
}

/** What watchSocket() gives to Watch instead of a host. */
class SocketTarget {
  constructor(socket) {
    this.target = createSocketTarget(socket);
  }
}

/** An asynchronous iterator of what `read` returns, while that is news. */
class Changes {
  #target;
  #read;
  #newsOf;
  #last = null; // what was news in the value that the user got last
  #waiting = []; // the functions of promises that wait for a value
  #isClosed = false;
  #signal;
  #owesReason = false; // no promise waited when the signal came: the next one gets its reason
  #onAbort = () => this.close();
  #settling;
  #timer = null; // for a change that has to settle
  #keepsAlive = true;

  constructor(target, signal, read, newsOf, settleTime = 0) {
    this.#settling = new Settling(settleTime);
    this.#target = target;
    this.#signal = signal;
    this.#read = read;
    this.#newsOf = newsOf;
    this.#signal?.throwIfAborted();
    open(this.#target, () => this.#settle());
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  ref() {
    call('keepAlive', this.#target, true);
    this.#keepsAlive = true;
    this.#timer?.ref();
    return this;
  }

  unref() {
    call('keepAlive', this.#target, false);
    this.#keepsAlive = false;
    this.#timer?.unref();
    return this;
  }

  async next() {
    if (this.#owesReason) {
      this.#owesReason = false;
      throw this.#signal.reason;
    }
    if (this.#isClosed) return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#settle();
    });
  }

  // Gives the value to the first promise, if it differs from the last one and has settled.
  #settle() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#waiting.length === 0) return;
    try {
      const value = this.#read(this.#target);
      if (value === null) return;
      const news = this.#newsOf(value);
      const now = performance.now();
      if (!this.#settling.isNews(news, this.#last, now)) {
        if (this.#settling.due !== null) this.#setTimer(this.#settling.due - now);
        return;
      }
      this.#last = news;
      this.#waiting.shift().resolve({ done: false, value });
    } catch (error) {
      this.#waiting.shift().reject(error);
    }
  }

  #setTimer(delay) {
    this.#timer = setTimeout(() => this.#settle(), Math.min(Math.ceil(delay), longestTimer));
    if (!this.#keepsAlive) this.#timer.unref();
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    close(this.#target);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#owesReason = this.#waiting.length === 0 && Boolean(this.#signal?.aborted);
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (this.#signal?.aborted) reject(this.#signal.reason);
      else resolve({ done: true, value: undefined });
    }
  }

  async return(value) {
    this.close();
    this.#owesReason = false;
    return { done: true, value };
  }

  async [asyncDispose]() {
    await this.return();
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

/** See index.d.ts. */
class Watch extends Changes {
  #target;

  constructor(host, options = {}) {
    checkOptions(options, ...(host instanceof SocketTarget ? [] : [...targetOptions, 'reportsNextHop', 'settleTime']), 'signal');
    const target = host instanceof SocketTarget ? host.target : createTarget(host, options);
    const reportsNextHop = Boolean(options.reportsNextHop);
    super(target, options.signal, lastPathOf, (path) => newsOf(path, reportsNextHop), options.settleTime);
    this.#target = target;
  }

  get path() {
    return lastPathOf(this.#target);
  }

  get addresses() {
    return call('addresses', this.#target);
  }

  async describe() {
    return call('describe', this.#target);
  }
}

function watch(host, options) {
  return new Watch(host, options);
}

const watchSocket = (socket, options) => new Watch(new SocketTarget(socket), options);

/** The first value of a watch, which it closes. */
async function firstOf(watched) {
  for await (const value of watched) return value;
}

const checkSocket = async (socket) => firstOf(watchSocket(socket));

/** The first path that meets the condition. If it does not come in time, the newest. */
async function follow(host, { timeout, ...options }, condition) {
  checkOptions(options, ...targetOptions, 'signal');
  if (typeof timeout !== 'number' || Number.isNaN(timeout)) throw new TypeError(`not a number: timeout ${timeout}`);
  const end = performance.now() + timeout;
  const watched = watch(host, options);
  let last;
  let timer;
  try {
    for await (const path of watched) {
      last = path;
      const left = end - performance.now();
      if (condition(path) || left <= 0) break;
      if (left < Infinity) timer ??= setTimeout(() => watched.close(), Math.min(left, longestTimer));
    }
  } finally {
    clearTimeout(timer);
  }
  return last;
}

const check = async (host, { timeout = 5000, ...options } = {}) =>
  follow(host, { timeout, ...options }, (path) => path.reason !== 'namePending');

async function waitUntilReachable(host, { timeout = Infinity, ...options } = {}) {
  const path = await follow(host, { timeout, ...options }, (now) => now.isReachable);
  return path.isReachable ? path : null;
}

const wakes = Object.freeze([null, 'time', 'reachable', 'path']);

/** The sleep of a loop that tries again and again: see index.d.ts. The library decides what ends it. */
class RetryTimer {
  #target;
  #jitter;
  #sleeper = null; // the functions of the promise of sleep()
  #end = Infinity;
  #timeout;
  #isClosed = false;

  constructor(host, { jitter = 0, minInterval = 1000, ...options } = {}) {
    checkOptions(options, ...targetOptions);
    for (const [name, value] of Object.entries({ jitter, minInterval })) {
      if (!(value >= 0)) throw new RangeError(`not milliseconds: ${name} ${value}`);
    }
    this.#jitter = jitter;
    this.#target = createTarget(host, options);
    call('setRetry', this.#target, minInterval, this.#delay(), host == null || isIP(host) !== 0);
    open(this.#target, () => this.#wakeIfDue());
    call('keepAlive', this.#target, false); // the timer of sleep() does
  }

  #delay() {
    return Math.random() * this.#jitter;
  }

  // Ends the sleep, or sets the timer to the next moment that can end it.
  #wakeIfDue() {
    if (this.#sleeper === null) return;
    try {
      const left = this.#end - performance.now();
      const { wake, left: untilChange } = call('take', this.#target, left, this.#delay());
      if (wake !== 0) {
        this.#settle('resolve', wakes[wake]);
        return;
      }
      clearTimeout(this.#timeout);
      const delay = Math.ceil(Math.min(left, untilChange)); // a timer of Node may fire a part of a millisecond early
      this.#timeout = setTimeout(() => this.#wakeIfDue(), Math.min(delay, longestTimer));
    } catch (error) {
      this.#settle('reject', error);
    }
  }

  #settle(how, value) {
    clearTimeout(this.#timeout);
    const sleeper = this.#sleeper;
    this.#sleeper = null;
    sleeper?.[how](value);
  }

  async sleep(milliseconds, { signal, ...others } = {}) {
    checkOptions(others);
    if (!(milliseconds >= 0)) throw new RangeError(`not milliseconds: ${milliseconds}`);
    if (this.#sleeper !== null) throw new Error('another sleep of this timer has not ended');
    if (this.#isClosed) throw new Error('the timer is closed');
    signal?.throwIfAborted();
    const onAbort = () => this.#settle('reject', signal.reason);
    try {
      return await new Promise((resolve, reject) => {
        this.#sleeper = { resolve, reject };
        this.#end = performance.now() + milliseconds;
        signal?.addEventListener('abort', onAbort, { once: true });
        this.#wakeIfDue();
      });
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    close(this.#target);
    this.#settle('reject', new Error('the timer is closed'));
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.close();
  }
}

const createNetworkTarget = () => call('create', { address: '0.0.0.0', options: notifyNetwork });

/** null: it is not known yet. */
function networkOf(target) {
  const raw = call('network', target);
  return raw === undefined ? null : Object.freeze({
    ...raw,
    ipv4: defaultPathFrom(raw.ipv4),
    ipv6: defaultPathFrom(raw.ipv6),
    uplinks: Object.freeze(raw.uplinks.map(uplinkFrom)),
    uplinksAreComplete: raw.uplinksAreComplete !== 0,
    nameServers: Object.freeze(raw.nameServers),
    nameServerIsReachable: raw.nameServerIsReachable !== 0,
    evidence: nameOf(evidences, raw.evidence),
  });
}

/** See index.d.ts. */
class NetworkWatch extends Changes {
  #target;

  constructor(options = {}) {
    checkOptions(options, 'signal');
    const target = createNetworkTarget();
    super(target, options.signal, networkOf, JSON.stringify);
    this.#target = target;
  }

  get network() {
    return networkOf(this.#target);
  }
}

const watchNetwork = (options) => new NetworkWatch(options);

const network = async () => firstOf(watchNetwork());

module.exports = {
  Flags, Flow, NetworkWatch, RetryTimer, Script, Watch, check, checkSocket, libraryVersion: addon.version, network,
  waitUntilReachable, watch, watchNetwork, watchSocket,
};
