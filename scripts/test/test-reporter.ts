// Loaded by Node into the processes of test files (--test-reporter): turns the event stream of
// node:test into the few messages that file-log.ts counts. Each file is a suite of test-host.ts,
// the outermost one.
import type { TestEvent as NodeTestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { fileItself } from './file-log.ts';
import type { TestEvent, TestOutcome } from './test-event.ts';

type Ended = Extract<NodeTestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

/** Node's name for a failure that only repeats the failures of the tests inside. */
const repeated = 'subtestsFailed';

let reported = Promise.withResolvers<void>();

/** Resolves when all results of the suite that runs next have been sent. */
export function endOfSuite(): Promise<void> {
  reported = Promise.withResolvers();
  return reported.promise;
}

export default async function* report(source: AsyncIterable<NodeTestEvent>) {
  // Starts arrive in the order of declaration, outer before inner, so that the names of the last
  // ones at each depth are the path of the test that ends next.
  const path: string[] = [];
  for await (const event of source) {
    const message = translate(event, path);
    if (message !== undefined) process.send?.(message);
    if (isEndOfSuite(event)) reported.resolve();
  }
  // A reporter is a generator; this one has nothing to print.
  yield* [];
}

function isEndOfSuite({ type, data }: NodeTestEvent): boolean {
  return (type === 'test:pass' || type === 'test:fail') && data.nesting === 0;
}

function translate(event: NodeTestEvent, path: string[]): TestEvent | undefined {
  switch (event.type) {
    case 'test:start':
      path.splice(event.data.nesting, path.length, event.data.name);
      return undefined;
    case 'test:dequeue':
    case 'test:complete': {
      const { name, nesting } = event.data;
      const kind = event.type === 'test:dequeue' ? 'started' : 'ended';
      return nesting === 0 ? undefined : { kind, name };
    }
    case 'test:pass':
    case 'test:fail':
      return translateEnd(event.type, event.data, path);
    default:
      return undefined;
  }
}

function translateEnd(
  type: 'test:pass' | 'test:fail',
  data: Ended,
  path: readonly string[],
): TestEvent | undefined {
  const isFile = data.nesting === 0;
  const name = isFile ? fileItself : [...path.slice(1, data.nesting), data.name].join(' › ');
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
