import { consoleEndpoints, type RequestOf, type ResponseOf } from '@signalbox/contract';
import { createClient } from '@signalbox/sdk';
import type { Target } from '../load/connection.ts';
import { baseUrlOf } from '../subjects/hub.ts';

/** The possessions of the attacker: the owner’s rights in a workspace of their own, no more. */
export interface AttackerWorld {
  readonly target: Target;
  readonly workspaceId: string;
  readonly repoId: string;
  readonly runId: string;
  /** The cookie of the owner's console session. */
  readonly cookie: string;
  /** A service token with all scopes that a member may give. */
  readonly token: string;
  readonly integrationSecret: string;
  /** An agent, the job that it holds, and the token of that job's tool. */
  readonly agentId: string;
  readonly jobId: string;
  readonly jobToken: string;
}

const LEASE_MS = 3_600_000;
/** As many as a page of a list holds, each nearly as long as a prompt may be. */
const LONG_JOBS = 200;
const LONG_PROMPT = 'x'.repeat(199_000);
const SETUP_CALLS = 8;
/** As many and as expensive as one workspace may have. */
const TRIGGERS = 100;
const conditions = Array.from({ length: 20 }, () => ({
  ...{ path: 'content', op: 'matches' as const },
  value: String.raw`(?i)(?:\pL{1,40}){4}z|$`,
}));

/** Makes the attacker the first owner, and prepares what the attacks read. */
export async function prepareAttacker(target: Target, hubOutput: string): Promise<AttackerWorld> {
  const baseUrl = baseUrlOf(target);
  const owner = await signUp(baseUrl, hubOutput);
  const { workspaceId } = owner;
  const { token } = await owner.call(consoleEndpoints.serviceTokens.mint, {
    ...{ workspaceId, name: 'attacker' },
  });
  const { secret: integrationSecret } = await owner.call(consoleEndpoints.integrationSecrets.mint, {
    ...{ workspaceId, name: 'attacker' },
  });
  const client = createClient({ baseUrl, token });
  const { repoId } = await client.repositories.upsert({
    ...{ workspaceId, remoteUrlHash: 'ad'.repeat(32) },
  });
  const { runId } = await client.runs.upsertV1({
    ...{ workspaceId, repoId, runRef: 'attack', status: 'in_progress', goal: 'Find the words.' },
  });
  const { agentId } = await client.agents.heartbeat({
    ...{ workspaceId, displayName: 'attacker', machineFingerprint: 'attacker' },
    capabilities: { canWrite: true, reposAllowed: [repoId] },
  });
  await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt: 'Hold this.' });
  const claim = await client.jobs.claimNext({ workspaceId, agentId, leaseMs: LEASE_MS });
  await repeat(LONG_JOBS, () =>
    client.jobs.enqueue({
      ...{ workspaceId, repoId, kind: 'work', prompt: LONG_PROMPT },
      requirements: { labels: { nobody: 'has this' } },
    }),
  );
  await repeat(TRIGGERS, (number) =>
    owner.call(consoleEndpoints.triggerSettings.create, {
      ...{ workspaceId, name: `trigger ${number}`, type: 'event', match: { where: conditions } },
      ...{ repoId, runRefTemplate: 'run', promptTemplate: '{{event.data}}' },
    }),
  );
  const { jobId, jobToken = '' } = claim;
  if (jobId === null) throw new Error('the attacker got no job');
  return {
    ...{ target, workspaceId, repoId, runId, cookie: owner.cookie(), token },
    ...{ integrationSecret, agentId, jobId, jobToken },
  };
}

async function repeat(count: number, make: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await make(next++);
  };
  await Promise.all(Array.from({ length: SETUP_CALLS }, run));
}

/** Creates the first owner by the link that the hub has printed. */
async function signUp(baseUrl: string, hubOutput: string) {
  const linkToken = /#token=([\w-]+)/.exec(hubOutput)?.[1];
  if (linkToken === undefined) throw new Error('the hub printed no link for the first owner');
  let cookie = '';
  const call = async <E extends { readonly path: string }>({ path }: E, body: RequestOf<E>) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        ...(cookie === '' ? {} : { cookie }),
      },
      body: JSON.stringify(body),
    });
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as ResponseOf<E>;
  };
  const { workspaces } = await call(consoleEndpoints.firstOwner.create, {
    ...{ linkToken, email: 'mallory@example.test', name: 'Mallory' },
    ...{ password: 'violet harbour 9 lanterns', workspaceSlug: 'attacker' },
    workspaceName: 'Attacker',
  });
  const workspaceId = workspaces[0]?.workspaceId;
  if (workspaceId === undefined) throw new Error('the first owner has no workspace');
  return { workspaceId, call, cookie: () => cookie };
}
