import { type Client, createClient } from '@signalbox/sdk';

/** A word that cannot be broken, markup that must stay text, and right-to-left text. */
const awkward =
  `<img src=x onerror=alert(1)> ${'veryLongIdentifierWithoutAnyBreak'.repeat(8)} ` +
  'مرحبا https://acme.example/a/rather/long/path?with=a&query=string';

const output =
  '\u001b[1mRunning tests\u001b[0m\r\n' +
  '\u001b[32m✓\u001b[0m health check answers \u001b[2m(12 ms)\u001b[0m\n' +
  '\u001b[31m✗\u001b[0m \u001b[33mdeprecated\u001b[0m option, see https://acme.example/docs\n' +
  `${'a line without an end '.repeat(30)}\n${awkward}\n`;

export type SampleName = 'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled';

/** Jobs in every status, with everything that a page can show of them. */
export async function makeJobSamples(
  baseUrl: string,
  token: string,
  workspaceId: string,
): Promise<Readonly<Record<SampleName, string>>> {
  const client = createClient({ baseUrl, token });
  const { repoId } = await client.repositories.upsert({
    ...{ workspaceId, remoteUrlHash: 'c3'.repeat(32), label: 'acme/api' },
  });
  const { agentId } = await client.agents.heartbeat({
    ...{ workspaceId, displayName: 'build-7', machineFingerprint: 'build-7' },
    capabilities: { canWrite: true, reposAllowed: [repoId], maxConcurrentJobs: 10 },
  });
  const place = { client, workspaceId, repoId, agentId };

  const done = await work(place, 'Add a health check to the API.\n\nIt answers at /health.');
  await client.jobs.complete({
    ...{ ...done, outcome: 'done', message: 'Added GET /health, with a test.' },
    evidence: {
      commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
      changedFiles: ['src/health.ts', `docs/${'deeply/nested/'.repeat(12)}health.md`],
      // Further fields are kept and shown; the type of a request does not list them.
      ...{ branch: 'signalbox/job-1' },
    },
    usage: { inputTokens: 48_211, outputTokens: 3_120, costUsd: 0.41, model: 'some-model' },
  });
  const failed = await work(place, awkward);
  await client.jobs.complete({
    ...{ ...failed, outcome: 'failed', message: `The tests fail.\n${awkward}` },
    outcomeReason: { category: 'tool', code: 'tests_failed', summary: awkward },
  });
  const blocked = await work(place, 'Move the billing tables to their own schema.');
  await client.jobs.complete({
    ...{ ...blocked, outcome: 'blocked', message: 'Which schema is it to be?' },
  });
  const running = await work(place, 'Speed up the slowest query of the report.');
  const canceled = await enqueue(place, 'Try the other framework.');
  await client.jobs.cancel({ workspaceId, jobId: canceled });
  const pending = await enqueue(place, 'Review the open pull request.', [running.jobId]);
  const ids = { done, failed, blocked, running };
  const held = Object.entries(ids).map(([name, { jobId }]) => [name, jobId]);
  return { ...(Object.fromEntries(held) as Record<keyof typeof ids, string>), pending, canceled };
}

interface Place {
  client: Client;
  workspaceId: string;
  repoId: string;
  agentId: string;
}

async function enqueue(place: Place, prompt: string, dependsOn: string[] = []): Promise<string> {
  const { client, workspaceId, repoId } = place;
  const draft = { workspaceId, repoId, kind: 'work', prompt, dependsOn } as const;
  return (await client.jobs.enqueue(draft)).jobId;
}

/** Enqueues a job, claims it and lets it say something. */
async function work(place: Place, prompt: string) {
  const { client, workspaceId, agentId } = place;
  const jobId = await enqueue(place, prompt);
  const { claimGeneration } = await client.jobs.claimNext({ workspaceId, agentId });
  if (!claimGeneration) throw new Error('The job that was enqueued was not claimed.');
  const held = { workspaceId, jobId, agentId, claimGeneration };
  await client.jobs.heartbeat({ ...held, leaseMs: 600_000, message: 'Reading the code.' });
  await client.jobs.heartbeat({ ...held, leaseMs: 600_000 });
  await client.jobEvents.append({
    ...held,
    entries: [{ logSeq: 1, message: output, stream: 'stdout' }],
  });
  return held;
}
