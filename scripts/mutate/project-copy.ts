import { execFileSync } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeFolders } from '../check/source-files.ts';

const scope = '@signalbox';

/**
 * Copies the project as it is in the working tree, so that a mutant never touches it. The packages
 * of others are linked. It is removed when this process ends.
 */
export function copyProject(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'signalbox-mutate-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const;
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, options).split('\0');
  for (const file of listed) {
    // Tests read pages and settings of the root, too; large files elsewhere are not needed.
    const [folder = ''] = file.split('/');
    if (file !== folder && !codeFolders.includes(folder) && folder !== 'docs') continue;
    // A file may be deleted, and a link leads out of the copy.
    if (!lstatSync(join(root, file), { throwIfNoEntry: false })?.isFile()) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  linkPackages(root, copy);
  return copy;
}

/** The project's own packages are those of the copy. */
function linkPackages(root: string, copy: string): void {
  mkdirSync(join(copy, 'node_modules', scope), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === scope || name === '.cache') continue;
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules', scope, name));
  }
}
