import type { endpoints, RequestInput } from '@signalbox/contract';
import type { RequestContext } from '../base/principal.ts';
import { sendUpdate } from '../db/row-write.ts';
import { renewLease } from '../queue/leased-work.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { requireCloudAiJobOfAgent } from './require-cloud-ai-job.ts';

type HeartbeatInput = RequestInput<typeof endpoints.cloudAiJobs.heartbeat.request>;

/**
 * Extends the lease of a running cloud AI job.
 *
 * @throws HubError CLOUD_AI_JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`
 */
export function renewCloudAiLease(
  deps: HubDeps,
  { principal }: RequestContext,
  input: HeartbeatInput,
): Promise<{ leaseExpiresAt: string; cancelRequested: boolean }> {
  return renewLease(deps, input.cloudAiJobId, input, {
    read: (tx) => requireCloudAiJobOfAgent(tx, principal, input),
    async record(tx, _entry, { workspace_id, cloud_ai_job_id }) {
      const { message } = input;
      if (message !== undefined) {
        sendUpdate(tx, 'cloud_ai_jobs', { workspace_id, cloud_ai_job_id }, { message });
      }
      return { columns: {}, more: {} };
    },
  });
}
