// The coding tool of scenarios with people: a script that plays one. It asks a person first.
// With an answer, it works until the scenario lets it end, so that the job is seen running, and
// writes the answer to a file of the repository.
import { existsSync, readFileSync, unwatchFile, watchFile, writeFileSync } from 'node:fs';
import { createClient } from '@signalbox/sdk';

/** The scenario creates this file. */
const endFile = process.argv[2] ?? '';
const LOOK_MS = 50;

readFileSync(0, 'utf8');
const workspaceId = read('SIGNALBOX_WORKSPACE_ID');
const jobId = read('SIGNALBOX_JOB_ID');
const client = createClient({
  baseUrl: read('SIGNALBOX_BASE_URL'),
  token: read('SIGNALBOX_JOB_TOKEN'),
});

const { job } = await client.jobs.get({ workspaceId, jobId });
const [decision] = job.decisions;
if (decision === undefined) {
  await client.uncertainties.createWithAutoPromotion({
    workspaceId,
    jobId,
    prompt: 'Which port may the health check use?',
    kind: 'choice',
    context: 'The balancer of the staging network reaches two ports.',
    confidence: 0.35,
    impact: 'medium',
    reversibility: 'easy',
    assumedValue: '8080',
    assumedReasoning: 'It is the usual one.',
    options: [
      { value: '8080', label: 'Port 8080', description: 'Open already.' },
      { value: '9443', label: 'Port 9443', description: 'Open since today, with TLS.' },
    ],
    recommendedValue: '9443',
  });
  report('blocked', 'Asked for a port.');
} else {
  await waitForFile();
  writeFileSync('health-port', `${decision.value}\n`);
  report('done', `Port: ${decision.value}`);
}

function waitForFile(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(endFile)) return;
      unwatchFile(endFile, look);
      resolve();
    };
    watchFile(endFile, { interval: LOOK_MS }, look);
    look();
  });
}

function report(outcome: 'blocked' | 'done', message: string): void {
  writeFileSync(read('SIGNALBOX_RESULT_FILE'), JSON.stringify({ outcome, message }));
}

function read(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`The agent did not set ${name}.`);
  return value;
}
