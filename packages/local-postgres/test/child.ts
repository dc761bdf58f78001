import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

const indexUrl = JSON.stringify(new URL('../src/index.ts', import.meta.url).href);

/** A process that has started servers and runs until it is ended. */
export interface Child {
  readonly process: ChildProcess;
  /** The servers of the process. */
  readonly servers: readonly { url: string; folder: string }[];
}

/** Starts servers with the given options from a separate process. */
export async function startChild(
  t: TestContext,
  optionsOfServers: readonly object[],
): Promise<Child> {
  const script = `
    const { startLocalPostgres } = await import(${indexUrl});
    const servers = await Promise.all(${JSON.stringify(optionsOfServers)}.map(startLocalPostgres));
    console.log(JSON.stringify(servers));
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { process: child, servers: JSON.parse(String(line)) };
}
