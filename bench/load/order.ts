import type { LoadMessage, LoadReport } from './load-report.ts';
import type { Mark, SpanSpec } from './span.ts';

/**
 * Takes one order by message from the process that started this one, runs it, and reports. Loads
 * have a process of their own, so that their processor time is told apart from everything else's.
 */
export function takeOrder<Spec extends SpanSpec>(
  run: (spec: Spec, onMark: (mark: Mark) => void) => Promise<LoadReport>,
): void {
  process.once('message', (spec) => {
    // Whoever sends it has named the script, so the order is of the script's kind.
    run(spec as Spec, (mark) => tell({ kind: 'mark', mark })).then(
      (report) => finish({ kind: 'report', report }),
      (error: unknown) => finish({ kind: 'failure', message: describe(error) }),
    );
  });
  // Whoever started it is gone: nobody waits for a report.
  process.once('disconnect', () => process.exit(1));
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tell(message: LoadMessage): void {
  process.send?.(message);
}

function finish(message: LoadMessage): void {
  process.send?.(message, undefined, {}, () => process.exit(0));
}
