// SPDX-License-Identifier: MIT
// RetryTimer. Run in a network namespace of its own: unshare -Urn node --test.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const os = require('node:os');
const { before, beforeEach, test } = require('node:test');
const { RetryTimer, watch } = require('..');

const FAR = '192.0.2.1';
const LONG = 600_000;
const ip = (command) => execFileSync('ip', command.split(' '));
const toggle = (verb) => ip(`route ${verb} default via 10.0.0.1`);

before(() => {
  const devices = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo');
  assert.deepEqual(devices, [], 'run this in a network namespace of its own: unshare -Urn node --test');
  for (const command of ['link add e0 type ifb', 'addr add 10.0.0.2/24 dev e0', 'link set lo up', 'link set e0 up']) {
    ip(command);
  }
});

beforeEach(() => {
  ip('route flush exact default');
  toggle('add');
});

async function withTimer(options, use) {
  const timer = new RetryTimer(FAR, options);
  try {
    return await use(timer);
  } finally {
    timer.close();
  }
}

test('time ends the sleep of a host that does not change, reachable or not', () => withTimer({}, async (timer) => {
  const begin = performance.now();
  assert.equal(await timer.sleep(20), 'time');
  toggle('del');
  assert.equal(await timer.sleep(20), 'time');
  assert.ok(performance.now() - begin >= 40);
}));

test('route that returns, and another gateway, end the sleep', async () => {
  toggle('del');
  await withTimer({ minInterval: 0 }, async (timer) => {
    assert.equal(await timer.sleep(20), 'time');
    const sleep = timer.sleep(LONG);
    toggle('add');
    assert.equal(await sleep, 'reachable');
    const next = timer.sleep(Infinity); // the timer has seen the first gateway
    ip('route replace default via 10.0.0.9');
    assert.equal(await next, 'path');
  });
});

test('change during the attempt ends the next sleep', async () => {
  toggle('del');
  await withTimer({}, async (timer) => {
    toggle('add');
    assert.equal(await timer.sleep(LONG), 'reachable');
    assert.equal(await timer.sleep(20), 'time');
  });
});

test('storm of flaps ends one sleep in each interval', () => withTimer({ minInterval: 100 }, async (timer) => {
  let verb = 'add';
  const flaps = setInterval(() => {
    verb = verb === 'add' ? 'del' : 'add';
    toggle(verb);
  }, 2);
  const begin = performance.now();
  let wakes = 0;
  while (performance.now() - begin < 1000) wakes += (await timer.sleep(LONG)) !== 'time';
  clearInterval(flaps);
  if (verb === 'del') toggle('add');
  assert.ok(wakes >= 1 && wakes <= (performance.now() - begin) / 100 + 1, `${wakes} wakes`);
}));

test('signal ends the sleep with its reason, and close with an error', async () => {
  const timer = new RetryTimer(FAR);
  const controller = new AbortController();
  const sleep = timer.sleep(LONG, { signal: controller.signal });
  await assert.rejects(timer.sleep(1), /has not ended/);
  controller.abort(new Error('enough'));
  await assert.rejects(sleep, /enough/);
  await assert.rejects(timer.sleep(LONG, { signal: controller.signal }), /enough/);
  assert.equal(await timer.sleep(1, { signal: new AbortController().signal }), 'time');
  const last = timer.sleep(LONG);
  timer.close();
  await assert.rejects(last, /closed/);
  await assert.rejects(timer.sleep(1), /closed/);
});

test('bad argument is refused', () => withTimer({}, async (timer) => {
  assert.throws(() => new RetryTimer(FAR, { jitter: -1 }), RangeError);
  assert.throws(() => new RetryTimer(FAR, { minInterval: NaN }), RangeError);
  assert.throws(() => new RetryTimer(FAR, { interval: 1 }), TypeError);
  await assert.rejects(timer.sleep(NaN), RangeError);
}));

test('ten thousand sleepers of one host wake up, jitter spreads them', async () => {
  toggle('del');
  const timers = Array.from({ length: 10_000 }, () => new RetryTimer(FAR));
  const last = watch(FAR);
  await last.next(); // the first paths of all have come
  last.close();
  const sleeps = timers.map((timer) => timer.sleep(LONG));
  toggle('add');
  assert.deepEqual(new Set(await Promise.all(sleeps)), new Set(['reachable']));
  timers.forEach((timer) => timer.close());

  toggle('del');
  const spread = Array.from({ length: 1000 }, () => new RetryTimer(FAR, { jitter: 6_000_000 }));
  const first = new RetryTimer(FAR);
  const change = first.sleep(LONG);
  toggle('add');
  await change;
  const early = (await Promise.all(spread.map((timer) => timer.sleep(1000)))).filter((wake) => wake !== 'time');
  [first, ...spread].forEach((timer) => timer.close());
  assert.ok(early.length < 100, `${early.length}`); // even after a minute it would be ten
});

test('open timer does not keep the process alive, a sleep does', () => {
  const program = (end) => `const { RetryTimer } = require(${JSON.stringify(require.resolve('..'))});
    const timer = new RetryTimer('${FAR}'); ${end}`;
  const run = (end) => spawnSync(process.execPath, ['-e', program(end)], { encoding: 'utf8', timeout: 60_000 });
  assert.equal(run('').status, 0);
  assert.equal(run('timer.sleep(10).then(console.log)').stdout, 'time\n');
});
