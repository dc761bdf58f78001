import { hostname } from 'node:os';
import { basename, isAbsolute, resolve } from 'node:path';
import { hashRemoteUrl } from '@signalbox/contract';
import { runProgram } from '../process/run-program.ts';
import { askGit } from './git.ts';
import { findCloneRoot } from './git-mirror.ts';

// An entry of the package, so that commands that need a clone's remote load no agent.
export { GitError } from './git.ts';

export interface ResolvedRemote {
  /** The hash by which the hub identifies the repository. */
  remoteUrlHash: string;
  /** Label for people, usually `owner/name`; never contains credentials or a host. */
  label: string;
  /** The top directory of the clone. */
  path: string;
  /** False: the clone has no origin, and the hash is that of its path on this machine. */
  hasOrigin: boolean;
}

/** `host[:port]` or an address: an SSH destination. */
const scpForm = /^(?:([^@/\s]+)@)?([^:/\s@]+):(?!\/\/)(.*)$/s;
const sshForm = /^(?:git\+)?ssh:\/\/(?:([^@/\s]+)@)?([^:/\s@]+)(?::(\d+))?(\/.*)$/is;
const SSH_PORT = '22';
const SSH_TIMEOUT_MS = 5_000;

/**
 * Reads a clone's origin. Host aliases of the person's SSH configuration are resolved, so that the
 * same repository has the same hash on every machine. A repository without an origin is identified
 * by `file://<machine>/<path>`: it can be linked and worked on, but on this machine only. Throws
 * `GitError` when the path is not in a git repository.
 */
export async function resolveRemote(
  path: string,
  options: { env?: NodeJS.ProcessEnv } = {},
): Promise<ResolvedRemote> {
  const env = options.env ?? process.env;
  const root = await findCloneRoot(path);
  const origin = await askGit(['-C', root, 'remote', 'get-url', 'origin'], { env });
  if (origin === null || origin === '') {
    const url = `file://${hostname()}${root}`;
    const label = basename(root);
    return { remoteUrlHash: await hashRemoteUrl(url), label, path: root, hasOrigin: false };
  }
  const url = await resolveSshAlias(resolveRelative(origin, root), env);
  return {
    remoteUrlHash: await hashRemoteUrl(url),
    label: labelOf(url),
    path: root,
    hasOrigin: true,
  };
}

/** Git resolves a relative origin from the top directory of the clone. */
function resolveRelative(origin: string, root: string): string {
  const isRelative = /^\.{1,2}(\/|$)/.test(origin);
  return isRelative && !isAbsolute(origin) ? resolve(root, origin) : origin;
}

/** `ssh -G` prints the configuration that a connection to the host would use. */
export async function resolveSshAlias(url: string, env: NodeJS.ProcessEnv): Promise<string> {
  const ssh = sshForm.exec(url);
  const scp = ssh === null && !/^[a-z]:[\\/]/i.test(url) ? scpForm.exec(url) : null;
  const [, user, host, port, path] = ssh ?? [scp?.[0], scp?.[1], scp?.[2], undefined, scp?.[3]];
  // A host that begins with a dash would be parsed as an option; the contract rejects it anyway.
  if (host === undefined || path === undefined || host.startsWith('-')) return url;
  const settings = await readSshSettings(host, env);
  if (settings === null) return url;
  const realHost = settings.get('hostname') ?? host;
  const realPort = port ?? settings.get('port') ?? SSH_PORT;
  const separator = path.startsWith('/') ? '' : '/';
  const userPart = user === undefined ? '' : `${user}@`;
  return `ssh://${userPart}${realHost}:${realPort}${separator}${path}`;
}

async function readSshSettings(
  host: string,
  env: NodeJS.ProcessEnv,
): Promise<Map<string, string> | null> {
  const asked = runProgram('ssh', ['-G', '--', host], { env, limitMs: SSH_TIMEOUT_MS });
  // If SSH is missing or rejects its configuration, use the host name unchanged.
  const { stdout } = (await asked.catch(() => null)) ?? {};
  const lines = stdout?.split('\n').map((line): [string, string] => {
    const space = line.indexOf(' ');
    return [line.slice(0, space), line.slice(space + 1)];
  });
  return lines === undefined ? null : new Map(lines);
}

function labelOf(url: string): string {
  const path = url
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '');
  const afterHost = url.includes('://') ? path : path.replace(/^(?:[^/]*@)?[^/:]*:/, '');
  const label = afterHost.split('/').filter(Boolean).slice(-2).join('/');
  return label.slice(0, 200);
}
