import { type Endpoint, endpointList, endpoints, exampleIds } from '@signalbox/contract';
import type { World } from './api-world.ts';
import { startCloudAiJob } from './cloud-ai-world.ts';
import { addItem, buildPack } from './context-world.ts';
import { ensureRun, openDecision } from './decision-world.ts';
import { exchange } from './http-exchange.ts';
import { addEvent, addTriggerRow } from './ledger-setup.ts';
import {
  addDraft,
  addSent,
  approvedAnyway,
  approveResult,
  askForPatch,
  finishOnRequest,
  finishWithCommit,
} from './review-world.ts';
import { upload } from './upload-setup.ts';

/** The endpoints that a hub says it answers. */
export async function listBoundEndpoints(baseUrl: string): Promise<Endpoint[]> {
  const { path } = endpoints.health.openapi;
  const { body } = await exchange(baseUrl, { method: 'GET', path });
  const paths = body.paths as Record<string, object>;
  return endpointList.filter((row) => row.method.toLowerCase() in (paths[row.path] ?? {}));
}

/** Those among them that take JSON. */
export async function listBoundCalls(baseUrl: string): Promise<Endpoint[]> {
  const bound = await listBoundEndpoints(baseUrl);
  return bound.filter(({ method, bytes }) => method === 'POST' && bytes === undefined);
}

/** Whether a call is about a run, so that a job's tool may make it for its own run only. */
export function namesRun({ example }: Endpoint): boolean {
  return ['runId', 'runRef', 'uncertaintyId'].some((name) => name in example.request);
}

async function fillRun(world: World, body: Record<string, unknown>): Promise<void> {
  const runId = await ensureRun(world);
  if ('runId' in body) body.runId = runId;
  if ('uncertaintyId' in body) body.uncertaintyId = await openDecision(world, runId, body);
}

/** Results with comments, and variants. */
async function fillWork(
  world: World,
  endpoint: Endpoint,
  body: Record<string, unknown>,
  jobId: string,
): Promise<void> {
  const { answer, remove, resolve, save } = endpoints.reviewComments;
  if (endpoint === save) body.jobId = await finishWithCommit(world);
  if (endpoint === remove) body.commentId = await addDraft(world);
  if (endpoint === resolve) body.commentId = await addSent(world);
  if (endpoint === answer) await addSent(world, jobId);
  const { approve, land, close } = endpoints.works;
  if (endpoint === approve || endpoint === close) body.jobId = await finishWithCommit(world);
  if (endpoint === approve) Object.assign(body, approvedAnyway);
  if (endpoint === land) body.jobId = await approveResult(world);
  if (endpoint === endpoints.jobs.requestPatch) body.jobId = await finishOnRequest(world);
  if (endpoint === endpoints.jobs.sharePatch) body.jobId = await askForPatch(world);
  if (endpoint === endpoints.jobs.chooseVariant) {
    const { workspaceId, repoId } = world.home;
    const draft = { workspaceId, repoId, kind: 'work', prompt: 'Twice.' } as const;
    const twice = { ...draft, variants: [{}, {}] };
    body.jobId = (await world.call(endpoints.jobs.enqueue, twice)).jobId;
  }
}

/** The endpoint's own example with real ids in place of its. */
export async function fillExample(
  world: World,
  endpoint: Endpoint,
  jobId: string,
): Promise<Record<string, unknown>> {
  const { home, agentId } = world;
  const real: Record<string, string> = {
    [exampleIds.workspace]: home.workspaceId,
    [exampleIds.repository]: home.repoId,
    [exampleIds.agent]: agentId,
    [exampleIds.job]: jobId,
    acme: home.slug,
  };
  const body: Record<string, unknown> = { ...endpoint.example.request };
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string') body[name] = real[value] ?? value;
  }
  if ('cloudAiJobId' in body) body.cloudAiJobId = await startCloudAiJob(world, home, agentId);
  if (namesRun(endpoint)) await fillRun(world, body);
  if ('jobs' in body && jobId !== '') body.jobs = [{ jobId }];
  if ('uploadId' in body) body.uploadId = await upload(world, 'text');
  if ('uncertaintyIds' in body) {
    body.uncertaintyIds = [await openDecision(world, await ensureRun(world))];
  }
  if ('itemId' in body) body.itemId = await addItem(world, world.home, 'Found by its id.');
  const { resolveRunV1 } = endpoints.contextPacks;
  if (endpoint === resolveRunV1) await buildPack(world, world.home, String(body.runId));
  if ('triggerId' in body) body.triggerId = await addTriggerRow(world, world.home, 'Off', 0);
  if ('eventId' in body) body.eventId = await addEvent(world, world.home);
  if ('deviceSecret' in body) {
    const device = await world.call(endpoints.devices.start, { workspaceSlug: home.slug });
    Object.assign(body, { deviceId: device.deviceId, deviceSecret: device.deviceSecret });
  }
  await fillWork(world, endpoint, body, jobId);
  // The example waits for a job to come; here none will.
  if ('waitMs' in body) body.waitMs = 0;
  return body;
}
