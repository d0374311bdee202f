// SPDX-License-Identifier: MIT
// Compiles the addon: node build.js, which `npm install` runs. It needs a C compiler, pkg-config, libreachability, and the
// headers that come with Node (Debian: libnode-dev). No network. It prints one line, whether it succeeds or not; the
// compiler's messages come before it.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

function end(status, text) {
  (status === 0 ? process.stdout : process.stderr).write(`reachability: ${text}\n`);
  process.exit(status);
}

/** What a program prints. Its failure ends this one with a line. */
function run(program, parameters, problem, stdio) {
  const { error, status, stdout } = spawnSync(program, parameters, { encoding: 'utf8', stdio });
  if (error) end(1, `${program} could not be run: ${error.code}; ${problem}`);
  if (status !== 0) end(1, problem);
  return stdout;
}

function findHeaders() {
  const besideNode = path.resolve(fs.realpathSync(process.execPath), '../../include/node');
  for (const folder of [process.env.NODE_INCLUDE_DIR, besideNode, '/usr/include/node', '/usr/include/nodejs/src']) {
    if (folder && fs.existsSync(path.join(folder, 'node_api.h'))) return folder;
  }
  return end(1, 'no node_api.h: install the headers of Node (Debian: libnode-dev), or set NODE_INCLUDE_DIR');
}

const split = (text) => (text ?? '').split(/\s+/).filter(Boolean);
const words = (name) => split(process.env[name]);
const pkgConfig = (option) => split(run(process.env.PKG_CONFIG || 'pkg-config', [option, 'libreachability'],
  'pkg-config did not find the C library libreachability: install it first, or set PKG_CONFIG_PATH', ['ignore', 'pipe', 'ignore']));

const target = path.join(__dirname, 'build', 'reachability.node');
const compiler = process.env.CC || 'cc';
const version = pkgConfig('--modversion');
// nodelete: the library's thread may be in the addon when a worker ends, with which Node unloads it.
const parameters = [
  '-std=gnu11', '-O2', '-fPIC', '-shared', '-pthread', '-Wl,-z,nodelete', '-fvisibility=hidden', ...words('CFLAGS'),
  '-isystem', findHeaders(), ...pkgConfig('--cflags'), '-o', target, path.join(__dirname, 'src', 'reachability.c'),
  ...words('LDFLAGS'), ...pkgConfig('--libs'),
];
fs.mkdirSync(path.dirname(target), { recursive: true });
run(compiler, parameters, `${compiler} did not compile the addon`, 'inherit');
end(0, `compiled the addon for libreachability ${version}`);
