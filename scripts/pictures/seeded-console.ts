// A hub with the work of an invented team, for pictures of its console.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callConsole, joinWorkspace, type SignedIn } from '../../e2e/person.ts';
import { buildConsole } from '../build/console-build.ts';
import { makeOwner, type Owner } from '../demo/owner.ts';
import { createProcesses } from '../demo/processes.ts';
import { seedWorkspace } from '../demo/seed.ts';
import { makeRichJob } from './rich-job.ts';

export const workspaceSlug = 'demo';

export interface SeededConsole {
  baseUrl: string;
  /** The one-time link; used once the owner exists. */
  firstOwnerUrl: string;
  owner: Owner;
  /** The owner's session for a browser. */
  session: SignedIn;
  /** Fills the workspace: jobs in every state, people, tokens. */
  seed(): Promise<Seeded>;
}

export interface Seeded {
  viewer: SignedIn;
  /** The job whose page shows everything. */
  richJobId: string;
}

/** Lends a hub whose workspace is empty until it is seeded, and deletes it afterwards. */
export async function withConsole(
  root: string,
  act: (place: SeededConsole) => Promise<void>,
): Promise<void> {
  await buildConsole(root, (line) => process.stdout.write(`${line}\n`));
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-pictures-'));
  const ended = new AbortController();
  const failed = Promise.withResolvers<never>();
  const processes = createProcesses({ root, directory, signal: new AbortController().signal });
  try {
    const hub = await processes.startHub();
    const baseUrl = hub.url.replace(/\/$/, '');
    const owner = await makeOwner(hub, workspaceSlug);
    const { email, password, workspaceId } = owner;
    const { cookie } = await callConsole(baseUrl, 'session/sign-in', { email, password });
    const session = { baseUrl, cookie, workspaceId };
    const seed = async () => {
      const stage = { signal: ended.signal, onError: failed.reject };
      await seedWorkspace(baseUrl, owner, stage);
      const richJobId = await makeRichJob(owner, baseUrl);
      return { viewer: await seedPeople(owner, session), richJobId };
    };
    const { firstOwnerUrl } = hub;
    await Promise.race([act({ baseUrl, firstOwnerUrl, owner, session, seed }), failed.promise]);
  } finally {
    ended.abort();
    await processes.endAll();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** People, tokens and a machine, as the settings show them. */
async function seedPeople({ console, workspaceId }: Owner, session: SignedIn): Promise<SignedIn> {
  const viewer = await joinWorkspace(session, 'Victor Viewer', 'viewer');
  await joinWorkspace(session, 'Grace Hopper', 'member');
  await console.invitations.create({ workspaceId, email: 'alan@demo.test', role: 'admin' });
  for (const name of ['ci', 'nightly-planner']) {
    await console.serviceTokens.mint({ workspaceId, name, scopes: ['enqueue', 'read'] });
  }
  return viewer;
}
