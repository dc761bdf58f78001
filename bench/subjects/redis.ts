import { execFileSync } from 'node:child_process';
import { findFreePort } from '@signalbox/local-postgres';
import { type StartedProcess, startProcess } from '../../scripts/process/start-process.ts';

export interface RedisServer {
  readonly port: number;
  readonly child: StartedProcess;
}

/** The version of the redis-server on the PATH; null if it is not installed. */
export function readRedisVersion(): string | null {
  try {
    const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
    return /v=(\S+)/.exec(text)?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Starts a new Redis that acknowledges a write only when it is on disk, as the hub does. */
export async function startRedis(directory: string): Promise<RedisServer> {
  const port = await findFreePort();
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: directory,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    // Otherwise BullMQ warns that jobs could be evicted.
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = startProcess('redis-server', args);
  await child.waitFor(/Ready to accept connections/);
  return { port, child };
}
