// `npm run release`: what a release consists of, in dist/release: the packages for npm, the bill of
// materials, the notes and checksums. The packages are tried in an empty directory first.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { VERSION } from '@signalbox/contract/version';
import { packPackages } from './build/pack-packages.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist/release');
const SBOM_BYTES_MAX = 32 * 1_024 * 1_024;

try {
  const notes = readNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archives = await packPackages(root, folder, say);
  await tryPackages(archives);
  const files = [...archives, write('signalbox.cdx.json', buildSbom()), write('NOTES.md', notes)];
  write('SHA256SUMS', files.map((path) => `${hashFile(path)}  ${basename(path)}\n`).join(''));
  say(`Signalbox ${VERSION} is in ${relative(root, folder)}.`);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n`);
  process.exitCode = 1;
}

/** Returns the section of this version. */
function readNotes(changelog: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${VERSION}]`));
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section [${VERSION}]. Write it, or change the version.`);
  }
  return `# Signalbox ${section.trim()}\n`;
}

/** Installs the packages as a user does, and starts a hub with them. */
async function tryPackages(archives: readonly string[]): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'signalbox-release-'));
  try {
    say('Trying the packages in an empty directory …');
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
    run('npm', ['install', ...flags, ...archives], place);
    const command = join(place, 'node_modules/@signalbox/cli/bin/signalbox.mjs');
    const printed = run(process.execPath, [command, '--version'], place).trim();
    if (printed !== VERSION) throw new Error(`The command prints version ${printed}.`);
    await tryHub(command, place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function tryHub(command: string, place: string): Promise<void> {
  const hub = spawn(process.execPath, [command, 'serve', '--port', '0'], {
    cwd: place,
    env: { ...process.env, SVC_DATA_DIR: join(place, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(hub, 'exit');
  let printed = '';
  let health = 0;
  for await (const text of hub.stdout.setEncoding('utf8')) {
    printed += text;
    const [, url] = /^Signalbox listens on (\S+)$/m.exec(printed) ?? [];
    if (url === undefined || health !== 0) continue;
    health = (await fetch(`${url}/control-plane/health`)).status;
    hub.kill('SIGTERM');
  }
  const [code] = await ended;
  if (health !== 200 || code !== 0) {
    throw new Error(`The hub answered ${health} and ended with exit code ${code}:\n${printed}`);
  }
}

function buildSbom(): string {
  return run('npm', ['run', '--silent', 'sbom'], root);
}

function run(command: string, args: readonly string[], cwd: string): string {
  const shell = process.platform === 'win32';
  return execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: SBOM_BYTES_MAX, shell });
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function hashFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
