import { test } from 'node:test';
import { steps, waitingSteps } from './model/commands.ts';
import { compare } from './model/compare.ts';

test('the queue gives the same answers and final states as its model for any sequence of commands', (t) =>
  compare(t, steps, async () => undefined));

test('waiting claims get the same jobs as in the model, and miss no wake', (t) =>
  compare(t, waitingSteps, (run) => run.settleWaits()));
