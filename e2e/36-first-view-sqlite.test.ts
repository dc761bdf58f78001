import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import type { Request } from 'playwright-core';
import { browserMissing, openVisit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession, type SignedIn } from './person.ts';

/** Calls of the hub, from the address to the last row. */
const CALLS_MAX = 12;
/** The page itself, scripts, styles, fonts and icons. */
const FILES_MAX = 10;

const { hub, browser } = usePagePlace({ after });
const owner = ownerOf('first-view');
const run = { runRef: 'first', status: 'running', title: 'A run' };

describe('the first view of a page', { skip: browserMissing }, () => {
  let person: SignedIn;

  before(async () => {
    person = await makeWorkspace(owner);
    const { workspaceId } = person;
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'robot',
    });
    const client = createClient({ baseUrl: hub.baseUrl, token });
    const remoteUrlHash = 'f1'.repeat(32);
    const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash });
    await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt: 'The first job' });
    const { runId } = await client.runs.upsertV1({ workspaceId, repoId, ...run });
    await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      kind: 'missing_fact',
      confidence: 0.2,
      prompt: 'Which port?',
    });
  });

  const pages = { jobs: 'The first job', inbox: 'Which port?' };
  for (const [path, text] of Object.entries(pages)) {
    it(`of ${path} takes at most ${CALLS_MAX} calls and ${FILES_MAX} files, none twice`, async () => {
      const visit = await openVisit(browser, hub.baseUrl, {
        viewport: { width: 1280, height: 800 },
      });
      await lendSession(visit.context, person);
      const begun: string[] = [];
      const open = new Set<Request>();
      visit.context.on('request', (request) => {
        const { pathname, search } = new URL(request.url());
        begun.push(`${pathname}${search} ${request.postData() ?? ''}`);
        if (request.method() === 'POST') open.add(request);
      });
      for (const event of ['requestfinished', 'requestfailed']) {
        visit.context.on(event as 'requestfinished', (request) => open.delete(request));
      }
      const page = await visit.context.newPage();
      await page.goto(`/w/${owner.workspaceSlug}/${path}`);
      await page.getByText(text).first().waitFor();
      // The first message of the stream has arrived: what it makes old is being read.
      await page.getByRole('status', { name: 'live' }).waitFor();
      while (open.size > 0) await visit.context.waitForEvent('requestfinished');
      const isCall = (request: string) => request.startsWith('/console-api/');
      const calls = begun.filter(isCall);
      const files = begun.filter((request) => !isCall(request));
      assert.deepEqual(
        begun.filter((request, at) => begun.indexOf(request) !== at),
        [],
        'read twice',
      );
      assert.ok(calls.length <= CALLS_MAX, calls.join('\n'));
      assert.ok(files.length <= FILES_MAX, files.join('\n'));
      assert.deepEqual(visit.troubles, []);
    });
  }
});
