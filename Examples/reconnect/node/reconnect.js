// Node: connects when it is worth an attempt, and not only when the back-off is over.
//
//   const timer = new RetryTimer('192.0.2.1');
//   try {
//     const socket = await connectWhenWorthIt(timer, { host: '192.0.2.1', port: 443 });
//   } finally {
//     timer.close();
//   }
'use strict';

const net = require('node:net');
const { once } = require('node:events');

// Resolves with a connected socket. `signal` gives up this attempt.
async function connect(options, signal) {
  const socket = net.connect(options);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * Tries at once, and again after pauses that double, or when the way to the host has changed. It never holds back an
 * attempt. One over a way that is gone would last until TCP's time-out, so a change ends it, and the next one begins at once.
 */
async function connectWhenWorthIt(timer, options, { shortest = 1000, longest = 120_000, signal } = {}) {
  for (let pause = shortest; ;) {
    signal?.throwIfAborted();
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    let woken = false;
    const change = timer.sleep(Infinity, { signal: stop.signal }).then(() => {
      woken = true;
      stop.abort();
    }, () => {}); // the attempt has ended
    try {
      return await connect(options, stop.signal);
    } catch {
      signal?.throwIfAborted();
    } finally {
      stop.abort();
      await change;
      signal?.removeEventListener('abort', onAbort);
    }
    woken = woken || (await timer.sleep(pause, { signal })) !== 'time';
    pause = woken ? shortest : Math.min(pause * 2, longest);
  }
}

module.exports = { connectWhenWorthIt };
