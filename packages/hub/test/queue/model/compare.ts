import type { TestContext } from 'node:test';
import * as fc from 'fast-check';
import type { ClaimFloors } from '../../../src/queue/claim-floors.ts';
import { testEngine } from '../../support/test-engine.ts';
import type { Step } from './commands.ts';
import { HubWorkspace, openModelHub } from './hub.ts';
import { ModelRun } from './run.ts';

/**
 * Sequences of a usual run, new ones each time. A number, not a time, so that a busy machine proves
 * as much; one takes 40 ms on SQLite and ten times as long on PostgreSQL. Before a change of the
 * queue is merged, SIGNALBOX_TEST_MODEL_SEQUENCES asks for more.
 */
const USUAL = testEngine === 'sqlite' ? 100 : 20;
const numRuns = Number(process.env.SIGNALBOX_TEST_MODEL_SEQUENCES ?? USUAL);
/** The seed that a failure prints replays its sequences. */
const seed = process.env.SIGNALBOX_TEST_MODEL_SEED;
/** A shorter sequence takes minutes to find. A mutation run only asks whether one fails. */
const endOnFailure = process.env.SIGNALBOX_TEST_MODEL_SHRINK === 'false';

/** Runs each sequence in a workspace of its own, against a model of its own. */
export async function compare(
  t: TestContext,
  sequences: fc.Arbitrary<Step[]>,
  afterStep: (run: ModelRun) => Promise<void>,
  floors?: ClaimFloors,
): Promise<void> {
  const hub = await openModelHub(t, floors);
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
  const property = fc.asyncProperty(sequences, runSequence);
  const from = seed === undefined ? {} : { seed: Number(seed) };
  await fc.assert(property, { numRuns, endOnFailure, ...from });
  t.diagnostic(`${sequence} sequences, ${commands} commands`);
}

/** Concurrent commands take effect in order on SQLite only. */
function splitBurst(step: Step): Step[] {
  if (testEngine === 'sqlite' || !('burst' in step)) return [step];
  return step.burst.map((command) => ({ burst: [command] }));
}
