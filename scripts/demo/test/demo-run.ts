import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnInTerminal } from './pseudo-terminal.ts';

/** A demo that a test has started. */
export interface DemoRun {
  child: ChildProcess;
  /** Resolves with the match once the output holds one; rejects when the demo ends first. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<DemoEnd>;
}

export interface DemoEnd {
  exitCode: number;
  /** Standard output and standard error. */
  output: string;
  /** The only folder in which the demo could make temporary files. */
  temporary: string;
}

const script = join(import.meta.dirname, '../../demo.ts');

/** Starts the demo with pipes, or in a pseudo-terminal of so many columns. */
export function startDemo(
  directory: string,
  args: readonly string[],
  terminal?: { columns: number },
): DemoRun {
  const temporary = mkdtempSync(join(directory, 'temporary-'));
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...rest } = process.env;
  const env = { ...rest, TMPDIR: temporary };
  const child =
    terminal === undefined
      ? spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      : spawnInTerminal([process.execPath, script, ...args], { ...terminal, env });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, output, temporary }));
  return {
    child,
    ended,
    waitFor(pattern) {
      const found = new Promise<RegExpExecArray>((resolve) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        look();
      });
      const lost = ended.then(() => {
        throw new Error(`The demo ended before it printed ${pattern}:\n${output}`);
      });
      return Promise.race([found, lost]);
    },
  };
}

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}

/** A person's repository of two folders. */
export function makeRepository(directory: string): string {
  const path = join(directory, 'repository');
  for (const folder of ['source', 'pages']) {
    mkdirSync(join(path, folder), { recursive: true });
    writeFileSync(join(path, folder, 'file.txt'), 'text\n');
  }
  git(path, 'init', '--quiet');
  git(path, 'add', '.');
  const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test'];
  git(path, ...person, 'commit', '--quiet', '--message', 'Begin');
  return path;
}
