import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as fc from 'fast-check';
import { testEngine } from '../support/test-engine.ts';
import { type Step, steps, waitingSteps } from './model/commands.ts';
import { HubWorkspace, openModelHub } from './model/hub.ts';
import { ModelRun } from './model/run.ts';

/** A usual run ends with its time; as many random sequences as are asked for take theirs. */
const USUAL = { numRuns: 250, interruptAfterTimeLimit: testEngine === 'sqlite' ? 7_000 : 20_000 };
const asked = process.env.SIGNALBOX_TEST_MODEL_SEQUENCES;
const extent = asked === undefined ? USUAL : { numRuns: Number(asked) };
/** The seed that a failure prints runs its sequences again. */
const seed = process.env.SIGNALBOX_TEST_MODEL_SEED;
const SEQUENCES_MIN = 10;

/** Runs each sequence in a workspace of its own, against a model of its own. */
async function compare(
  t: TestContext,
  sequences: fc.Arbitrary<Step[]>,
  afterStep: (run: ModelRun) => Promise<void>,
): Promise<void> {
  const hub = await openModelHub(t);
  let sequence = 0;
  let commands = 0;
  const runSequence = async (sent: Step[]) => {
    sequence += 1;
    const workspace = await HubWorkspace.create(hub, `model-${sequence}`);
    const run = new ModelRun(hub, workspace);
    try {
      for (const step of sent.flatMap(splitBurst)) {
        await run.take(step);
        await afterStep(run);
      }
      await workspace.stopParked();
      await run.drain();
      await run.compareEnd();
    } finally {
      await workspace.stopParked();
      commands += run.count;
    }
  };
  let latest = Promise.resolve();
  const property = fc.asyncProperty(sequences, (sent) => {
    latest = runSequence(sent);
    return latest;
  });
  await fc.assert(property, { ...extent, ...(seed === undefined ? {} : { seed: Number(seed) }) });
  // When the time is over, the sequence under way is left behind; it is to end before its hub does.
  await latest;
  t.diagnostic(`${sequence} sequences, ${commands} commands`);
  assert.ok(sequence >= SEQUENCES_MIN, `only ${sequence} sequences in the time there was`);
}

/** Commands at once take effect in their order on SQLite only. */
function splitBurst(step: Step): Step[] {
  if (testEngine === 'sqlite' || !('burst' in step)) return [step];
  return step.burst.map((command) => ({ burst: [command] }));
}

test('whatever is asked in whatever order, the queue answers and ends as its model does', (t) =>
  compare(t, steps, async () => undefined));

test('claims that wait get what their model would give them, and miss no wake', (t) =>
  compare(t, waitingSteps, (run) => run.settleWaits()));
