import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A live process. Pids are reused; `startedAt` and `pid` together identify one unambiguously. */
export interface ProcessRow {
  pid: number;
  groupId: number;
  sessionId: number;
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
  const environment = await readIfThere(`/proc/${pid}/environ`);
  return environment?.split('\0').includes(`${name}=${value}`) ?? false;
}

async function readStat(pid: number): Promise<ProcessRow | null> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the command in parentheses, with arbitrary content; the rest follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, , groupId, sessionId] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Field 22 of proc_pid_stat(5), in clock ticks since boot; the boot ID makes it unique.
  return {
    pid,
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    startedAt: `${await readBootId()}:${fields[19]}`,
  };
}

let bootId: Promise<string> | undefined;

function readBootId(): Promise<string> {
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim());
  return bootId;
}

async function listByPs(): Promise<ProcessRow[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,pgid=,stat=,lstart='], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  return stdout.split('\n').flatMap((line) => {
    const [pid, groupId, state, ...startedAt] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) return [];
    // ps on macOS has no session ID; a job's session and group share the ID of their leader.
    const group = Number(groupId);
    return [{ pid: Number(pid), groupId: group, sessionId: group, startedAt: startedAt.join(' ') }];
  });
}

/** Between listing and reading, a process may end; it may also belong to another user. */
async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}
