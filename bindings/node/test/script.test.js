// SPDX-License-Identifier: MIT
// Script: paths that a test gives. These tests need no network namespace, and change nothing.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Flags, Flow, RetryTimer, Script, check, waitUntilReachable, watch } = require('..');

const LONG = 600_000;
const next = async (paths) => (await paths.next()).value;

// Sets performance.now().
function withClock(context) {
  const { now } = performance;
  context.after(() => { performance.now = now; });
  return (time) => { performance.now = () => time; };
}

test('watch of a script gets its paths', async () => {
  const script = new Script();
  const paths = watch(script);
  assert.deepEqual({ ...(await next(paths)) }, {
    isReachable: true, isViable: true, flags: Flags.reachable, flagsText: 'Reachable', reason: 'none', reasonText: 'none',
    interface: null, destination: null, source: null, gateway: null, mtu: 0, table: 0, evidence: 'kernel', flow: 0,
    nextHop: 'unknown',
  });
  script.play({
    interface: { name: 'wlan0', index: 3, type: 'wiFi' }, destination: '2001:db8::1', source: '2001:db8::2',
    gateway: 'fe80::1', mtu: 1400, table: 254, flow: Flow.sourceForeign, nextHop: 'confirmed',
  });
  const path = await next(paths);
  assert.deepEqual([path.isReachable, path.isViable, path.gateway, path.mtu, path.nextHop], [true, false, 'fe80::1', 1400, 'confirmed']);
  assert.deepEqual(path.interface, { name: 'wlan0', index: 3, type: 'wiFi' });
  script.play({ reason: 'noCarrier' });
  script.play({ reason: 'noCarrier', interface: { name: 'eth0' } });
  const last = await next(paths);
  assert.deepEqual([last.isReachable, last.reason, `${last}`], [false, 'noCarrier', 'not reachable: no carrier dev eth0']);
  assert.deepEqual(paths.path, last);
  paths.close();
});

test('script counts its open watches', async () => {
  const script = new Script({ reason: 'namePending' });
  const paths = watch(script);
  const timer = new RetryTimer(script);
  assert.equal(script.watches, 2);
  paths.close();
  timer.close();
  assert.equal(script.watches, 0);
  assert.equal((await check(script, { timeout: 1 })).reason, 'namePending');
  const wait = waitUntilReachable(script);
  script.play({});
  assert.equal((await wait).isReachable, true);
  assert.equal(script.watches, 0);
});

test('watch that fails does not count', () => {
  const script = new Script();
  assert.throws(() => watch(script, { settleTime: -1 }), RangeError);
  assert.throws(() => watch(script, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.equal(script.watches, 0);
});

test('change of a script ends the sleep', async () => {
  const script = new Script({ interface: { name: 'eth0', index: 2 } });
  const timer = new RetryTimer(script, { minInterval: 0 });
  assert.equal(await timer.sleep(1), 'time');
  script.play({ interface: { name: 'wlan0', index: 3 } });
  assert.equal(await timer.sleep(LONG), 'path');
  script.play({ reason: 'noRoute' });
  assert.equal(await timer.sleep(1), 'time');
  const sleep = timer.sleep(LONG);
  script.play({ interface: { name: 'wlan0', index: 3 } });
  assert.equal(await sleep, 'reachable');
  timer.close();
});

// The loop does not go on between the two changes: the timer must not compare only what JavaScript has seen.
test('timer sees also the changes that come while the program is busy', async () => {
  const script = new Script();
  const timer = new RetryTimer(script);
  script.play({ reason: 'noRoute' });
  script.play({});
  assert.equal(await timer.sleep(LONG), 'reachable');
  timer.close();
});

test('changes that go on come after ten times the settle time', async (context) => {
  const setClock = withClock(context);
  const script = new Script();
  const settled = watch(script, { settleTime: LONG });
  const paths = watch(script);
  setClock(0);
  await Promise.all([next(settled), next(paths)]);
  let isSettled = false;
  const change = settled.next();
  change.then(() => { isSettled = true; });
  for (let count = 0; count < 10; count++) {
    setClock(count * LONG);
    script.play({ mtu: count + 1 });
    await next(paths);
    await new Promise(setImmediate);
    assert.equal(isSettled, false);
  }
  setClock(10 * LONG);
  script.play({ reason: 'noRoute' });
  assert.equal((await change).value.reason, 'noRoute');
  paths.close();
  settled.close();
});

test('bad path is refused', () => {
  for (const path of [{ isReachable: true }, { reason: 'x' }, { gateway: 'router' }, { interface: { type: 'x' } }]) {
    assert.throws(() => new Script(path), TypeError);
  }
  assert.throws(() => watch(new Script(), { mark: -1 }), RangeError);
});
