// Loaded by Node into the process of every test file (--test-reporter): turns the event stream of
// node:test into the few messages that test-file.ts counts.
import type { TestEvent as NodeTestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { TestEvent, TestOutcome } from './test-event.ts';

type Ended = Extract<NodeTestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

/** Node's name for a failure that only repeats the failures of the tests inside. */
const repeated = 'subtestsFailed';

export default async function* report(source: AsyncIterable<NodeTestEvent>) {
  // Starts arrive in the order of declaration, outer before inner, so that the names of the last
  // ones at each depth are the path of the test that ends next.
  const path: string[] = [];
  for await (const event of source) {
    const message = translate(event, path);
    if (message !== undefined) process.send?.(message);
  }
  // A reporter is a generator; this one has nothing to print.
  yield* [];
}

function translate(event: NodeTestEvent, path: string[]): TestEvent | undefined {
  switch (event.type) {
    case 'test:start':
      path.splice(event.data.nesting, path.length, event.data.name);
      return undefined;
    case 'test:dequeue':
      return { kind: 'started', name: event.data.name };
    case 'test:complete':
      return { kind: 'ended', name: event.data.name };
    case 'test:pass':
    case 'test:fail':
      return translateEnd(event.type, event.data, path);
    case 'test:summary':
      return { kind: 'finished' };
    default:
      return undefined;
  }
}

function translateEnd(
  type: 'test:pass' | 'test:fail',
  data: Ended,
  path: readonly string[],
): TestEvent | undefined {
  const name = [...path.slice(0, data.nesting), data.name].join(' › ');
  const result = (outcome: TestOutcome, detail: string): TestEvent => {
    return { kind: 'result', name, outcome, detail };
  };
  if (data.skip !== undefined) return result('skipped', reasonOf(data.skip));
  if (data.todo !== undefined) return result('todo', reasonOf(data.todo));
  if (type === 'test:fail') {
    const error: unknown = 'error' in data.details ? data.details.error : undefined;
    if (failureTypeOf(error) === repeated) return undefined;
    return result('failed', inspect(causeOf(error), { depth: 6 }));
  }
  return data.details.type === 'suite' ? undefined : result('passed', '');
}

/** Node sends `true` or an empty string when the test gives no reason. */
function reasonOf(value: string | boolean): string {
  return typeof value === 'string' && value !== '' ? value : 'no reason given';
}

function failureTypeOf(error: unknown): unknown {
  return error instanceof Error && 'failureType' in error ? error.failureType : undefined;
}

/** node:test wraps what a test threw; the wrapper says nothing more. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
