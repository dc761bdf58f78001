import { readdir, readFile, readlink } from 'node:fs/promises';
import { unlessGone } from './process-list.ts';

/**
 * Whether a process can reach the files of a directory that was moved to a new place: it works
 * there, or has something in there open, mapped or mounted. A process of this user that started
 * after `sinceMs` and does not let itself be looked at counts as one.
 *
 * Linux only: elsewhere it cannot be known, so the answer is yes.
 *
 * @param name of the new place, which no other directory has.
 */
export async function isReached(name: string, sinceMs: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const pids = (await readdir('/proc')).filter((each) => /^\d+$/.test(each));
  const found = await Promise.all(pids.map((pid) => reaches(`/proc/${pid}`, name, sinceMs)));
  return found.includes(true);
}

async function reaches(at: string, name: string, sinceMs: number): Promise<boolean> {
  const isInside = (path: string | null) => path?.includes(`/${name}/`) ?? false;
  // A container that the tool has started runs as another user.
  if (isInside(await unlessGone(readFile(`${at}/mountinfo`, 'utf8')))) return true;
  if (!(await isOfThisUser(at))) return false;
  try {
    if (isInside(`${await readlink(`${at}/cwd`)}/`)) return true;
    if (isInside(await readFile(`${at}/maps`, 'utf8'))) return true;
    for (const fd of await readdir(`${at}/fd`)) {
      const target = await unlessGone(readlink(`${at}/fd/${fd}`));
      if (isInside(`${target}/`)) return true;
    }
    return false;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH'].includes(code)) return false;
    if (!['EACCES', 'EPERM'].includes(code)) throw error;
    return (await readStartMs(at)) >= sinceMs;
  }
}

/** The files belong to this user; root may have started processes of any. */
async function isOfThisUser(at: string): Promise<boolean> {
  const own = process.geteuid?.() ?? 0;
  if (own === 0) return true;
  const status = (await unlessGone(readFile(`${at}/status`, 'utf8'))) ?? '';
  const [, uids = ''] = /^Uid:\s*(.*)$/m.exec(status) ?? [];
  return uids.split(/\s+/).includes(String(own));
}

/** Field 22 of proc_pid_stat(5) counts from the boot, in hundredths of a second. */
async function readStartMs(at: string): Promise<number> {
  const stat = await unlessGone(readFile(`${at}/stat`, 'utf8'));
  if (stat === null) return 0;
  const [uptime = ''] = (await readFile('/proc/uptime', 'utf8')).split(' ');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Date.now() - (Number(uptime) * 1_000 - Number(fields[19]) * 10);
}
