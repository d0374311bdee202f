// SPDX-License-Identifier: MIT
// Run in a network namespace of its own: unshare -Urn node --test. The tests change its routes.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { before, beforeEach, test } = require('node:test');
const { watch } = require('..');

const DEFAULT = 'default via 10.0.0.1';
const LONG = 1e9;
const ip = (command) => execFileSync('ip', command.split(' '));
const next = async (paths) => (await paths.next()).value;

before(() => {
  for (const command of ['link add e0 type ifb', 'link set lo up', 'link set e0 up']) ip(command);
});

beforeEach(() => {
  ip('addr replace 10.0.0.2/24 dev e0');
  ip('route flush exact default');
  ip(`route add ${DEFAULT}`);
});

async function until(paths, condition) {
  while (!condition(await next(paths)));
}

test('change comes after the settle time', async () => {
  const paths = watch('192.0.2.1', { settleTime: 50 });
  assert.equal((await next(paths)).isReachable, true);
  const start = performance.now();
  ip('route del default');
  assert.equal((await next(paths)).reason, 'noRoute');
  assert.ok(performance.now() - start >= 50);
  paths.close();
});

test('renewal of an address is not reported', async () => {
  const settled = watch('192.0.2.1', { settleTime: LONG });
  const paths = watch('192.0.2.1');
  assert.equal((await next(settled)).isReachable, true);
  const change = settled.next();
  for (let count = 0; count < 10; count++) {
    ip('addr del 10.0.0.2/24 dev e0');
    await until(paths, (path) => !path.isReachable);
    ip('addr add 10.0.0.2/24 dev e0');
    ip(`route add ${DEFAULT}`);
    await until(paths, (path) => path.isReachable);
  }
  paths.close();
  settled.close();
  assert.deepEqual(await change, { done: true, value: undefined });
});

test('change that has to settle does not keep the process alive after unref', async () => {
  const script = `
    const { watch } = require('..');
    const paths = watch('192.0.2.1', { settleTime: ${LONG} });
    paths.next().then(() => {
      require('node:child_process').execFileSync('ip', ['route', 'del', 'default']);
      paths.next();
      const other = watch('192.0.2.1');
      other.next().then((path) => { paths.unref(); other.close(); });
    });`;
  execFileSync(process.execPath, ['-e', script], { cwd: __dirname });
});

test('settle time is a number of milliseconds', () => {
  for (const settleTime of [-1, NaN, '1', null]) assert.throws(() => watch('192.0.2.1', { settleTime }), RangeError);
});
