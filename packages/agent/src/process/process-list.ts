import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** One live process. `startedAt` together with `pid` names it for good, though pids are reused. */
export interface ProcessRow {
  pid: number;
  groupId: number;
  sessionId: number;
  startedAt: string;
}

const isLinux = process.platform === 'linux';
const run = promisify(execFile);

/** Every live process (zombies are dead) that this person may see. */
export async function listProcesses(): Promise<ProcessRow[]> {
  if (!isLinux) return await listByPs();
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(names.map((name) => readStat(Number(name))));
  return rows.filter((row) => row !== null);
}

/** The process with this pid, or null when it is not alive. */
export async function findProcess(pid: number): Promise<ProcessRow | null> {
  if (isLinux) return await readStat(pid);
  return (await listByPs()).find((row) => row.pid === pid) ?? null;
}

/**
 * Whether the process was started with this variable in its environment: the way to find a
 * descendant that has left its session. Linux only; elsewhere the session alone is known.
 */
export async function hasVariable(pid: number, name: string, value: string): Promise<boolean> {
  if (!isLinux) return false;
  const environment = await readIfThere(`/proc/${pid}/environ`);
  return environment?.split('\0').includes(`${name}=${value}`) ?? false;
}

async function readStat(pid: number): Promise<ProcessRow | null> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the command in parentheses and may hold anything; the rest follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, , groupId, sessionId] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Field 22 of proc_pid_stat(5), in clock ticks since boot; the boot's own id makes it unique.
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
    // ps on macOS has no session id; a job's session and group have one id, that of its leader.
    const group = Number(groupId);
    return [{ pid: Number(pid), groupId: group, sessionId: group, startedAt: startedAt.join(' ') }];
  });
}

/** A process may end, or belong to someone else, between listing and reading. */
async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}
