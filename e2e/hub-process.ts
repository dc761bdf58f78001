import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ProcessEnd, StartedProcess } from '../scripts/process/start-process.ts';
import { databaseSettings } from './hub-database.ts';
import { projectRoot, startNode } from './node-process.ts';

/** The script that `npm start` runs once everything is installed. */
export const hubScript = join(projectRoot, 'scripts/start.ts');

export interface HubProcess {
  /** As the hub prints it, without a slash at its end. */
  readonly baseUrl: string;
  /** The one-time link for the first owner; null when the hub has people. */
  readonly firstOwnerUrl: string | null;
  readonly child: ChildProcess;
  readonly process: StartedProcess;
  /** SIGTERM, and how it ended. May be called again. */
  stop(): Promise<ProcessEnd>;
  /** SIGKILL, and its end. */
  kill(): Promise<ProcessEnd>;
}

export interface HubProcessOptions {
  dataDir: string;
  /** Default: any free one. For a hub that is started again, one of `findFreePort`. */
  port?: number;
  /** Settings beside the data directory and the port. */
  env?: NodeJS.ProcessEnv;
  /** Script and arguments that start the hub; default: what `npm start` runs. */
  line?: readonly string[];
  /** The Node that runs them; default: this one. */
  node?: string;
  /** Default: the project. */
  cwd?: string;
}

/**
 * Starts a real hub in a process of its own and resolves when it answers. It ends with the
 * scenario's process at the latest.
 *
 * @throws with what the hub printed when it does not start.
 */
export async function startHubProcess(options: HubProcessOptions): Promise<HubProcess> {
  const { dataDir, port = 0, env, line = [hubScript], ...place } = options;
  const started = startNode(line, {
    ...place,
    env: {
      SVC_DATA_DIR: dataDir,
      SVC_PORT: String(port),
      ...(await databaseSettings(dataDir)),
      ...env,
    },
  });
  const [, baseUrl = ''] = await started.waitFor(/^Signalbox listens on (\S+)\n/m);
  // The start is described in one write, so the link is there when the address is.
  const link = /^\s+(https?:\S+#token=\S+)$/m.exec(started.stdout);
  return {
    baseUrl,
    firstOwnerUrl: link?.[1] ?? null,
    child: started.child,
    process: started,
    stop() {
      started.child.kill('SIGTERM');
      return started.ended;
    },
    kill() {
      started.child.kill('SIGKILL');
      return started.ended;
    },
  };
}
