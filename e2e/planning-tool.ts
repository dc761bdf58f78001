// The coding tool of the scenario that begins in the chat: a script that plays one. It knows what
// an agent tells any tool, and calls the hub with the token of its job alone. The first time it
// gathers what is known and asks a person; once there is an answer, it writes the plan and commits.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '@signalbox/sdk';

const prompt = readFileSync(0, 'utf8');
const workspaceId = read('SIGNALBOX_WORKSPACE_ID');
const jobId = read('SIGNALBOX_JOB_ID');
const run = { workspaceId, runId: read('SIGNALBOX_RUN_ID') };
const client = createClient({
  baseUrl: read('SIGNALBOX_BASE_URL'),
  token: read('SIGNALBOX_JOB_TOKEN'),
});

const { job } = await client.jobs.get({ workspaceId, jobId });
const [decision] = job.decisions;
if (decision === undefined) await askPerson();
else await writePlan(decision.value);

async function askPerson(): Promise<void> {
  await reach('planning');
  const pack = await client.contextPacks.buildRunV1({ ...run, expansionHints: [] });
  const { sections } = await client.contextPacks.resolveRunV1({
    ...run,
    packId: pack.packId,
    expansionHints: ['fresh_v1'],
  });
  const asked = await client.uncertainties.createWithAutoPromotion({
    ...run,
    jobId,
    prompt: 'Which port may the health check use?',
    kind: 'choice',
    // The person who answers sees what the tool saw.
    context: JSON.stringify(sections.map(({ kind, textKind, text }) => ({ kind, textKind, text }))),
    confidence: 0.3,
    impact: 'medium',
    reversibility: 'easy',
    assumedValue: '8080',
    assumedReasoning: 'It is the usual one.',
    autoPromoteThreshold: 0.7,
  });
  report('blocked', `Asked: ${asked.uncertaintyId}`);
}

async function writePlan(answer: string): Promise<void> {
  mkdirSync('docs', { recursive: true });
  writeFileSync('docs/plan.md', `# Plan\n\nPort: ${answer}\n\n${prompt}`);
  execFileSync('git', ['add', 'docs/plan.md']);
  execFileSync('git', ['commit', '--quiet', '--message', 'Plan the health check']);
  await reach('complete');
  report('done', 'Planned.');
}

/** Tells the milestone of the run, and nothing else of it, as the token of a job may. */
async function reach(currentMilestone: string): Promise<void> {
  const { status } = (await client.runs.get(run)).run;
  await client.runs.upsertV2({ ...run, status, currentMilestone });
}

function report(outcome: 'blocked' | 'done', message: string): void {
  writeFileSync(read('SIGNALBOX_RESULT_FILE'), JSON.stringify({ outcome, message }));
}

function read(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`The agent did not set ${name}.`);
  return value;
}
