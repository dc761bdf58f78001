import { mkdir, mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { createCommandExecutor } from '../executors/command.ts';
import type { Executor } from '../executors/executor.ts';
import { findOnPath } from '../executors/find-on-path.ts';
import { nameOf } from '../offered-tools.ts';
import { cleanEnvironment } from '../process/environment.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { admitUser, giveToUser, type ToolUser } from '../process/tool-user.ts';
import { openStateDirectory, type StateDirectory } from '../state-directory.ts';
import { type Wrap, wrapWith } from './bubblewrap.ts';
import {
  directoriesOfOthers,
  filesToTry,
  type MachinePlaces,
  placesOf,
  seenInHome,
  someFile,
} from './places.ts';
import { probe } from './probe.ts';
import { IsolationError, type Proof, type Rung } from './rungs.ts';

/** How an agent keeps tools from what is on its machine. */
export interface Isolation {
  /** The rung without which it claims nothing; null: it claims with what holds. */
  required: Rung | null;
  /** Wraps the processes of jobs; null: they are not wrapped. */
  bwrap: string | null;
  machine: MachinePlaces;
  user: ToolUser | null;
  clock: Clock;
}

/** Where a tool works. */
export interface WorkPlace {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Holds the home directory and the temporary files of wrapped processes. */
  privateDir: string;
  readable: readonly string[];
  writable: readonly string[];
  isReadOnly: boolean;
}

/**
 * Prepares what `isolation` asks for.
 *
 * @throws {IsolationError}
 */
export async function openIsolation(
  required: Rung | null,
  env: NodeJS.ProcessEnv,
  user: ToolUser | null,
  clock: Clock,
  paths: Omit<MachinePlaces, 'home'>,
): Promise<Isolation> {
  const home = user?.home ?? env.HOME ?? homedir();
  const machine = { ...paths, home };
  if (required === 'user' && user === null) {
    throw new IsolationError('isolation: user needs run-as, the user that tools run as.');
  }
  if (required !== 'wrap') return { required, bwrap: null, machine, user, clock };
  if (process.platform !== 'linux') {
    throw new IsolationError('isolation: wrap works on Linux only.');
  }
  if (home === '/') {
    throw new IsolationError('isolation: wrap needs a home directory (HOME), and this is /.');
  }
  const bwrap = await findOnPath('bwrap', env);
  if (bwrap !== null) return { required, bwrap, machine, user, clock };
  throw new IsolationError(
    'isolation: wrap needs bubblewrap, and bwrap is not on the PATH. To install it on Debian and ' +
      'Ubuntu: apt install bubblewrap',
  );
}

/**
 * Keeps a tool from the machine in its place, and proves it there.
 *
 * @throws {IsolationError} a rung that is asked for does not hold, or the tool's own sandbox does
 *   not work.
 * @returns `isSandboxOff`: the tool is to run without its own sandbox, which fails in the wrap.
 */
export async function isolate(
  isolation: Isolation,
  executor: Executor,
  place: WorkPlace,
): Promise<{ wrap: Wrap | null; proof: Proof; isSandboxOff: boolean }> {
  const { bwrap, machine, user, clock, required } = isolation;
  const { cwd, env } = place;
  const own = privatePlaces(place.privateDir);
  const places = placesOf(machine, { ...place, own }, nameOf(executor), env);
  const wrap = bwrap === null ? null : wrapWith(bwrap, places);
  const sandbox = executor.ownSandbox?.(place.isReadOnly) ?? null;
  if (wrap !== null) await renew(own, user);
  const proof = await probe({
    cwd,
    env,
    user,
    clock,
    wrap,
    sandbox,
    home: { path: machine.home, seen: seenInHome(machine.home, places) },
    agentFiles: machine.agentPaths.flatMap(someFile),
    homeFiles: filesToTry(machine),
    outside: [
      ...[...machine.agentPaths, machine.home, ...machine.clones],
      ...(wrap === null ? [] : directoriesOfOthers(places)),
    ],
  });
  // The attack has written there.
  if (wrap !== null) await renew(own, user);
  // Two sandboxes may not work inside each other. The wrap is then the one.
  const isDead = proof.broken.some((one) => one.rung === 'tool' && one.isDead);
  const isSandboxOff = wrap !== null && isDead;
  refuseBroken(proof, required, isSandboxOff);
  return { wrap, proof, isSandboxOff };
}

function privatePlaces(privateDir: string) {
  return { home: join(privateDir, 'home'), temporary: join(privateDir, 'tmp') };
}

/** Empties the home directory and the temporary files of wrapped processes. */
export async function emptyPrivate(privateDir: string, user: ToolUser | null): Promise<void> {
  await renew(privatePlaces(privateDir), user);
}

async function renew(own: { home: string; temporary: string }, user: ToolUser | null) {
  for (const path of Object.values(own)) {
    await removeToolTree(path);
    await mkdir(path, { recursive: true, mode: 0o700 });
    await giveToUser(path, user);
  }
}

function refuseBroken(
  { rungs, broken }: Proof,
  required: Rung | null,
  isSandboxOff: boolean,
): void {
  const dead = broken.find(({ rung, isDead }) => isDead && !(isSandboxOff && rung === 'tool'));
  if (dead !== undefined) {
    throw new IsolationError(`${names[dead.rung]} does not work here: ${dead.why}`);
  }
  if (required === null || rungs.includes(required)) return;
  const why = broken.find(({ rung }) => rung === required)?.why;
  throw new IsolationError(
    why === undefined
      ? `isolation: ${required} does not hold: ${missing[required]}`
      : `isolation: ${required} does not hold. The agent has tried to break out: ${why}.`,
  );
}

const names: Readonly<Record<Rung, string>> = {
  user: 'run-as',
  tool: 'The sandbox of the tool',
  wrap: 'bubblewrap',
};

/** Why a rung was not tried at all. */
const missing: Readonly<Record<Rung, string>> = {
  user: 'run-as is not set.',
  tool: 'the tool has no sandbox that the agent can try, or it is turned off.',
  wrap: 'it was not tried.',
};

/**
 * Proves at the start of an agent what holds for its tools, in a place like that of a job.
 *
 * @throws {IsolationError}
 */
export async function proveAtStart(
  isolation: Isolation,
  executor: Executor,
  { state, env }: { state: StateDirectory; env: NodeJS.ProcessEnv },
): Promise<Proof> {
  const { user } = isolation;
  // Recovery removes what is left after a kill.
  const path = await mkdtemp(join(state.jobs, 'probe-'));
  const [cwd, privateDir] = [join(path, 'worktree'), join(path, 'private')];
  try {
    await admitUser(path, user);
    for (const each of [cwd, privateDir]) await mkdir(each);
    await giveToUser(cwd, user);
    await admitUser(privateDir, user);
    const place = { cwd, env, privateDir, readable: [], writable: [cwd], isReadOnly: false };
    return (await isolate(isolation, executor, place)).proof;
  } finally {
    await removeToolTree(path);
  }
}

/**
 * Tries whether tools can be wrapped on this machine, without an agent.
 *
 * @throws {IsolationError}
 */
export async function diagnoseWrap(env: NodeJS.ProcessEnv): Promise<Proof> {
  const path = await mkdtemp(join(tmpdir(), 'signalbox-probe-'));
  try {
    const state = await openStateDirectory(path);
    const paths = { agentPaths: [path], clones: [], readable: [] };
    const isolation = await openIsolation('wrap', env, null, systemClock, paths);
    const place = { state, env: cleanEnvironment(env, undefined) };
    return await proveAtStart(isolation, createCommandExecutor({ command: 'true' }), place);
  } finally {
    await removeToolTree(path);
  }
}
