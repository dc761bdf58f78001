import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from '../child.ts';
import type { HubStore } from '../subjects/hub.ts';
import type { SeedCounts, TemplateJobs } from './seed-jobs.ts';

/** What the seeding process is told. */
export interface SeedOrder {
  readonly store: HubStore;
  readonly jobs: TemplateJobs;
  readonly counts: SeedCounts;
}

/** What it says. */
export type SeedNews =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'failure'; readonly message: string };

/** Millions of jobs take minutes, on a busy machine many. */
const SEED_MS_MAX = 45 * 60_000;

/** Seeds in a process of its own. @throws Error when that fails or takes too long. */
export async function runSeeding(order: SeedOrder, say: (line: string) => void): Promise<void> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const done = Promise.withResolvers<void>();
  child.process.on('message', (news: SeedNews) => {
    if (news.kind === 'line') say(news.line);
    else if (news.kind === 'done') done.resolve();
    else done.reject(new Error(`seeding: ${news.message}`));
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
