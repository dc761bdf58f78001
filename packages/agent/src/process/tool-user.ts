import { execFile } from 'node:child_process';
import { chmod, chown, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The user that coding tools run as, if it is not the agent's own. */
export interface ToolUser {
  name: string;
  uid: number;
  /** The user's primary group. */
  gid: number;
  home: string;
}

/** Tools cannot run as this user; the message says what to do. */
export class ToolUserError extends Error {
  override name = 'ToolUserError';
}

const run = promisify(execFile);

/** Bits of capabilities(7) that are needed to give files away and to start and end processes. */
const neededCapabilities: Readonly<Record<string, number>> = {
  CAP_CHOWN: 0,
  CAP_DAC_OVERRIDE: 1,
  CAP_FOWNER: 3,
  CAP_KILL: 5,
  CAP_SETGID: 6,
  CAP_SETUID: 7,
};
const portableName = /^[a-z_][a-z0-9_.-]{0,31}$/i;

/**
 * Finds a user by name, and checks that this process may start tools as that user.
 *
 * @throws {ToolUserError}
 */
export async function findToolUser(name: string): Promise<ToolUser> {
  if (process.geteuid === undefined) {
    throw new ToolUserError('run-as works on Linux and macOS only.');
  }
  const missing = await findMissingCapabilities(process.geteuid());
  if (missing.length > 0) {
    throw new ToolUserError(
      `To run tools as ${name}, start the agent as root, or give it ${missing.join(', ')}.`,
    );
  }
  const user = await lookUpUser(name);
  if (user.uid === 0 || user.uid === process.geteuid()) {
    throw new ToolUserError(
      `Tools cannot run as ${name}, because that user may read what the agent keeps. ` +
        'Create a user for them, such as: useradd --create-home signalbox-tool',
    );
  }
  return user;
}

async function lookUpUser(name: string): Promise<ToolUser> {
  if (!portableName.test(name)) throw new ToolUserError(`"${name}" is not the name of a user.`);
  try {
    const ask = async (...args: string[]) => (await run('id', args)).stdout.trim();
    const [uid, gid] = [await ask('-u', name), await ask('-g', name)];
    const { stdout } = await run('/bin/sh', ['-c', `echo ~${name}`]);
    return { name, uid: Number(uid), gid: Number(gid), home: stdout.trim() };
  } catch (error) {
    throw new ToolUserError(`There is no user ${name} on this machine.`, { cause: error });
  }
}

async function findMissingCapabilities(uid: number): Promise<string[]> {
  if (process.platform !== 'linux') return uid === 0 ? [] : Object.keys(neededCapabilities);
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  const isMissing = (bit: number) => ((effective >> BigInt(bit)) & 1n) === 0n;
  return Object.keys(neededCapabilities).filter((name) => isMissing(neededCapabilities[name] ?? 0));
}

/** Options of `spawn` that start a process as the user of tools, or as the agent's own. */
export function identityOf(user: ToolUser | null): { uid?: number; gid?: number } {
  return user === null ? {} : { uid: user.uid, gid: user.gid };
}

/** Replaces the variables that name the person by those of the user of tools. */
export function environmentOf(user: ToolUser | null, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (user === null) return env;
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('XDG_') && name !== 'MAIL');
  const { name, home } = user;
  return { ...Object.fromEntries(kept), HOME: home, USER: name, LOGNAME: name };
}

/** Gives a directory and all its content to the user of tools. Links are not followed. */
export async function giveToUser(path: string, user: ToolUser | null): Promise<void> {
  if (user !== null) await run('chown', ['-R', '-h', '-P', `${user.uid}:${user.gid}`, path]);
}

/** Lets the user of tools enter a directory of the agent, but not list it. */
export async function admitUser(path: string, user: ToolUser | null): Promise<void> {
  if (user === null) return;
  await chown(path, process.geteuid?.() ?? 0, user.gid);
  await chmod(path, 0o710);
}

/** Lets the user of tools read a file or a directory with all its content. */
export async function showToUser(path: string, user: ToolUser | null): Promise<void> {
  if (user === null) return;
  await run('chgrp', ['-R', '-h', '-P', String(user.gid), path]);
  await run('chmod', ['-R', 'g+rX,o-rwx', path]);
}

/** Keeps the user of tools out of a file or a directory with all its content. */
export async function hideFromUser(path: string, user: ToolUser | null): Promise<void> {
  if (user !== null) await run('chmod', ['-R', 'go-rwx', path]);
}

const START_MS_MAX = 60_000;

/**
 * Checks that the user of tools can run the server of the job's tools, by running it.
 *
 * @throws {ToolUserError}
 */
export async function checkJobServer(
  { file, args }: { file: string; args: readonly string[] },
  userName: string,
): Promise<void> {
  const user = await findToolUser(userName);
  const env = { PATH: process.env.PATH, HOME: user.home };
  const limits = { timeout: START_MS_MAX, killSignal: 'SIGKILL' } as const;
  try {
    await run(file, [...args, '--help'], { ...identityOf(user), env, cwd: '/', ...limits });
  } catch (error) {
    throw new ToolUserError(
      `${user.name} cannot run ${[file, ...args].join(' ')}, through which tools ask people. ` +
        'Install Signalbox, and Node, in a place that every user can read.',
      { cause: error },
    );
  }
}

/**
 * Checks that the user of tools can enter a directory.
 *
 * @throws {ToolUserError}
 */
export async function checkReach(path: string, user: ToolUser | null): Promise<void> {
  if (user === null) return;
  try {
    await run('/bin/sh', ['-c', 'cd "$0"', path], { ...identityOf(user), cwd: '/' });
  } catch (error) {
    throw new ToolUserError(
      `${user.name} cannot enter ${path}. Choose a state directory in a place that every user ` +
        'can enter, such as state-dir: /var/lib/signalbox-agent.',
      { cause: error },
    );
  }
}
