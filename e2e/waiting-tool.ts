// The coding tool of a scenario that kills: a script that asks a person, and waits for the answer
// itself. When it is killed, its job is tried again and asks the same question, by the same key.
import { writeFileSync } from 'node:fs';
import { createClient } from '@signalbox/sdk';

const workspaceId = read('SIGNALBOX_WORKSPACE_ID');
const jobId = read('SIGNALBOX_JOB_ID');
/** Enough attempts to outlast a restart of the hub many times over. */
const maxAttempts = 100;
const client = createClient({
  baseUrl: read('SIGNALBOX_BASE_URL'),
  token: read('SIGNALBOX_JOB_TOKEN'),
  maxAttempts,
});
/** One call waits for so long. */
const WAIT_MS = 20_000;

report('failed', { code: 'interrupted', retryable: true, summary: 'It was killed.' });
const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
  workspaceId,
  jobId,
  kind: 'choice',
  confidence: 0.2,
  prompt: `Question of ${jobId}?`,
  idempotencyKey: `question-of-${jobId}`,
});
const answer = await untilAnswered();
report('done', `Answer: ${answer}`);

async function untilAnswered(): Promise<string> {
  for (;;) {
    const { uncertainty } = await client.uncertainties.wait({
      workspaceId,
      uncertaintyId,
      waitMs: WAIT_MS,
    });
    if (uncertainty.resolution !== null) return uncertainty.resolution.value;
  }
}

function report(outcome: 'failed' | 'done', result: string | object): void {
  const told = typeof result === 'string' ? { message: result } : { outcomeReason: result };
  writeFileSync(read('SIGNALBOX_RESULT_FILE'), JSON.stringify({ outcome, ...told }));
}

function read(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`The agent did not set ${name}.`);
  return value;
}
