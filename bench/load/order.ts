import type { LoadMessage, LoadReport } from './load-report.ts';
import type { Mark, SpanSpec } from './span.ts';

/**
 * Receives one spec by message from the starter of this process, runs it and reports. Loads run in
 * a separate process, so that their processor time can be measured separately.
 */
export function takeOrder<Spec extends SpanSpec>(
  run: (spec: Spec, onMark: (mark: Mark) => void) => Promise<LoadReport>,
): void {
  process.once('message', (spec) => {
    // The sender selected the script, so the spec has the script's type.
    run(spec as Spec, (mark) => post({ kind: 'mark', mark })).then(
      (report) => finish({ kind: 'report', report }),
      (error: unknown) => finish({ kind: 'failure', message: describe(error) }),
    );
  });
  // The starter has ended, so the report has no reader.
  process.once('disconnect', () => process.exit(1));
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function post(message: LoadMessage): void {
  process.send?.(message);
}

function finish(message: LoadMessage): void {
  process.send?.(message, undefined, {}, () => process.exit(0));
}
