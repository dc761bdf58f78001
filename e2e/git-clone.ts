import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs git as a person with no settings of their own would. */
export function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trimEnd();
}

/** A clone with one commit on main and an origin that is never contacted. */
export function makeClone(path: string, originUrl: string): void {
  mkdirSync(path, { recursive: true });
  git(path, 'init', '--quiet', '--initial-branch=main');
  git(path, 'config', 'user.name', 'Ada Lovelace');
  git(path, 'config', 'user.email', 'ada@acme.example');
  git(path, 'remote', 'add', 'origin', originUrl);
  writeFileSync(join(path, 'README.md'), '# API\n');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '-m', 'Begin');
}
