// The load generator: receives one spec by message, runs it and reports. It is a process of its
// own, so that its processor time can be measured.
import { type CycleLoad, runCycleLoad } from './cycle-load.ts';
import { type FleetLoad, runFleetLoad } from './fleet-load.ts';
import type { LoadMessage, LoadReport } from './load-report.ts';
import { type PostLoad, runPostLoad } from './post-load.ts';
import type { Mark } from './span.ts';
import { runWaitingLoad, type WaitingLoad } from './waiting-load.ts';

export type LoadSpec = PostLoad | CycleLoad | WaitingLoad | FleetLoad;

process.once('message', (spec) => {
  // The sender is load-process.ts.
  run(spec as LoadSpec, (mark) =>
    process.send?.({ kind: 'mark', mark } satisfies LoadMessage),
  ).then(
    (report) => finish({ kind: 'report', report }),
    (error: Error) => finish({ kind: 'failure', message: error.message }),
  );
});
// The starter has ended, so the report has no reader.
process.once('disconnect', () => process.exit(1));

function run(spec: LoadSpec, onMark: (mark: Mark) => void): Promise<LoadReport> {
  switch (spec.kind) {
    case 'post':
      return runPostLoad(spec, onMark);
    case 'cycles':
      return runCycleLoad(spec, onMark);
    case 'waiting':
      return runWaitingLoad(spec, onMark);
    case 'fleet':
      return runFleetLoad(spec, onMark);
  }
}

function finish(message: LoadMessage): void {
  process.send?.(message, undefined, {}, () => process.exit(0));
}
