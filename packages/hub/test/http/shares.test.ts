import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Principal } from '../../src/base/principal.ts';
import { TURN_MS } from '../../src/http/call-turns.ts';
import { Limiter, UNIT_MS } from '../../src/http/limiter.ts';
import { createPrincipal } from '../support/open-gate.ts';

const ADDRESS = '192.0.2.7';
const CALLS = 200;
/** More than the callers of a turn may precede one another by. */
const NEARLY = 2 * Math.ceil(TURN_MS / UNIT_MS);

const machine = createPrincipal({ tokenId: 'machine', workspaceId: 'w' });
const other = createPrincipal({ tokenId: 'other', workspaceId: 'other' });
const person = createPrincipal({ kind: 'person', principalId: 'ada', workspaceId: null });

function openLimiter(): Limiter {
  const limits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };
  return new Limiter({ limits, clock: systemClock, hubs: () => 1 });
}

/** Lets equally many calls of each caller wait. @returns whose calls began, in their order. */
async function beginAll(
  limiter: Limiter,
  callers: Readonly<Record<string, Principal | null>>,
): Promise<string[]> {
  const begun: string[] = [];
  const calls = Array.from({ length: CALLS }, () => Object.entries(callers)).flat();
  await Promise.all(
    calls.map(async ([name, principal]) => {
      await limiter.waitForTurn(principal, ADDRESS, { units: 1 });
      begun.push(name);
    }),
  );
  return begun;
}

/** How many calls had begun when all those of one caller had. */
function endOf(begun: readonly string[], name: string): number {
  return begun.lastIndexOf(name) + 1;
}

test('a person and the machines of the workspace they entered last have one share together', async () => {
  const limiter = openLimiter();
  limiter.noteEntered(person, 'earlier');
  limiter.noteEntered(person, 'w');
  const begun = await beginAll(limiter, { person, machine, other });
  // The other workspace has half of the turns until its calls are over.
  const end = endOf(begun, 'other');
  assert.ok(Math.abs(end - 2 * CALLS) <= NEARLY, `${end} calls`);
});

test('a person who has entered no workspace has a share of their own', async () => {
  const begun = await beginAll(openLimiter(), { person, machine, other });
  const end = endOf(begun, 'other');
  assert.ok(Math.abs(end - 3 * CALLS) <= NEARLY, `${end} calls`);
});

test('strangers together have a quarter of the share of a workspace', async () => {
  const begun = await beginAll(openLimiter(), { strangers: null, machine });
  const end = endOf(begun, 'machine');
  assert.ok(Math.abs(end - 1.25 * CALLS) <= NEARLY, `${end} calls`);
});
