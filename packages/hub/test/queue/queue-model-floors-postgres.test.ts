import { test } from 'node:test';
import { ClaimFloors } from '../../src/queue/claim-floors.ts';
import { claimingSteps } from './model/commands.ts';
import { compare } from './model/compare.ts';

/** As if every search passed over entries that an old snapshot keeps. */
const ALWAYS = -1;

test('the queue does the same as its model when every search leaves a floor', (t) =>
  compare(t, claimingSteps, async () => undefined, new ClaimFloors(ALWAYS)));
