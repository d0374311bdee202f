// SPDX-License-Identifier: MIT
// node watch.js HOST [CHANGES] prints the flags of a host, and those after each change.
'use strict';

const { watch } = require('..');

async function main(host = '192.0.2.1', changes = Infinity) {
  let left = Number(changes);
  for await (const path of watch(host)) {
    console.log(`${host}: 0x${path.flags.toString(16).padStart(8, '0')}  ${path.flagsText}  (${path.reasonText})`);
    if (left-- === 0) break;
  }
}

main(...process.argv.slice(2));
