// SPDX-License-Identifier: MIT
// Compiles the addon: node build.js. It needs a C compiler, pkg-config, libreachability, and the headers that come with
// Node (Debian: libnode-dev). No network.
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

function findHeaders() {
  const besideNode = path.resolve(fs.realpathSync(process.execPath), '../../include/node');
  for (const folder of [process.env.NODE_INCLUDE_DIR, besideNode, '/usr/include/node', '/usr/include/nodejs/src']) {
    if (folder && fs.existsSync(path.join(folder, 'node_api.h'))) return folder;
  }
  throw new Error('no node_api.h: install the headers of Node (Debian: libnode-dev), or set NODE_INCLUDE_DIR');
}

const split = (text = '') => text.split(/\s+/).filter(Boolean);
const pkgConfig = (option) => split(execFileSync('pkg-config', [option, 'libreachability'], { encoding: 'utf8' }));
const words = (name) => split(process.env[name]);
const target = path.join(__dirname, 'build', 'reachability.node');

fs.mkdirSync(path.dirname(target), { recursive: true });
execFileSync(process.env.CC || 'cc', [
  '-std=gnu11', '-O2', '-fPIC', '-shared', '-fvisibility=hidden', ...words('CFLAGS'),
  '-isystem', findHeaders(), ...pkgConfig('--cflags'), '-o', target, path.join(__dirname, 'src', 'reachability.c'),
  ...words('LDFLAGS'), ...pkgConfig('--libs'),
], { stdio: 'inherit' });
