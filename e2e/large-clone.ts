import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { git } from './git-clone.ts';

/** Of each generated file, half of which is random. */
const FILE_BYTES = 10_000;
const FILES_PER_FOLDER = 100;

/** Adds this many files to a clone in one commit, on top of what it has. */
export async function addFiles(clone: string, count: number): Promise<void> {
  const importer = spawn('git', ['fast-import', '--quiet'], {
    cwd: clone,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(importer, 'close');
  await write(importer, 'commit refs/heads/main\ncommitter A <a@example.test> 1 +0000\ndata 0\n');
  const hasCommit = git(clone, 'for-each-ref', 'refs/heads/main') !== '';
  if (hasCommit) await write(importer, 'from refs/heads/main^0\n');
  for (let number = 0; number < count; number++) {
    const text = `${randomBytes(FILE_BYTES / 2).toString('hex')}\n`;
    const folder = Math.floor(number / FILES_PER_FOLDER);
    const name = `src/${folder % 10}/${folder}/file-${number}.txt`;
    await write(importer, `M 644 inline ${name}\ndata ${text.length}\n${text}\n`);
  }
  importer.stdin?.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  git(clone, 'reset', '--quiet', '--hard');
}

async function write({ stdin }: ChildProcess, text: string): Promise<void> {
  if (stdin?.write(text) === false) await once(stdin, 'drain');
}
