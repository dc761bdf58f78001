import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from '../child.ts';
import type { HubStore } from '../subjects/hub.ts';
import type { SeedCounts, TemplateJobs } from './seed-jobs.ts';

/** The work of the seeding process. */
export interface SeedOrder {
  readonly store: HubStore;
  readonly jobs: TemplateJobs;
  readonly counts: SeedCounts;
}

/** A message of the seeding process. */
export type SeedMessage =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'failure'; readonly message: string };

/** Seeding millions of jobs takes minutes, on a busy machine much longer. */
const SEED_MS_MAX = 45 * 60_000;

/** Seeds in a separate process. @throws Error if that fails or takes too long. */
export async function runSeeding(order: SeedOrder, say: (line: string) => void): Promise<void> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const done = Promise.withResolvers<void>();
  child.process.on('message', (message: SeedMessage) => {
    if (message.kind === 'line') say(message.line);
    else if (message.kind === 'done') done.resolve();
    else done.reject(new Error(`seeding: ${message.message}`));
  });
  const limit = setTimeout(() => done.reject(new Error('seeding takes too long')), SEED_MS_MAX);
  once(child.process, 'close').then(
    () => done.reject(new Error(`the seeding process ended:\n${child.output()}`)),
    done.reject,
  );
  child.process.send(order);
  try {
    await done.promise;
  } finally {
    clearTimeout(limit);
    await child.stop();
  }
}
