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

// By their values. A later version of the library may add some.
const reasons = Object.freeze([
  'none', 'noRoute', 'routeUnreachable', 'routeProhibited', 'routeBlackhole', 'interfaceDown', 'noCarrier',
  'noSourceAddress', 'localAddressNotAssigned', 'namePending', 'nameNotFound', 'nameServerFailure',
  'nameServerUnreachable', 'interfaceMissing',
]);
const interfaceTypes = Object.freeze([
  'other', 'loopback', 'wiredEthernet', 'wiFi', 'cellular', 'pointToPoint', 'tunnel', 'virtual',
]);
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
function pathFrom(raw) {
  const reason = nameOf(reasons, raw.reason);
  const isPending = reason === 'namePending';
  return Object.freeze({
    isReachable: (raw.flags & Flags.reachable) !== 0 && !isPending,
    flags: raw.flags,
    flagsText: isPending ? 'Pending' : raw.flagsText,
    reason,
    reasonText: raw.reasonText,
    interface: interfaceFrom(raw),
    destination: raw.destination,
    source: raw.source,
    gateway: raw.gateway,
    mtu: raw.mtu,
    table: raw.table,
    evidence: nameOf(evidences, raw.evidence),
  });
}

const defaultPathFrom = (raw) => Object.freeze({
  isReachable: (raw.flags & Flags.reachable) !== 0,
  flags: raw.flags,
  reason: nameOf(reasons, raw.reason),
  interfaceIndex: raw.interfaceIndex,
  metric: raw.metric,
  source: raw.source,
  gateway: raw.gateway,
});

const typesFrom = (bits) => Object.freeze([...Array(32).keys()].filter((number) => bits & (1 << number))
  .map((number) => nameOf(interfaceTypes, number)));

const wayFrom = (raw) => Object.freeze({
  interface: interfaceFrom(raw),
  ipv4: defaultPathFrom(raw.ipv4),
  ipv6: defaultPathFrom(raw.ipv6),
  ipv4CarrierTypes: typesFrom(raw.ipv4CarrierTypes),
  ipv6CarrierTypes: typesFrom(raw.ipv6CarrierTypes),
});

// Milliseconds. A longer timer would end at once.
const longestTimer = 2 ** 31 - 1;

function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

const notifyPath = 1;
const notifyNetwork = 2;
const targetOptions = ['source', 'interface', 'mark'];

function checkOptions(options, ...names) {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`unknown option: ${name}`);
  }
}

function createTarget(host, { source, interface: device, mark = 0 }) {
  for (const text of [host, source, device]) {
    if (text == null) continue;
    if (typeof text !== 'string' || text.includes('\0')) throw new TypeError('not a string without NUL');
  }
  if (!Number.isInteger(mark) || mark < 0 || mark >= 2 ** 32) throw new RangeError(`not a mark of 32 bits: ${mark}`);
  const create = (...values) => call('create', ...values, device ?? null, mark, notifyPath);
  if (host != null && source == null) return create(host, null, null);
  return create(null, source ?? null, host ?? (source != null && isIP(source) === 6 ? '::' : '0.0.0.0'));
}

const asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');

/** An asynchronous iterator: see index.d.ts. */
class Watch {
  #target;
  #last = null; // the path that the user got last
  #waiting = []; // the functions of promises that wait for a path
  #isClosed = false;
  #signal;
  #owesReason = false; // no promise waited when the signal came: the next one gets its reason
  #onAbort = () => this.close();

  constructor(host, options = {}) {
    checkOptions(options, ...targetOptions, 'signal');
    this.#target = createTarget(host, options);
    this.#signal = options.signal;
    this.#signal?.throwIfAborted();
    call('watch', this.#target, () => this.#settle());
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get path() {
    return pathFrom(call('path', this.#target));
  }

  get addresses() {
    return call('addresses', this.#target);
  }

  get description() {
    return call('description', this.#target);
  }

  ref() {
    call('keepAlive', this.#target, true);
    return this;
  }

  unref() {
    call('keepAlive', this.#target, false);
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

  // Gives the path to the first promise, if it differs from the last one.
  #settle() {
    if (this.#waiting.length === 0) return;
    try {
      const path = pathFrom(call('lastPath', this.#target));
      if (isSame(path, this.#last)) return;
      this.#last = path;
      this.#waiting.shift().resolve({ done: false, value: path });
    } catch (error) {
      this.#waiting.shift().reject(error);
    }
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    addon.unwatch(this.#target);
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

function watch(host, options) {
  return new Watch(host, options);
}

/** The first path that meets the condition. If it does not come in time, the newest. */
async function follow(host, { timeout, ...options }, condition) {
  checkOptions(options, ...targetOptions, 'signal');
  if (typeof timeout !== 'number' || Number.isNaN(timeout)) throw new TypeError(`not a number: timeout ${timeout}`);
  options.signal?.throwIfAborted();
  let last = pathFrom(call('path', createTarget(host, options)));
  if (condition(last)) return last;
  const watched = watch(host, options);
  const timer = timeout < Infinity && setTimeout(() => watched.close(), Math.min(timeout, longestTimer));
  try {
    for await (const path of watched) {
      last = path;
      if (condition(path)) break;
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

function network() {
  const raw = call('network', call('create', null, null, '0.0.0.0', null, 0, notifyNetwork));
  return Object.freeze({
    ipv4: defaultPathFrom(raw.ipv4),
    ipv6: defaultPathFrom(raw.ipv6),
    ways: Object.freeze(raw.ways.map(wayFrom)),
    waysAreComplete: raw.waysAreComplete !== 0,
    nameServers: Object.freeze(raw.nameServers),
    nameServerIsReachable: raw.nameServerIsReachable !== 0,
    evidence: nameOf(evidences, raw.evidence),
  });
}

module.exports = { Flags, Watch, check, libraryVersion: addon.version, network, waitUntilReachable, watch };
