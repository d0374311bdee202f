// SPDX-License-Identifier: MIT
'use strict';

const { isIP } = require('node:net');
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

/** The path as the user gets it. */
function pathFrom(raw) {
  const reason = nameOf(reasons, raw.reason);
  return Object.freeze({
    isReachable: (raw.flags & Flags.reachable) !== 0 && reason !== 'namePending',
    flags: raw.flags,
    flagsText: raw.flagsText,
    reason,
    reasonText: raw.reasonText,
    interface: raw.interfaceIndex === 0 ? null : Object.freeze({
      name: raw.interfaceName,
      index: raw.interfaceIndex,
      type: nameOf(interfaceTypes, raw.interfaceType),
    }),
    destination: raw.destination,
    source: raw.source,
    gateway: raw.gateway,
    mtu: raw.mtu,
    table: raw.table,
    evidence: nameOf(evidences, raw.evidence),
  });
}

// Milliseconds. A longer timer would end at once.
const longestTimer = 2 ** 31 - 1;

function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function createTarget(host, { source, interface: device, mark = 0 } = {}) {
  for (const text of [host, source, device]) {
    if (text == null) continue;
    if (typeof text !== 'string' || text.includes('\0')) throw new TypeError('not a string without NUL');
  }
  if (host != null && source == null) return addon.create(host, null, null, device ?? null, mark);
  const address = host ?? (source != null && isIP(source) === 6 ? '::' : '0.0.0.0');
  return addon.create(null, source ?? null, address, device ?? null, mark);
}

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
    this.#target = createTarget(host, options);
    this.#signal = options.signal;
    this.#signal?.throwIfAborted();
    addon.watch(this.#target, () => this.#settle());
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get path() {
    return pathFrom(addon.path(this.#target));
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
      const path = pathFrom(addon.lastPath(this.#target));
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

  [Symbol.asyncIterator]() {
    return this;
  }
}

function watch(host, options) {
  return new Watch(host, options);
}

async function check(host, { timeout = 5000, ...options } = {}) {
  const now = pathFrom(addon.path(createTarget(host, options)));
  if (now.reason !== 'namePending') return now;
  const watched = watch(host, options);
  const timer = setTimeout(() => watched.close(), Math.min(timeout, longestTimer));
  let last = now;
  try {
    for await (const path of watched) {
      last = path;
      if (path.reason !== 'namePending') break;
    }
  } finally {
    clearTimeout(timer);
  }
  return last;
}

module.exports = { Flags, Watch, check, libraryVersion: addon.version, watch };
