import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { claimNextCloudAiJob } from './claim.ts';
import { completeCloudAiJob } from './complete.ts';
import { enqueueCloudAiJob } from './enqueue.ts';
import { presentCloudAiJob } from './present.ts';
import { renewCloudAiLease } from './renew.ts';
import { viewCloudAiJob } from './require-cloud-ai-job.ts';

export function bindCloudAiJobRoutes(api: Api, deps: HubDeps): void {
  const { cloudAiJobs } = endpoints;
  api.bind(cloudAiJobs.enqueue, (input, { principal }) =>
    enqueueCloudAiJob(deps, principal, input),
  );
  api.bind(cloudAiJobs.get, async ({ workspaceId, cloudAiJobId }) => {
    const { reader } = deps.database;
    const { entry, row } = await viewCloudAiJob(reader, workspaceId, cloudAiJobId);
    return { cloudAiJob: presentCloudAiJob(entry, row) };
  });
  api.bind(cloudAiJobs.claimNext, (input, context) => claimNextCloudAiJob(deps, context, input));
  api.bind(cloudAiJobs.heartbeat, (input, context) => renewCloudAiLease(deps, context, input));
  api.bind(cloudAiJobs.complete, (input, context) => completeCloudAiJob(deps, context, input));
}
