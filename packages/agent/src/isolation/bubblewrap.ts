import { realpathSync, statSync } from 'node:fs';

/** A program with its arguments. */
export interface Command {
  file: string;
  args: readonly string[];
}

/** Changes how a program is started. */
export type Wrap = (command: Command) => Command;

/** A sandbox that a tool brings itself. */
export interface OwnSandbox {
  wrap: Wrap;
  /** Variables that it needs beside those of the job. */
  env: Readonly<Record<string, string>>;
}

/** The content of a path for a wrapped program. The longest path that matches counts. */
export interface Place {
  path: string;
  /**
   * `hidden`: nothing. `readable`: what is there. `writable`: what is there, to write as well. A
   * directory: that one, to write, instead of what is there.
   */
  as: 'hidden' | 'readable' | 'writable' | { directory: string };
}

/**
 * Wraps programs with bubblewrap: the machine is read-only, and a process sees only those that it
 * has started. Without a Place for it, a path is readable. The network is that of the machine.
 */
export function wrapWith(bwrap: string, places: readonly Place[]): Wrap {
  const args = ['--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL'];
  args.push('--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc');
  args.push(...mountsOf(places));
  // They name directories that are not there.
  args.push('--unsetenv', 'TMPDIR', '--unsetenv', 'XDG_RUNTIME_DIR');
  return ({ file, args: rest }) => ({ file: bwrap, args: [...args, '--', file, ...rest] });
}

function mountsOf(places: readonly Place[]): string[] {
  const found = places.flatMap(({ path, as }) => {
    const real = realpathOf(path);
    return real === null ? [] : [{ path: real, as }];
  });
  // A directory before what is in it. Of two places at one path the last counts.
  const last = new Map(found.map((place) => [place.path, place]));
  const ordered = [...last.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return ordered.flatMap(({ path, as }) => {
    if (as === 'readable') return ['--ro-bind', path, path];
    if (as === 'writable') return ['--bind', path, path];
    if (as !== 'hidden') return ['--bind', as.directory, path];
    const isDirectory = statSync(path).isDirectory();
    return isDirectory ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  });
}

/** The kernel mounts on a path without links. Null: there is nothing. */
function realpathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw error;
  }
}
