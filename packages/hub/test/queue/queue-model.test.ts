import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as fc from 'fast-check';
import { testEngine } from '../support/test-engine.ts';
import { type Step, steps, waitingSteps } from './model/commands.ts';
import { HubWorkspace, openModelHub } from './model/hub.ts';
import { ModelRun } from './model/run.ts';

/** A usual run ends after a fixed time; a requested number of sequences runs to its end. */
const USUAL = { numRuns: 250, interruptAfterTimeLimit: testEngine === 'sqlite' ? 7_000 : 20_000 };
const asked = process.env.SIGNALBOX_TEST_MODEL_SEQUENCES;
const extent = asked === undefined ? USUAL : { numRuns: Number(asked) };
/** The seed that a failure prints replays its sequences. */
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
  // When the time is over, the sequence in progress is abandoned; it must end before its hub does.
  await latest;
  t.diagnostic(`${sequence} sequences, ${commands} commands`);
  assert.ok(sequence >= SEQUENCES_MIN, `only ${sequence} sequences in the available time`);
}

/** Concurrent commands take effect in order on SQLite only. */
function splitBurst(step: Step): Step[] {
  if (testEngine === 'sqlite' || !('burst' in step)) return [step];
  return step.burst.map((command) => ({ burst: [command] }));
}

test('the queue gives the same answers and final states as its model for any sequence of commands', (t) =>
  compare(t, steps, async () => undefined));

test('waiting claims get the same jobs as in the model, and miss no wake', (t) =>
  compare(t, waitingSteps, (run) => run.settleWaits()));
