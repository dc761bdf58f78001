// Loaded by Node into the process that runs the tests (--test-reporter): tells the parent how each
// test file ends, and of a failure at once.
import type { TestEvent } from 'node:test/reporters';

export type FileEvent =
  | { readonly kind: 'failed'; readonly file: string; readonly test: string }
  | { readonly kind: 'ended'; readonly file: string; readonly durationMs: number };

export default async function* report(source: AsyncIterable<TestEvent>) {
  let file = '';
  for await (const { type, data } of source) {
    if (type === 'test:start' && data.nesting === 0) file = data.name;
    if (type === 'test:fail') send({ kind: 'failed', file, test: data.name });
    if (type === 'test:pass' && data.nesting === 0) {
      send({ kind: 'ended', file, durationMs: data.details.duration_ms });
    }
  }
  // A reporter is a generator; this one has nothing to print.
  yield* [];
}

function send(event: FileEvent): void {
  process.send?.(event);
}
