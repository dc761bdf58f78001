import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, endpoints } from '@signalbox/contract';
import fc from 'fast-check';
import type { World } from '../support/api-world.ts';
import { fillExample } from '../support/bound-endpoints.ts';
import { checkAnswer, checkHealth, openQueue, setupCalls } from '../support/hostile-calls.ts';
import {
  boundaryValues,
  hostileValues,
  listFields,
  raw,
  spell,
  withField,
} from '../support/hostile-values.ts';

/** On each engine; CI runs both. */
const FUZZ_RUNS = 1_000;
/** The interval of fresh jobs, so that not every call finds its job finished. */
const RUNS_PER_JOB = 50;
const { revoke } = endpoints.tokens;

/** Mutations of a valid request; values are drawn by index, so that a failure prints briefly. */
const mutation = fc.record({
  endpoint: fc.nat(),
  way: fc.constantFrom('boundary', 'hostile', 'two', 'drop', 'add', 'json', 'whole'),
  field: fc.nat(),
  value: fc.nat(),
  other: fc.nat(),
  json: fc.jsonValue({ maxDepth: 3 }),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

function mutate(endpoint: Endpoint, good: Record<string, unknown>, m: Mutation): unknown {
  // A long poll would never end: no event arrives and the clock does not advance.
  const fields = listFields(endpoint.request).filter(({ path }) => path[0] !== 'waitMs');
  const hostile = pick(hostileValues, m.value);
  if (fields.length === 0) return m.way === 'whole' ? hostile : { unknown: hostile };
  const { path, schema } = pick(fields, m.field);
  switch (m.way) {
    case 'boundary': {
      const values = boundaryValues(schema);
      return values.length === 0 ? good : withField(good, path, pick(values, m.value));
    }
    case 'two': {
      const second = pick(fields, m.other);
      return withField(withField(good, path, hostile), second.path, pick(hostileValues, m.other));
    }
    case 'drop':
      return withField(good, path, undefined);
    case 'add':
      return withField(good, [...path.slice(0, -1), 'unknownField'], hostile);
    case 'json':
      return withField(good, path, m.json);
    case 'whole':
      return hostile;
    default:
      return withField(good, path, hostile);
  }
}

/** A valid request for each endpoint, about jobs that have just been claimed. */
async function fillAll(
  world: World,
  calls: readonly Endpoint[],
): Promise<Map<Endpoint, Record<string, unknown>>> {
  await openQueue(world);
  const { jobId } = await world.startJob();
  const filled = new Map<Endpoint, Record<string, unknown>>();
  for (const endpoint of calls) {
    // The number of device sessions per address is limited.
    const isLogin = endpoint.tag === 'Device login';
    const example = { ...endpoint.example.request };
    filled.set(endpoint, isLogin ? example : await fillExample(world, endpoint, jobId));
  }
  return filled;
}

test(`${FUZZ_RUNS} mutated requests cause no 5xx, and every answer is documented`, async (t) => {
  const { world, send, calls } = await setupCalls(t);
  let runs = 0;
  let good = await fillAll(world, calls);
  const property = fc.asyncProperty(mutation, async (m) => {
    if (++runs % RUNS_PER_JOB === 0) good = await fillAll(world, calls);
    const endpoint = pick(calls, m.endpoint);
    const body = spell(mutate(endpoint, good.get(endpoint) ?? {}, m));
    const ends = endpoint.name === revoke.name;
    const token = ends ? await world.mintToken(world.home.workspaceId, 'fuzz') : world.home.token;
    checkAnswer(endpoint, await send(endpoint, { body, token }), body);
  });
  // On failure fast-check prints the seed and the path that replay the request.
  await fc.assert(property, { numRuns: FUZZ_RUNS, endOnFailure: true });
  await checkHealth(world);
});

test('a number too large to store is refused with its path, not turned into null', async (t) => {
  const { world, send } = await setupCalls(t);
  const draft = { workspaceId: world.home.workspaceId, repoId: world.home.repoId, kind: 'work' };
  for (const [name, value, path] of [
    ['requirements', raw('{"limit":1e400}'), '/requirements/limit'],
    ['budget', raw('{"costUsd":[-1E+999]}'), '/budget/costUsd/0'],
    ['budget', raw(`{"tokens":1${'0'.repeat(400)}}`), '/budget/tokens'],
    ['priority', raw('1e400'), '/priority'],
  ] as const) {
    const body = spell({ ...draft, prompt: 'Do it.', [name]: value });
    const answer = await send(endpoints.jobs.enqueue, { body });
    assert.equal(answer.body.error, 'INVALID_REQUEST', answer.text);
    assert.equal((answer.body.details as { path: string }[])[0]?.path, path);
  }
  const fine = spell({ ...draft, prompt: '1e400', budget: raw('{"least":1e-400,"most":1e308}') });
  assert.equal((await send(endpoints.jobs.enqueue, { body: fine })).status, 200);
});
