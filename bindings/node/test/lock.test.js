// SPDX-License-Identifier: MIT
// While the kernel holds its RTNL lock, calls that wait for it do not return. The event loop runs on. Run in a network
// namespace of its own: unshare -Urn node --test.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reachability-'));
const preload = path.join(folder, 'hold.so');

before(() => {
  for (const command of ['link add e0 type ifb', 'addr add 10.0.0.2/24 dev e0', 'link set lo up', 'link set e0 up']) {
    execFileSync('ip', command.split(' '));
  }
  execFileSync(process.env.CC || 'cc', ['-shared', '-fPIC', '-o', preload, path.join(__dirname, 'hold.c')]);
});

after(() => fs.rmSync(folder, { recursive: true }));

/** Runs a program in a process where `hold`, `untilACallWaits` and `free` are known. */
function run(name, program) {
  const hold = path.join(folder, name);
  const script = `
    const fs = require('node:fs');
    const { execFileSync } = require('node:child_process');
    const { check, checkSocket, network, watch, watchNetwork } = require(${JSON.stringify(require.resolve('..'))});
    const fifo = process.env.HOLD;
    const ip = (command) => execFileSync('ip', command.split(' '));
    const hold = () => execFileSync('mkfifo', [fifo]);
    const untilACallWaits = async () => {
      while (!fs.existsSync(fifo + '.waits')) await new Promise(setImmediate);
      await new Promise(setImmediate); // the loop goes on
    };
    const free = () => {
      const writer = fs.openSync(fifo, 'w');
      fs.unlinkSync(fifo);
      fs.closeSync(writer);
    };
    (async () => { ${program} })();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8', env: { ...process.env, HOLD: hold, LD_PRELOAD: preload }, timeout: 30_000,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0, 'the event loop waits for the kernel');
  return stdout;
}

test('event loop runs while a watch waits for the kernel', () => {
  const output = run('watch', `
    const paths = watch('192.0.2.1');
    console.log((await paths.next()).value.reason);
    hold();
    ip('route add default via 10.0.0.1');
    const next = paths.next();
    await untilACallWaits();
    console.log(paths.path.reason);
    free();
    console.log((await next).value.reason, paths.path.reason);
    ip('route del default');
    paths.close();`);
  assert.equal(output, 'noRoute\nnoRoute\nnone none\n');
});

test('event loop runs while a check waits for the kernel', () => {
  const output = run('check', `
    hold();
    const promise = check('192.0.2.1');
    await untilACallWaits();
    const controller = new AbortController();
    const aborted = check('192.0.2.1', { timeout: 1, signal: controller.signal }).catch((error) => error.name);
    setTimeout(() => controller.abort(), 50); // the timeout alone does not end it
    console.log(await aborted);
    free();
    console.log((await promise).reason);`);
  assert.equal(output, 'AbortError\nnoRoute\n');
});

test('event loop runs while a program asks for all that there is', () => {
  const output = run('properties', `
    const paths = watch('192.0.2.1');
    const networks = watchNetwork();
    await Promise.all([paths.next(), networks.next()]);
    hold();
    console.log(paths.path.reason, paths.addresses.length, networks.network.uplinks.length);
    const socket = { localAddress: '10.0.0.2', remoteAddress: '192.0.2.1', remotePort: 80 };
    const promises = [paths.describe(), network(), checkSocket(socket)];
    await untilACallWaits();
    free();
    console.log((await Promise.all(promises)).length);
    paths.close();
    networks.close();`);
  assert.equal(output, 'noRoute 1 0\n3\n');
});
