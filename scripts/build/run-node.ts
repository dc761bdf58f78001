import { spawn } from 'node:child_process';

/**
 * Runs a script in a process of its own.
 *
 * @param what names the step in the error, which contains the output of the script.
 */
export function runNode(what: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`${what} failed:\n${output.join('').trim()}`));
    });
  });
}
