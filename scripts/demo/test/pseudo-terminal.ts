import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/**
 * Why no test can have a terminal here; undefined where one can. The `script` of util-linux opens
 * the terminal. Debian installs it everywhere (package bsdutils). Other systems have another
 * program of this name, or none.
 */
export const terminalSkip: string | undefined = findTerminalSkip();

function findTerminalSkip(): string | undefined {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (stdout?.includes('util-linux')) return undefined;
  return 'a pseudo-terminal needs the command `script` of util-linux';
}

/** Runs a command in a pseudo-terminal. Its input is the keyboard, its output the screen. */
export function spawnInTerminal(
  command: readonly string[],
  options: { columns: number; env: NodeJS.ProcessEnv },
): ChildProcess {
  const line = `stty cols ${options.columns} rows 40 && exec ${command.map(quoteForShell).join(' ')}`;
  return spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    env: { ...options.env, SHELL: '/bin/sh', TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
