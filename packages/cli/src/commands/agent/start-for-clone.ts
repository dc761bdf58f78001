import type { ExitCode } from '../../exit-codes.ts';
import type { Login } from '../../hub/credentials.ts';
import type { Io } from '../../terminal/io.ts';
import type { SignalOptions } from './agent-signals.ts';
import { agentStateDir, cloneStateDir } from './choose-clones.ts';
import { startFromOptions } from './start-agent.ts';

/**
 * Runs an agent for one clone, with the coding tool on the PATH, until it has ended. It has a state
 * directory for the clone, so that each clone of a machine can have one.
 *
 * @throws {CliError} AGENT_ALREADY_RUNNING, EXECUTOR_MISSING and what `agent start` throws.
 */
export function startForClone(
  io: Io,
  { url, workspaceSlug, workspaceId }: Login,
  { path }: { path: string },
  signals: SignalOptions,
): Promise<ExitCode> {
  const shared = agentStateDir(io.env, { baseUrl: url, workspaceId, workspaceSlug });
  const stateDir = cloneStateDir(shared, path);
  const options = { url, workspace: workspaceSlug, repo: [path] };
  return startFromOptions(io, options, { signals, stateDir });
}
