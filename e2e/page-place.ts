import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { createWorkspaceByAdmin, inviteMemberByAdmin } from '@signalbox/hub';
import type { Browser } from 'playwright-core';
import { endProcesses, listProcesses } from '../scripts/process/start-process.ts';
import { browserMissing, launchBrowser } from './browser.ts';
import { configOf, dropDatabases } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { callConsole, owner, type SignedIn } from './person.ts';

/*
 * The hub and the browser of all page tests of a process. The runner loads this module before the
 * first of them (scripts/test/test-place.ts), so they are the same for each file; what a file
 * changes is in a workspace of its own. A file that stops or configures its hub starts one, and
 * uses the browser.
 */

const folder = mkdtempSync(join(tmpdir(), 'signalbox-pages-'));
/** The hub's data directory, for commands beside it. */
export const dataDir = join(folder, 'data');

export interface PagePlace {
  readonly hub: HubProcess;
  readonly browser: Browser;
}

const place = browserMissing ? null : await startPlace();
/** The processes that outlive a file. */
const kept = new Set(listProcesses());

async function startPlace(): Promise<PagePlace> {
  const [hub, browser] = await Promise.all([startHubProcess({ dataDir }), launchBrowser()]);
  return { hub, browser };
}

after(async () => {
  endProcesses(kept);
  await Promise.all([place?.browser.close(), place?.hub.stop()]);
  await dropDatabases();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Returns the place for one file. Call it outside of suites: the windows are closed and the
 * processes ended after those of the file.
 */
export function usePagePlace(t: { after(act: () => Promise<void>): void }): PagePlace {
  t.after(async () => {
    for (const context of place?.browser.contexts() ?? []) await context.close();
    endProcesses(kept);
  });
  // Without a browser the suites of pages are skipped, so that they use neither.
  return place ?? ({} as PagePlace);
}

export type Owner = Readonly<Record<keyof typeof owner, string>>;

/** The owner of a workspace that one file has for itself. */
export function ownerOf(workspaceSlug: string): Owner {
  return { ...owner, workspaceSlug, email: `ada@${workspaceSlug}.example` };
}

/** Makes a workspace and its owner on the hub of the place. */
export async function makeWorkspace(of: Owner): Promise<SignedIn> {
  const config = await configOf(dataDir);
  const { workspaceSlug, email, name, password } = of;
  const workspace = { slug: workspaceSlug, name: of.workspaceName };
  const { workspaceId } = await createWorkspaceByAdmin(config, workspace);
  const draft = { workspaceSlug, email, role: 'owner' } as const;
  const { invitationUrl } = await inviteMemberByAdmin(config, draft);
  const linkToken = invitationUrl.split('#token=')[1];
  const { origin: baseUrl } = new URL(invitationUrl);
  const account = { linkToken, name, password };
  const { cookie } = await callConsole(baseUrl, 'invitations/accept', account);
  return { baseUrl, cookie, workspaceId };
}
