import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSource, firstIdSince, type IdKind } from '@signalbox/contract';

const NOW_MS = Date.parse('2026-07-30T12:00:00Z');

test('an id is its prefix and 20 characters of base32hex, of a workspace 13', () => {
  const ids = createIdSource(() => NOW_MS);
  assert.match(ids('job'), /^job_[0-9a-v]{20}$/);
  assert.match(ids('workspace'), /^ws_[0-9a-v]{13}$/);
});

test('ids ascend within a millisecond, and while the clock steps back', () => {
  let nowMs = NOW_MS;
  const ids = createIdSource(() => nowMs);
  const made = Array.from({ length: 5_000 }, () => ids('job'));
  nowMs += 1_000;
  made.push(ids('job'));
  nowMs -= 500_000;
  made.push(...Array.from({ length: 5_000 }, () => ids('job')));
  assert.deepEqual(made, [...new Set(made)].sort());
});

test('ids of two hubs differ in the same millisecond', () => {
  const [one, other] = [createIdSource(() => NOW_MS), createIdSource(() => NOW_MS)];
  const made = Array.from({ length: 2_000 }, () => [one('job'), other('job')]).flat();
  assert.equal(new Set(made).size, made.length);
});

test('the first id since a time divides ids by their time', () => {
  for (const atMs of [1, 31, 32 ** 8 - 1, 32 ** 8, NOW_MS, 32 ** 9 - 2]) {
    const idOf = (timeMs: number, kind: IdKind = 'run') => createIdSource(() => timeMs)(kind);
    assert.ok(idOf(atMs) >= firstIdSince('run', atMs), `${atMs}`);
    assert.ok(idOf(atMs) < firstIdSince('run', atMs + 1), `${atMs}`);
  }
  assert.equal(firstIdSince('job', -1), 'job_000000000');
});
