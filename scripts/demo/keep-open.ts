// `npm run demo -- --keep-open`: a seeded workspace, to be looked at until Ctrl-C.
import { styleText } from 'node:util';
import { jobStatuses } from '@signalbox/contract';
import { buildConsole } from '../build/console-build.ts';
import type { Owner } from './owner.ts';
import type { RunningHub } from './processes.ts';
import { say, sayHeading, step } from './screen.ts';
import { seedWorkspace } from './seed.ts';

interface OpenDemo {
  hub: RunningHub;
  owner: Owner;
  workspaceSlug: string;
  /** The directory stays when the demo ends. */
  isKept: boolean;
  signal: AbortSignal;
}

/** The hub serves the console only when it is built before the hub starts. */
export function prepareConsole(root: string): Promise<{ note?: string }> {
  return step('The console is built', async () => {
    await buildConsole(root, () => {});
    return {};
  });
}

/** Seeds the workspace, says how to sign in, and returns when a person ends the demo. */
export async function keepOpen(demo: OpenDemo): Promise<void> {
  const { hub, owner, workspaceSlug, isKept, signal } = demo;
  const failure = Promise.withResolvers<never>();
  // The failure may come before the race below awaits it.
  failure.promise.catch(() => {});
  say();
  await step('The jobs of an invented team are made', async () => {
    await seedWorkspace(hub.url, owner, { signal, onError: failure.reject });
    return { note: await countJobs(owner) };
  });
  say('  Scripts play its agents: there is no model, and their commits exist nowhere.');
  sayHeading('Look around');
  say(`  Console   ${styleText('cyan', `${hub.url}/w/${workspaceSlug}/jobs`)}`);
  say(`  E-mail    ${owner.email}`);
  say(`  Password  ${owner.password}`);
  say();
  say(isKept ? 'Ctrl-C ends the hub.' : 'Ctrl-C ends the hub and deletes everything.');
  try {
    await Promise.race([hub.ended, failure.promise]);
  } catch (error) {
    if (!signal.aborted) throw error;
    say('\nEnding the hub …');
    return;
  }
  throw new Error('The hub ended by itself.');
}

async function countJobs({ console, workspaceId }: Owner): Promise<string> {
  const { jobs } = await console.jobs.list({ workspaceId, limit: 200 });
  const counts = jobStatuses.map((status) => {
    const count = jobs.filter((job) => job.status === status).length;
    return `${count} ${status}`;
  });
  return `${jobs.length} jobs: ${counts.join(', ')}`;
}
