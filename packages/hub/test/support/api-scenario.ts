import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, type ErrorCode, listErrorCodes, statusOf } from '@signalbox/contract';
import { CANARY, type CredentialName, startApiWorld, type World } from './api-world.ts';
import { type Answer, anonymize, checkRequestId, exchange } from './http-exchange.ts';

/** A value of a scenario, or a function that makes it from the started world. */
type FromWorld<T> = T | ((world: World) => T | Promise<T>);

type Body = Record<string, unknown> | readonly unknown[] | string | Uint8Array | number | null;

/** One request and all that is to be said of its answer. */
export interface Scenario {
  /** A sentence in the present tense. */
  name: string;
  /** An endpoint of the table, or a method and a path. */
  endpoint: Endpoint | { method: string; path: string };
  /** `full` when absent. */
  credential?: CredentialName;
  headers?: Record<string, string>;
  /** A value is sent as JSON; a string and bytes as they are; absent: no body. */
  body?: FromWorld<Body>;
  expect: Expectation;
}

export interface Expectation {
  /** The code of a refusal; absent: success. The status follows from it. */
  error?: ErrorCode;
  /** Where the status does not follow from the code. */
  status?: number;
  /** Fields that the body contains. */
  body?: FromWorld<Record<string, unknown>>;
  /** Anything else to be said of the body. */
  check?: (body: Record<string, unknown>, world: World) => void | Promise<void>;
  /** Null: the answer has no such header. */
  headers?: Record<string, string | RegExp | null>;
  contains?: FromWorld<readonly string[]>;
  /** Beside the canary, which no answer may hold. */
  absent?: FromWorld<readonly string[]>;
}

/** Runs the scenarios in order against one hub, each as a test of its own. */
export function runScenarios(title: string, scenarios: readonly Scenario[]): void {
  test(title, async (t) => {
    const world = await startApiWorld(t);
    for (const scenario of scenarios) {
      await t.test(scenario.name, () => runScenario(world, scenario));
    }
  });
}

async function runScenario(world: World, scenario: Scenario): Promise<void> {
  const { endpoint, credential = 'full', expect } = scenario;
  const body = await resolve(world, scenario.body);
  const answer = await exchange(world.hub.baseUrl, {
    method: endpoint.method,
    path: endpoint.path,
    token: world.credentials[credential],
    ...(scenario.headers === undefined ? {} : { headers: scenario.headers }),
    body,
  });
  checkAnswer(endpoint, answer, expect);
  const expected = await resolve(world, expect.body);
  if (expected !== undefined) assert.partialDeepStrictEqual(answer.body, expected, answer.text);
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    const actual = answer.headers.get(name);
    if (value instanceof RegExp) assert.match(actual ?? '', value, name);
    else assert.equal(actual, value, name);
  }
  for (const text of (await resolve(world, expect.contains)) ?? []) {
    assert.ok(answer.text.includes(text), `${answer.text} holds ${text}`);
  }
  const absent = (await resolve(world, expect.absent)) ?? [];
  for (const text of absent) assert.ok(!answer.text.includes(text), `${answer.text} lacks ${text}`);
  await expect.check?.(answer.body, world);
}

/** Checks the rules that every answer follows. */
function checkAnswer(endpoint: Scenario['endpoint'], answer: Answer, expect: Expectation): void {
  const { error } = expect;
  const status = expect.status ?? (error === undefined ? 200 : statusOf(error));
  assert.equal(answer.status, status, answer.text);
  checkRequestId(answer);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assertNothingLeaks(answer);
  if (error === undefined) return;
  assert.equal(answer.body.error, error, answer.text);
  assert.match(String(answer.body.message), /\.$/, 'the message is a sentence');
  if ('errors' in endpoint) assert.ok(listErrorCodes(endpoint).includes(error), 'is documented');
}

/** No canary of the other workspace, and nothing of how the hub is made. */
export function assertNothingLeaks({ text }: Answer): void {
  assert.ok(!text.includes(CANARY), `the canary got out: ${text}`);
  assert.doesNotMatch(text, /sqlite|constraint failed|node_modules|\.ts:\d+|\bat \w+ \(/i);
}

/** An endpoint that takes an id, and how to ask it for one. */
export interface IdQuestion {
  endpoint: Endpoint;
  /** Which id is varied, for the test's name. */
  field: string;
  unknown: string;
  /** The id of the same kind in the workspace `other`. */
  foreign: (world: World) => string;
  error: ErrorCode;
  body: (world: World, id: string) => unknown;
}

/** An id that does not exist and one of another workspace get the same bytes. */
export function compareIdAnswers(title: string, questions: readonly IdQuestion[]): void {
  test(title, async (t) => {
    const world = await startApiWorld(t);
    const ask = async ({ endpoint, body }: IdQuestion, id: string) => {
      const answer = await exchange(world.hub.baseUrl, {
        path: endpoint.path,
        token: world.home.token,
        body: await body(world, id),
      });
      checkRequestId(answer);
      assertNothingLeaks(answer);
      return answer;
    };
    for (const question of questions) {
      await t.test(`${question.endpoint.name}: ${question.field}`, async () => {
        const unknown = await ask(question, question.unknown);
        const foreign = await ask(question, question.foreign(world));
        assert.equal(unknown.body.error, question.error, unknown.text);
        assert.deepEqual(anonymize(foreign), anonymize(unknown));
      });
    }
  });
}

async function resolve<T>(world: World, value: FromWorld<T> | undefined): Promise<T | undefined> {
  // A function here is always one that makes the value: nothing else that is sent is one.
  return typeof value === 'function' ? (value as (world: World) => T | Promise<T>)(world) : value;
}
