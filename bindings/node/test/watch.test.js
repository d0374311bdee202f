// SPDX-License-Identifier: MIT
// Run in a network namespace of its own: unshare -Urn node --test. The tests change its routes.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const { before, beforeEach, test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Flags, check, libraryVersion, network, waitUntilReachable, watch, watchNetwork } = require('..');

const DEFAULT = 'default via 10.0.0.1';
const ip = (command) => execFileSync('ip', command.split(' '));
const toggle = (verb) => ip(`route ${verb} ${DEFAULT}`);

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

test('iteration gets the current path and each change', async () => {
  const seen = [];
  for await (const path of watch('192.0.2.1')) {
    seen.push(path.isReachable);
    if (seen.length === 3) break;
    toggle(path.isReachable ? 'del' : 'add');
  }
  assert.deepEqual(seen, [true, false, true]);
});

test('change of the reason is a change', async () => {
  const paths = watch('192.0.2.1');
  await paths.next();
  toggle('del');
  assert.equal((await paths.next()).value.reason, 'noRoute');
  ip('route add blackhole default');
  assert.equal((await paths.next()).value.reason, 'routeBlackhole');
  paths.close();
});

test('path has interface, gateway and source', async () => {
  const path = await check('192.0.2.1');
  assert.deepEqual(path, {
    isReachable: true, isViable: true, flags: Flags.reachable, flagsText: 'Reachable', reason: 'none', reasonText: 'none',
    interface: { name: 'e0', index: path.interface.index, type: 'virtual' },
    destination: '192.0.2.1', source: '10.0.0.2', gateway: '10.0.0.1', mtu: 1500, table: 254, evidence: 'kernel',
    flow: 0, nextHop: 'unknown',
  });
  assert.equal((await check()).isReachable, true);
  assert.equal((await check(null)).destination, null);
});

test('source and interface count', async () => {
  const reason = async (host, options) => (await check(host, options)).reason;
  assert.equal(await reason('192.0.2.1', { source: '10.0.0.2', mark: 7 }), 'none');
  assert.equal(await reason('192.0.2.1', { source: '10.0.0.3' }), 'localAddressNotAssigned');
  assert.equal(await reason(null, { source: '10.0.0.2' }), 'none');
  assert.equal(await reason(null, { interface: 'e7' }), 'interfaceMissing');
});

test('name is looked up', async () => {
  assert.equal((await check('localhost')).flags, Flags.reachable | Flags.isLocalAddress | Flags.isDirect);
  toggle('del'); // no name server can be reached: nothing has to time out
  const path = await check('name.invalid', { timeout: 60000 });
  assert.equal(path.flags, 0);
  assert.notEqual(path.reason, 'namePending');
});

test('error has the code and its text', async () => {
  for (const host of ['', 'x'.repeat(1025)]) {
    const expected = { name: 'Error', errno: 1002, code: 'SC_INVALID_ARGUMENT', message: /: Invalid argument: \w/ };
    assert.throws(() => watch(host), expected);
    await assert.rejects(check(host), expected);
  }
  for (const host of ['a\0b', 7]) assert.throws(() => watch(host), TypeError);
  assert.throws(() => watch('example.com', { source: '10.0.0.2' }), TypeError);
});

test('wrong options reject the promise', async () => {
  for (const call of [check, waitUntilReachable]) {
    for (const options of [null, { timeout: 'soon' }, { tiemout: 1 }]) {
      const promise = call('192.0.2.1', options); // does not throw
      await assert.rejects(promise, TypeError);
    }
  }
});

test('close ends the iteration', async () => {
  const paths = watch('192.0.2.1');
  await paths.next();
  const next = paths.next();
  paths.close();
  paths.close();
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.deepEqual(await paths.next(), { done: true, value: undefined });
});

test('signal ends the iteration', async () => {
  const controller = new AbortController();
  const paths = watch('192.0.2.1', { signal: controller.signal });
  await paths.next();
  const next = paths.next();
  controller.abort(new Error('on purpose'));
  await assert.rejects(next, { message: 'on purpose' });
  assert.throws(() => watch('192.0.2.1', { signal: controller.signal }), { message: 'on purpose' });
});

test('signal ends the iteration also while the caller does not wait for a path', async () => {
  const controller = new AbortController();
  const iterate = async () => {
    for await (const path of watch('192.0.2.1', { signal: controller.signal })) controller.abort(new Error(path.reason));
  };
  await assert.rejects(iterate, { message: 'none' });
  const paths = watch('192.0.2.1', { signal: new AbortController().signal });
  paths.close();
  assert.deepEqual(await paths.next(), { done: true, value: undefined });
});

test('iteration goes no further after the error of its signal', async () => {
  const controller = new AbortController();
  const paths = watch('192.0.2.1', { signal: controller.signal });
  controller.abort(new Error('on purpose'));
  await assert.rejects(paths.next(), { message: 'on purpose' });
  assert.deepEqual(await paths.next(), { done: true, value: undefined });
});

test('timeout of any length is possible', async () => {
  const warnings = [];
  const add = (warning) => warnings.push(warning.name);
  process.on('warning', add);
  for (const timeout of [Infinity, 2 ** 40]) {
    assert.notEqual((await check('name.invalid', { timeout })).reason, 'namePending');
  }
  process.off('warning', add);
  assert.deepEqual(warnings, []);
});

test('all watches share the library\'s descriptors', async () => {
  const count = () => fs.readdirSync('/proc/self/fd').length;
  const first = watch('192.0.2.1');
  await first.next();
  const descriptors = count();
  const watches = Array.from({ length: 20 }, (_, i) => watch(`192.0.2.${i + 2}`));
  for (const paths of watches) assert.equal((await paths.next()).value.isReachable, true);
  assert.ok(count() <= descriptors);
  toggle('del');
  for (const paths of watches) assert.equal((await paths.next()).value.isReachable, false);
  for (const paths of [first, ...watches]) paths.close();
});

test('worker may end while it watches', async () => {
  const worker = new Worker(`
    const { parentPort } = require('node:worker_threads');
    const { watch } = require(${JSON.stringify(require.resolve('..'))});
    (async () => { for await (const path of watch('192.0.2.1')) parentPort.postMessage(path.isReachable); })();
  `, { eval: true });
  const message = () => new Promise((resolve) => { worker.once('message', resolve); });
  assert.equal(await message(), true);
  const next = message();
  toggle('del');
  assert.equal(await next, false);
  assert.equal(await worker.terminate(), 1);
});

test('open watch keeps the process alive, and a closed one does not', () => {
  const script = (body) => `const paths = require(${JSON.stringify(require.resolve('..'))}).watch('192.0.2.1'); ${body}`;
  const run = (body) => spawnSync(process.execPath, ['-e', script(body)], { encoding: 'utf8', timeout: 60000 });
  assert.equal(run('paths.close();').status, 0);
  assert.match(run('setTimeout(() => { console.log("alive"); process.exit(3); }, 1).unref();').stdout, /alive/);
});

test('exception in the loop reaches the caller', async () => {
  await assert.rejects(async () => {
    for await (const path of watch('192.0.2.1')) throw new Error(path.reason);
  }, { message: 'none' });
});

test('library has a version', () => assert.match(libraryVersion, /^\d+\.\d+\.\d+$/));

test('bad options are refused', async () => {
  for (const mark of [-1, 2 ** 40, 1.5, 'x']) assert.throws(() => watch('192.0.2.1', { mark }), RangeError);
  assert.throws(() => watch('192.0.2.1', { interfaces: 'e0' }), /unknown option: interfaces/);
  await assert.rejects(check('192.0.2.1', { timeout: 'x' }), TypeError);
  await assert.rejects(waitUntilReachable('192.0.2.1', { retries: 1 }), /unknown option: retries/);
});

test('pending name has the text pending', async () => {
  const path = await check('name.invalid', { timeout: 0 }); // packets leave, and no name server is there
  assert.deepEqual([path.reason, `${path}`, path.isReachable], ['namePending', 'pending', false]);
  assert.equal(path.flags & Flags.reachable, Flags.reachable);
});

test('wait ends when the host becomes reachable, or after the timeout', async () => {
  assert.equal((await waitUntilReachable('192.0.2.1')).isReachable, true);
  toggle('del');
  assert.equal(await waitUntilReachable('192.0.2.1', { timeout: 1 }), null);
  const waits = waitUntilReachable('192.0.2.1', { timeout: 60000 });
  toggle('add');
  assert.equal((await waits).interface.name, 'e0');
  toggle('del');
  await assert.rejects(waitUntilReachable('192.0.2.1', { signal: AbortSignal.timeout(1) }), { name: 'TimeoutError' });
});

test('path has the text of the library', async () => {
  assert.equal(`${await check('192.0.2.1')}`, 'reachable dev e0 via 10.0.0.1 src 10.0.0.2');
  toggle('del');
  assert.equal(`${await check('192.0.2.1')}`, 'not reachable: no route');
});

test('family restricts the default path and names', async () => {
  const reason = async (host, options) => (await check(host, options)).reason;
  assert.deepEqual([await reason(null, { family: 4 }), await reason(null, { family: 6 })], ['none', 'noRoute']);
  for (const family of [4, 6]) {
    const name = watch('localhost', { family });
    for await (const path of name) if (path.reason !== 'namePending') break;
    assert.deepEqual(name.addresses, [{ 4: '127.0.0.1', 6: '::1' }[family]]);
  }
  await assert.rejects(check('192.0.2.1', { family: 6 }), { errno: 1002 });
  for (const family of [5, '4', null]) assert.throws(() => watch(null, { family }), TypeError);
});

test('network has the uplinks', async () => {
  const now = await network();
  assert.equal(now.ipv4.isReachable, true);
  assert.equal(now.ipv6.reason, 'noRoute');
  assert.deepEqual(now.uplinks.map((uplink) => [uplink.interface.name, uplink.ipv4.gateway, uplink.ipv4UnderlayTypes]),
    [['e0', '10.0.0.1', []]]);
  assert.equal(now.uplinksAreComplete, true);
  toggle('del');
  assert.deepEqual((await network()).uplinks, []);
});

test('iteration over the network gets the current one and each change', async () => {
  for (const command of ['link add e1 link e0 type macvlan', 'addr add 10.0.1.2/24 dev e1', 'link set e1 up']) ip(command);
  const networks = watchNetwork();
  const nextWithUplinks = async (count) => {
    for (;;) {
      const { value } = await networks.next();
      if (value.uplinks.length === count) return value;
    }
  };
  const one = (await networks.next()).value;
  assert.deepEqual([one.uplinksAreComplete, one.uplinks.length], [true, 1]);
  assert.deepEqual([one.uplinks[0].interface.name, one.uplinks[0].ipv4.gateway], ['e0', '10.0.0.1']);
  assert.ok(one.ipv4LoopbackFlags & Flags.reachable);
  ip('route add default via 10.0.1.1 metric 10');
  const two = await nextWithUplinks(2);
  assert.deepEqual([two.uplinks[1].interface.name, two.uplinks[1].ipv4.metric], ['e1', 10]);
  assert.deepEqual(two.uplinks.map((uplink) => uplink.leadsOut), [false, true]);
  assert.deepEqual(networks.network, two);
  ip('route flush exact default');
  assert.equal((await nextWithUplinks(0)).ipv4.reason, 'noRoute');
  toggle('add');
  await nextWithUplinks(1);
  const last = networks.next();
  networks.close();
  assert.equal((await last).done, true);
  ip('link del e1');
  assert.throws(() => watchNetwork({ mark: 1 }), TypeError);
});

test('watch has addresses, the newest path and a description', async () => {
  const paths = watch('192.0.2.1');
  assert.deepEqual(paths.addresses, ['192.0.2.1']);
  assert.deepEqual((await paths.next()).value, paths.path);
  const description = paths.describe();
  paths.close();
  assert.match(await description, /192\.0\.2\.1/);
});

test('unreferenced watch does not keep the process alive', () => {
  const program = (call) => `const { watch } = require('..'); const paths = watch('192.0.2.1')${call}; paths.next();`;
  const run = (call, timeout) => spawnSync(process.execPath, ['-e', program(call)], { cwd: __dirname, timeout }).signal;
  assert.equal(run('.unref()', 60000), null);
  assert.equal(run('.unref().ref()', 500), 'SIGTERM');
});

// With each number of free descriptors that is too small.
test('watch that fails for want of descriptors keeps none', () => {
  const program = `const { openSync, closeSync, readdirSync } = require('node:fs');
    const { watch } = require('..');
    const count = () => readdirSync('/proc/self/fd').length;
    const opened = [];
    let failures = 0;
    const fails = () => {
      try { watch('192.0.2.1').close(); } catch (error) { if (error.code === 'EMFILE') return ++failures; throw error; }
    };
    (async () => {
      const before = count();
      try { for (;;) opened.push(openSync('/dev/null')); } catch {}
      while (fails()) closeSync(opened.pop());
      opened.forEach((descriptor) => closeSync(descriptor));
      while (count() > before) {
        gc();
        await new Promise(setImmediate);
      }
      if (failures < 2) throw new Error('no call has failed');
    })();`;
  const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, '--expose-gc', '-e', program],
    { cwd: __dirname, encoding: 'utf8', timeout: 30_000 });
  assert.equal(status, 0, stderr || 'descriptors are left');
});

test('asyncDispose closes the watch', async () => {
  const paths = watch('192.0.2.1');
  await paths[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]();
  assert.equal((await paths.next()).done, true);
});

test('names can be imported', () => {
  const program = "import all, { check, watch } from './index.mjs'; process.exit(check === all.check && watch ? 0 : 1)";
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: `${__dirname}/..` });
  assert.equal(status, 0);
});

test('ten thousand watches need few descriptors and one thread', async () => {
  const count = (folder) => fs.readdirSync(folder).length;
  const [descriptors, threads] = [count('/proc/self/fd'), count('/proc/self/task')];
  const hosts = [...Array(10000).keys()].map((i) => `192.0.${2 + Math.floor(i / 250)}.${(i % 250) + 1}`);
  const watches = hosts.map((host) => watch(host));
  for (const paths of watches) assert.equal((await paths.next()).value.isReachable, true);
  assert.ok(count('/proc/self/fd') < descriptors + 20);
  assert.ok(count('/proc/self/task') <= threads + 2); // and one that closes watches on files
  toggle('del');
  for (const paths of watches) assert.equal((await paths.next()).value.isReachable, false);
  for (const paths of watches) paths.close();
});
