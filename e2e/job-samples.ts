import { createClient } from '@signalbox/sdk';
import { type SeedJob, seedWorld } from '../scripts/demo/seed.ts';

/** A word that cannot be broken, markup that must stay text, and right-to-left text. */
const awkward =
  `<img src=x onerror=alert(1)> ${'veryLongIdentifierWithoutAnyBreak'.repeat(8)} ` +
  'مرحبا https://acme.example/a/rather/long/path?with=a&query=string';

const output =
  '\u001b[1mRunning tests\u001b[0m\r\n' +
  '\u001b[32m✓\u001b[0m health check answers \u001b[2m(12 ms)\u001b[0m\n' +
  '\u001b[31m✗\u001b[0m \u001b[33mdeprecated\u001b[0m option, see https://acme.example/docs\n' +
  `${'a line without an end '.repeat(30)}\n${awkward}`;

export type SampleName = 'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled';

const repository = 'acme/api';
const log = [output];
const samples: Readonly<Record<SampleName, Omit<SeedJob, 'repository' | 'name'>>> = {
  done: {
    prompt: 'Add a health check to the API.\n\nIt answers at /health.',
    log,
    course: {
      status: 'ended',
      result: {
        outcome: 'done',
        message: 'Added GET /health, with a test.',
        evidence: {
          commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
          branch: 'signalbox/job-1',
          changedFiles: ['src/health.ts', `docs/${'deeply/nested/'.repeat(12)}health.md`],
        },
        usage: { inputTokens: 48_211, outputTokens: 3_120, costUsd: 0.41, model: 'some-model' },
      },
    },
  },
  failed: {
    prompt: awkward,
    log,
    course: {
      status: 'ended',
      result: {
        outcome: 'failed',
        message: `The tests fail.\n${awkward}`,
        outcomeReason: { category: 'tool', code: 'tests_failed', summary: awkward },
      },
    },
  },
  blocked: {
    prompt: 'Move the billing tables to their own schema.',
    log,
    course: {
      status: 'ended',
      result: { outcome: 'blocked', message: 'Which schema is it to be?' },
    },
  },
  running: {
    prompt: 'Speed up the slowest query of the report.',
    log,
    course: { status: 'running', loop: [] },
  },
  canceled: {
    prompt: 'Try the other framework.',
    course: { status: 'canceled', reason: 'Not needed.' },
  },
  pending: {
    prompt: 'Review the open pull request.',
    after: ['running'],
    course: { status: 'pending' },
  },
};

/** Jobs in every status, with everything that a page can show of them. Returns their ids. */
export async function makeJobSamples(
  baseUrl: string,
  token: string,
  workspaceId: string,
): Promise<Readonly<Record<SampleName, string>>> {
  const client = createClient({ baseUrl, token });
  const { jobIds } = await seedWorld(
    { client, workspaceId, person: client },
    {
      agents: [{ name: 'build-7', repositories: [repository], jobsMax: 10 }],
      jobs: Object.entries(samples).map(([name, job]) => ({ ...job, repository, name })),
    },
  );
  // Each sample has its name.
  return Object.fromEntries(jobIds) as Record<SampleName, string>;
}
