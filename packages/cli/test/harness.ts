/** Runs a real hub and the real command as separate processes, with directories of the test. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { consoleEndpoints, consolePathOf, mirroredEndpoints } from '@signalbox/contract';
import { type Client, type ClientOf, createClient, createClientOf } from '@signalbox/sdk';
import { commandFile, exitCodes } from '../src/index.ts';

export const launcherFile = join(import.meta.dirname, '../bin/signalbox.mjs');

export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** Resolves with the match once standard output contains one. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** The same for standard error. */
  notes(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
}

export interface RunOptions {
  input?: string | Buffer;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** Directories and processes of a test. `end` removes them, the latest first. */
export interface Place {
  directory: string;
  env: NodeJS.ProcessEnv;
  start(args: readonly string[], options?: RunOptions): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  end(): Promise<void>;
}

/** Creates separate directories and an environment without any other Signalbox settings. */
export function makePlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-cli-'));
  // The command is installed for all folders, so hints call it `signalbox`.
  const commands = join(directory, 'commands');
  mkdirSync(commands);
  symlinkSync(launcherFile, join(commands, 'signalbox'));
  const env = {
    PATH: `${commands}${delimiter}${process.env.PATH}`,
    HOME: directory,
    TMPDIR: process.env.TMPDIR,
    // Both make the command start faster.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    NODE_OPTIONS: process.env.NODE_OPTIONS,
    SIGNALBOX_CONFIG_DIR: join(directory, 'config'),
    SIGNALBOX_STATE_DIR: join(directory, 'state'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const children = new Set<ChildProcess>();

  function start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [commandFile, ...args], {
      cwd: options.cwd ?? directory,
      env: { ...env, ...options.env },
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    child.stdin.on('error', () => {});
    child.stdin.end(options.input);
    return watch(child);
  }

  return {
    directory,
    env,
    start,
    run: (args, options) => start(args, options).ended,
    async end() {
      for (const child of [...children].toReversed()) {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function watch(child: ChildProcess): Running {
  const printed = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
      for (const listener of [...listeners]) listener();
    });
  }
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, ...printed }));
  const waitFor = (stream: keyof typeof printed, pattern: RegExp) => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const match = pattern.exec(printed[stream]);
      if (match === null) return;
      listeners.delete(look);
      resolve(match);
    };
    listeners.add(look);
    look();
    ended.then(
      ({ stdout, stderr }) =>
        reject(new Error(`It exited without printing ${pattern}:\n${stdout}\n${stderr}`)),
      reject,
    );
    return promise;
  };
  return {
    child,
    ended,
    says: (pattern) => waitFor('stdout', pattern),
    notes: (pattern) => waitFor('stderr', pattern),
  };
}

const ownerEndpoints = { ...mirroredEndpoints, ...consoleEndpoints };

export interface HubPlace extends Place {
  url: string;
  /** The process of the hub. */
  hub: Running;
  /** Calls of the owner at the console. */
  console: ClientOf<typeof ownerEndpoints>;
  workspaceId: string;
  workspaceSlug: string;
}

/**
 * Starts a hub with its first owner signed in at the console, and a workspace.
 *
 * @param env settings of the hub.
 */
export async function startHub(env: NodeJS.ProcessEnv = {}): Promise<HubPlace> {
  const place = makePlace();
  const dataDir = join(place.directory, 'data');
  const hub = place.start(['serve', '--port', '0', '--data-dir', dataDir], { env });
  const [, url = ''] = await hub.says(/listens on (http:\/\/\S+)/);
  const [, linkToken = ''] = await hub.says(/#token=(\S+)\n/);
  const workspaceSlug = 'acme';
  const console = createClientOf(ownerEndpoints, {
    baseUrl: url,
    fetch: browserFetch(url),
    pathOf: consolePathOf,
  });
  const { workspaces } = await console.firstOwner.create({
    linkToken,
    workspaceSlug,
    workspaceName: 'Acme',
    email: 'ada@acme.test',
    name: 'Ada',
    password: 'a horse of another colour',
  });
  Object.assign(place.env, { SIGNALBOX_URL: url });
  const workspaceId = workspaces[0]?.workspaceId ?? '';
  return { ...place, url, hub, console, workspaceId, workspaceSlug };
}

/** Gives later commands a service token, as in CI. */
export async function useServiceToken(place: HubPlace): Promise<string> {
  const { workspaceId } = place;
  const { token } = await place.console.serviceTokens.mint({ workspaceId, name: 'test' });
  Object.assign(place.env, { SIGNALBOX_TOKEN: token });
  return token;
}

/** A client with the token of `useServiceToken`: what is not under test needs no command. */
export function clientOf(place: HubPlace): Client {
  return createClient({ baseUrl: place.url, token: place.env.SIGNALBOX_TOKEN });
}

/** Links a clone as a person does, and returns the ID of its repository. */
export async function linkClone(place: HubPlace, clone: string): Promise<string> {
  const { exitCode, stdout, stderr } = await place.run(['repo', 'link', clone, '--json']);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout).repo.repoId;
}

/** Enqueues a job without a command, and returns its ID. */
export async function enqueueJob(
  place: HubPlace,
  repoId: string,
  prompt: string,
  more: { maxAttempts?: number } = {},
): Promise<string> {
  const { workspaceId } = place;
  const job = { workspaceId, repoId, kind: 'work', prompt, ...more } as const;
  return (await clientOf(place).jobs.enqueue(job)).jobId;
}

/** The flag of `agent start` for settings that have no flag of their own. */
export function configFlag(place: Place, settings: object): string[] {
  // YAML is a superset of JSON.
  const text = JSON.stringify(settings);
  const file = join(place.directory, `agent-${hash('sha256', text).slice(0, 12)}.yaml`);
  writeFileSync(file, text);
  return ['--config', file];
}

/** Creates a person's clone with one commit. */
export function makeClone(place: Place, name = 'clone'): string {
  const path = join(place.directory, name);
  git(place.directory, 'init', '--quiet', '--initial-branch=main', path);
  git(path, 'config', 'user.name', 'Ada');
  git(path, 'config', 'user.email', 'ada@acme.test');
  git(path, 'remote', 'add', 'origin', `git@git.acme.test:acme/${name}.git`);
  writeFileSync(join(path, 'README.md'), 'hello\n');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '-m', 'Begin');
  return path;
}

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trimEnd();
}

/** Keeps the session cookie and sends an Origin header, as a browser does. */
function browserFetch(url: string): typeof fetch {
  let cookie = '';
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('origin', url);
    headers.set('cookie', cookie);
    const response = await fetch(input, { ...init, headers });
    const [line] = response.headers.getSetCookie();
    if (line !== undefined) cookie = line.split(';')[0] ?? '';
    return response;
  };
}

const SHOWN_MS_MAX = 180_000;

/** Runs the command on a terminal of a width, with colours; `type` sends keys. */
export function onTerminal(place: Place, cwd: string, columns: number, args: readonly string[]) {
  const line = [process.execPath, commandFile, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 24; ${line}`, '/dev/null'], {
    cwd,
    env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm-256color', FORCE_COLOR: '1' },
  });
  let output = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    look();
  });
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, output }));
  return {
    ended,
    type: (keys: string) => void child.stdin.write(keys),
    async shows(pattern: RegExp) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      look = () => {
        if (pattern.test(stripVTControlCharacters(output))) resolve();
      };
      look();
      const fail = (why: string) => reject(new Error(`${why} without ${pattern}:\n${output}`));
      ended.then(() => fail('It ended'), reject);
      const limit = setTimeout(() => fail('Three minutes passed'), SHOWN_MS_MAX);
      await promise.finally(() => clearTimeout(limit));
    },
  };
}
