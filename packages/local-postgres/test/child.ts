import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

const door = JSON.stringify(new URL('../src/index.ts', import.meta.url).href);

/** A process that has started servers and now lives until it is ended. */
export interface Child {
  readonly process: ChildProcess;
  /** Of its servers. */
  readonly servers: readonly { url: string; folder: string }[];
}

/** Starts servers, each with the options given for it, from a process of their own. */
export async function startChild(
  t: TestContext,
  optionsOfServers: readonly object[],
): Promise<Child> {
  const script = `
    const { startLocalPostgres } = await import(${door});
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
