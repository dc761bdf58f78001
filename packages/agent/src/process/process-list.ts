import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A live process. Pids are reused; `startedAt` and `pid` together identify one unambiguously. */
export interface ProcessRow {
  pid: number;
  parentId: number;
  groupId: number;
  sessionId: number;
  /** A person works with it, as with a shell. */
  hasTerminal: boolean;
  startedAt: string;
}

const isLinux = process.platform === 'linux';
const run = promisify(execFile);

/** Lists all live processes (not zombies) that are visible to this person. */
export async function listProcesses(): Promise<ProcessRow[]> {
  if (!isLinux) return await listByPs();
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(names.map((name) => readStat(Number(name))));
  return rows.filter((row) => row !== null);
}

/** Finds the live process with this pid, or null. */
export async function findProcess(pid: number): Promise<ProcessRow | null> {
  if (isLinux) return await readStat(pid);
  return (await listByPs()).find((row) => row.pid === pid) ?? null;
}

/**
 * Whether the process was started with this variable in its environment. Finds descendants that
 * have left their session. Linux only; elsewhere only the session is known.
 */
export async function hasVariable(pid: number, name: string, value: string): Promise<boolean> {
  if (!isLinux) return false;
  const environment = await unlessGone(readFile(`/proc/${pid}/environ`, 'utf8'));
  return environment?.split('\0').includes(`${name}=${value}`) ?? false;
}

/**
 * Returns the directory that a process works in; null when it has ended or is not visible. Linux
 * only, because elsewhere each answer takes a process of its own.
 */
export async function readWorkingDirectory(pid: number): Promise<string | null> {
  if (!isLinux) return null;
  return await unlessGone(readlink(`/proc/${pid}/cwd`));
}

/** Whether a process adopts the children of others that have ended. */
export async function isReaper(pid: number): Promise<boolean> {
  if (pid === 1) return true;
  if (!isLinux) return false;
  const name = await unlessGone(readFile(`/proc/${pid}/comm`, 'utf8'));
  return name !== null && /^(systemd|init)\b/.test(name);
}

async function readStat(pid: number): Promise<ProcessRow | null> {
  const stat = await unlessGone(readFile(`/proc/${pid}/stat`, 'utf8'));
  if (stat === null) return null;
  // The second field is the command in parentheses, with arbitrary content; the rest follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentId, groupId, sessionId, terminal] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Field 22 of proc_pid_stat(5), in clock ticks since boot; the boot ID makes it unique.
  return {
    pid,
    parentId: Number(parentId),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    hasTerminal: terminal !== '0',
    startedAt: `${await readBootId()}:${fields[19]}`,
  };
}

let bootId: Promise<string> | undefined;

function readBootId(): Promise<string> {
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim());
  return bootId;
}

async function listByPs(): Promise<ProcessRow[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,tty=,stat=,lstart='], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  return stdout.split('\n').flatMap((line) => {
    const [pid, parentId, groupId, terminal, state, ...startedAt] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) return [];
    // ps on macOS has no session ID; a job's session and group share the ID of their leader.
    const group = Number(groupId);
    return [
      {
        pid: Number(pid),
        parentId: Number(parentId),
        groupId: group,
        sessionId: group,
        hasTerminal: terminal !== '??',
        startedAt: startedAt.join(' '),
      },
    ];
  });
}

/** Between listing and reading, a process may end or be a zombie. It may be another user's. */
export async function unlessGone(reading: Promise<string>): Promise<string | null> {
  try {
    return await reading;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EINVAL', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}
