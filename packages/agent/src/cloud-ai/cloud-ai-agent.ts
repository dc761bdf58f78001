import { systemClock } from '../clock.ts';
import { createRedactor } from '../job/redaction.ts';
import { createHubClient, Lifecycle, withLockedState } from '../lifecycle.ts';
import { readMachineFingerprint } from '../state-directory.ts';
import {
  type CloudAiAgentOptions,
  cloudAiDefaults,
  type RunningCloudAiAgent,
} from './cloud-ai-options.ts';
import { createCloudAiWork } from './held-cloud-ai-jobs.ts';

/**
 * Starts an executor of cloud AI jobs: registers it as an agent, claims jobs and calls the model
 * until the executor is drained or stopped. Later events arrive at `onEvent` and `done`.
 *
 * @throws {AgentAlreadyRunningError} another agent uses the state directory.
 * @throws {TypeError} an option is invalid.
 */
export async function startCloudAiAgent(
  options: CloudAiAgentOptions,
): Promise<RunningCloudAiAgent> {
  const { workspaceId, displayName, models } = options;
  const slots = options.concurrency ?? cloudAiDefaults.concurrency;
  if (!Number.isInteger(slots) || slots < 1 || slots > 1_000) {
    throw new TypeError('concurrency must be an integer from 1 to 1000.');
  }
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const leaseMs = options.leaseMs ?? cloudAiDefaults.leaseMs;
  const emit = options.onEvent ?? (() => {});
  const client = options.client ?? createHubClient('signalbox-cloud-ai', options);
  const redactor = createRedactor([...(options.secrets ?? []), options.token ?? '']);
  return withLockedState(
    options.stateDir,
    async (_state, lock) =>
      new Lifecycle(
        {
          client,
          workspaceId,
          displayName,
          slots,
          leaseMs,
          lock,
          clock,
          random,
          emit,
          machineFingerprint: await readMachineFingerprint(options.stateDir),
          // The executor serves no repository, so it never receives a job that needs a clone.
          capabilities: {
            models: [...models],
            maxConcurrentJobs: slots,
            reposAllowed: [],
            canWrite: false,
            canUseNetwork: true,
            labels: { provider: options.provider.name },
          },
        },
        (hooks) =>
          createCloudAiWork({ ...hooks, options, client, clock, random, redactor, leaseMs, emit }),
      ),
  );
}
