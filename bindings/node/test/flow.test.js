// SPDX-License-Identifier: MIT
// Ports, connected sockets, and the next hop. Run in a network namespace of its own: unshare -Urn node --test.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const dgram = require('node:dgram');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const { after, before, test } = require('node:test');
const { Flow, RetryTimer, check, checkSocket, watch, watchSocket } = require('..');

const run = (command) => execFileSync(command.split(' ')[0], command.split(' ').slice(1));
const ip = (command) => run(`ip ${command}`);

// The other end of two veth pairs, in a namespace of its own: a server of TCP behind both.
const server = `
  const server = require('node:net').createServer((socket) => socket.on('error', () => {}).resume());
  server.listen(4500, '0.0.0.0', () => console.log('listens'));
`;
let peer;

before(async () => {
  const devices = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo');
  assert.deepEqual(devices, [], 'run this in a network namespace of its own: unshare -Urn node --test');
  peer = spawn('unshare', ['-n', process.execPath, '-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(peer.stdout, 'data');
  ip('link set lo up');
  const there = (command) => run(`nsenter -t ${peer.pid} -n ip ${command}`);
  for (const number of [0, 1]) {
    ip(`link add e${number} type veth peer name p${number} netns ${peer.pid}`);
    ip(`addr add 10.0.${number}.2/24 dev e${number}`);
    ip(`link set e${number} up`);
    there(`addr add 10.0.${number}.1/24 dev p${number}`);
    there(`link set p${number} up`);
  }
  there('link set lo up');
  there('addr add 192.0.2.1/32 dev lo');
  ip('route add default via 10.0.0.1');
});

after(() => peer?.kill());

async function connect() {
  const socket = net.connect(4500, '192.0.2.1');
  await once(socket, 'connect');
  return socket;
}

const next = async (paths) => (await paths.next()).value;

test('connection behind a better route is not viable', async () => {
  const socket = await connect();
  const paths = watchSocket(socket);
  const first = await next(paths);
  assert.deepEqual([first.isViable, first.flow, first.source], [true, 0, '10.0.0.2']);
  ip('route add 192.0.2.0/24 via 10.0.1.1');
  const foreign = await next(paths);
  assert.equal(foreign.flow, Flow.betterPath | Flow.sourceForeign);
  assert.deepEqual([foreign.isReachable, foreign.isViable, foreign.interface.name], [true, false, 'e1']);
  assert.equal((await checkSocket(socket)).isViable, false);
  ip('route del 192.0.2.0/24');
  assert.equal((await next(paths)).isViable, true);
  paths.close();
  socket.destroy();
});

test('connection without its source is not viable', async () => {
  const socket = await connect();
  const paths = watchSocket(socket, { signal: new AbortController().signal });
  assert.equal((await next(paths)).isViable, true);
  ip('addr del 10.0.0.2/24 dev e0');
  const path = await next(paths);
  assert.deepEqual([path.isViable, path.reason], [false, 'localAddressNotAssigned']);
  socket.destroy(); // the watch does not need it
  ip('addr add 10.0.0.2/24 dev e0');
  ip('route replace default via 10.0.0.1');
  while (!(await next(paths)).isViable);
  paths.close();
});

// The loopback network has routes for both families, and Node has the address of IPv4 as one of IPv6 here.
test('server that listens for both families has a viable connection', async () => {
  const server = net.createServer().listen(0, '::');
  await once(server, 'listening');
  const client = net.connect(server.address().port, '127.0.0.1');
  const [socket] = await once(server, 'connection');
  assert.equal(socket.remoteAddress, '::ffff:127.0.0.1');
  const path = await checkSocket(socket);
  assert.deepEqual([path.isViable, path.destination, path.source], [true, '127.0.0.1', '127.0.0.1']);
  socket.destroy();
  client.destroy();
  server.close();
});

test('only what Node documents of a socket is used', async () => {
  ip('rule add ipproto tcp dport 4500 prohibit');
  const path = await checkSocket({ localAddress: '10.0.0.2', remoteAddress: '192.0.2.1', remotePort: 4500 });
  ip('rule del ipproto tcp dport 4500 prohibit');
  assert.equal(path.reason, 'routeProhibited');
});

test('descriptor of a connected socket is watched', async () => {
  const socket = await connect();
  const paths = fs.readdirSync('/proc/self/fd').map((fd) => checkSocket(Number(fd)).catch(() => null));
  const [path] = (await Promise.all(paths)).filter((found) => found?.destination === '192.0.2.1');
  assert.deepEqual([path.isViable, path.source], [true, '10.0.0.2']);
  socket.destroy();
});

test('socket that is not connected is refused', async () => {
  for (const socket of [new net.Socket(), {}, null, undefined, '5', 1.5]) {
    assert.throws(() => watchSocket(socket), TypeError);
    await assert.rejects(checkSocket(socket), TypeError);
  }
  await assert.rejects(checkSocket(-1), { code: 'EBADF' });
  const file = fs.openSync('/dev/null');
  assert.throws(() => watchSocket(file), { code: 'ENOTSOCK' });
  fs.closeSync(file);
});

test('options of a host are refused for a socket', async () => {
  const socket = await connect();
  assert.throws(() => watchSocket(socket, { port: 80 }), /unknown option: port/);
  assert.throws(() => watchSocket(socket, { reportsNextHop: true }), /unknown option/);
  socket.destroy();
});

test('rule for a port counts for that port', async () => {
  ip('rule add ipproto tcp dport 443 prohibit');
  for (const source of [null, '10.0.0.2']) {
    const reason = async (options) => (await check('192.0.2.1', { source, ...options })).reason;
    assert.equal(await reason({ port: 443, transport: 'tcp' }), 'routeProhibited');
    assert.equal(await reason({ port: 443, transport: 'udp' }), 'none');
    assert.equal(await reason({ port: 80, transport: 'tcp' }), 'none');
    assert.equal((await check('192.0.2.1', { source })).flow, Flow.incomplete);
  }
  const paths = watch('192.0.2.1', { port: 443, transport: 'tcp' });
  assert.equal((await next(paths)).isReachable, false);
  ip('rule del ipproto tcp dport 443 prohibit');
  assert.equal((await next(paths)).isReachable, true);
  paths.close();
});

test('rule for a class counts for that class', async () => {
  ip('rule add tos 0x10 blackhole');
  assert.equal((await check('192.0.2.1', { trafficClass: 0x10 })).reason, 'routeBlackhole');
  assert.equal((await check('192.0.2.1', { trafficClass: 0x08 })).reason, 'none');
  ip('rule del tos 0x10 blackhole');
});

test('port or class that does not fit is refused', () => {
  for (const options of [{ port: -1 }, { port: 65536 }, { port: '80' }, { trafficClass: 256 }]) {
    assert.throws(() => watch('192.0.2.1', options), RangeError);
    assert.throws(() => new RetryTimer('192.0.2.1', options), RangeError);
  }
  assert.throws(() => watch('192.0.2.1', { port: 80 }), /without a transport/);
  assert.throws(() => watch('192.0.2.1', { port: 80, transport: 'sctp' }), /unknown transport/);
});

test('gateway that does not respond is reported', async () => {
  for (const [name, value] of [['retrans_time_ms', '10'], ['mcast_solicit', '1']]) {
    fs.writeFileSync(`/proc/sys/net/ipv4/neigh/e1/${name}`, value);
  }
  ip('route add 198.51.100.0/24 via 10.0.1.77'); // nobody has this address
  const paths = watch('198.51.100.1', { reportsNextHop: true });
  const quiet = watch('198.51.100.1');
  assert.equal((await next(paths)).nextHop, 'unknown');
  await next(quiet);
  const sender = dgram.createSocket('udp4');
  sender.send('x', 9, '198.51.100.1');
  const failed = await next(paths);
  assert.deepEqual([failed.nextHop, failed.isViable], ['failed', true]);
  ip('neigh replace 10.0.1.77 lladdr 02:00:00:00:00:01 dev e1 nud permanent');
  assert.equal((await next(paths)).nextHop, 'confirmed');
  ip('route del 198.51.100.0/24');
  const gone = await next(quiet); // what has happened to the next hop was no news
  assert.equal(gone.gateway, '10.0.0.1');
  sender.close();
  paths.close();
  quiet.close();
});
