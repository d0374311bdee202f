// A client of an echo server, for reconnect.js: node echo.js ours|stock ADDRESS PORT connects, and prints when the server has
// replied. stock has the same pauses, in a sleep that only time ends.
'use strict';

const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const { RetryTimer } = require('reachability');
const { connectWhenWorthIt } = require('./reconnect.js');

const [mode, host, port] = process.argv.slice(2);
const report = (what) => console.log(what, String(process.hrtime.bigint()));

// A timer that sees no change.
const stock = {
  async sleep(milliseconds, { signal } = {}) {
    await sleep(Math.min(milliseconds, 2 ** 31 - 1), undefined, { signal });
    return 'time';
  },
  close() {},
};

async function main() {
  const timer = mode === 'ours' ? new RetryTimer(host) : stock;
  report('first');
  const socket = await connectWhenWorthIt(timer, { host, port: Number(port) });
  socket.write('hello');
  await once(socket, 'data');
  report('done');
  socket.destroy();
  timer.close();
}

main();
