import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { usePagePlace } from './page-place.ts';
import { lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

/** Generous for busy machines; the measured times are printed. */
const SEEN_MS_MAX = 5_000;
/** Two seconds on a quiet machine; the pauses between attempts are tested by themselves. */
const LIVE_AGAIN_MS_MAX = 20_000;
const TABS = 8;

describe('pages that learn of changes from the stream', { skip: browserMissing }, () => {
  let hub: HubProcess;
  let person: SignedIn;
  let token: string;
  let repoId: string;

  before(async () => {
    hub = await startHubProcess({ dataDir });
    person = await makeOwner(hub);
    const { workspaceSlug } = owner;
    const minted = await mintTokenByAdmin(await configOf(dataDir), { workspaceSlug, name: 'ci' });
    token = minted.token;
    const { workspaceId } = person;
    const remoteUrlHash = 'a'.repeat(64);
    ({ repoId } = await clientOf().repositories.upsert({ workspaceId, remoteUrlHash }));
    await enqueue('The first job.');
  });
  after(async () => {
    await hub?.stop();
  });
  // Registered after the hub's end, so that the directory is deleted later.
  const dataDir = join(makeTempDir({ after }), 'data');

  const clientOf = () => createClient({ baseUrl: hub.baseUrl, token });
  const enqueue = (prompt: string) =>
    clientOf().jobs.enqueue({ workspaceId: person.workspaceId, repoId, kind: 'work', prompt });
  /** A job that an agent holds, and that prints lines. */
  async function startJob(prompt: string) {
    const { workspaceId } = person;
    const machine = { displayName: 'build-7', machineFingerprint: 'build-7' };
    const { agentId } = await clientOf().agents.heartbeat({
      workspaceId,
      ...machine,
      capabilities: { canWrite: true, reposAllowed: [repoId] },
    });
    const { jobId } = await enqueue(prompt);
    let heldJobId: string | null = null;
    // Jobs of the scenarios before are claimed first, and stay with the agent.
    while (heldJobId !== jobId) {
      ({ jobId: heldJobId } = await clientOf().jobs.claimNext({ workspaceId, agentId }));
      assert.ok(heldJobId, 'the job can be claimed');
    }
    let logSeq = 0;
    return {
      jobId,
      append: (...lines: string[]) =>
        clientOf().jobEvents.append({
          workspaceId,
          jobId,
          agentId,
          entries: lines.map((line) => ({
            logSeq: ++logSeq,
            message: `${line}\n`,
            stream: 'stdout' as const,
          })),
        }),
    };
  }

  const jobsPath = `/w/${owner.workspaceSlug}/jobs`;
  const sign = (page: Page, words: string | RegExp) =>
    page.getByRole('status').filter({ hasText: words });

  const banner = (page: Page) => page.getByText(/^(Reconnecting in|Offline since)/);

  /** Opens the job list in a browser of its own, and waits until it is live. */
  async function openJobs() {
    const visit = await openVisit(browser, hub.baseUrl);
    await lendSession(visit.context, person);
    const page = await visit.context.newPage();
    await page.goto(jobsPath);
    await sign(page, /^live$/).waitFor();
    return { visit, page };
  }

  it('shows a new job in two browsers, without polling', async () => {
    const one = await openJobs();
    const two = await openJobs();
    const startMs = performance.now();
    await enqueue('Seen by both at once.');
    await Promise.all(
      [one, two].map(({ page }) => page.getByText('Seen by both at once.').first().waitFor()),
    );
    const tookMs = performance.now() - startMs;
    process.stdout.write(`two browsers saw a new job after ${Math.round(tookMs)} ms\n`);
    assert.ok(tookMs < SEEN_MS_MAX, `${tookMs} ms`);
    for (const { visit } of [one, two]) {
      assert.deepEqual(visit.troubles, []);
      await visit.context.close();
    }
  });

  it(`keeps ${TABS} tabs of one browser live over HTTP/1.1`, async () => {
    const { visit, page } = await openJobs();
    const pages = [page];
    while (pages.length < TABS) pages.push(await visit.context.newPage());
    for (const each of pages.slice(1)) await each.goto(jobsPath);
    for (const each of pages) await sign(each, /^live$/).waitFor();
    await enqueue('Seen in every tab.');
    for (const each of pages) await each.getByText('Seen in every tab.').first().waitFor();
    assert.deepEqual(visit.troubles, []);
    await visit.context.close();
  });

  it('stays live on loopback while the browser believes to be offline', async () => {
    const { visit, page } = await openJobs();
    const session = await visit.context.newCDPSession(page);
    // Sets navigator.onLine and sends the event, as a lost network does; requests still work.
    await session.send('Network.overrideNetworkState', {
      offline: true,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    assert.equal(await page.evaluate('navigator.onLine'), false);
    await enqueue('Enqueued without the internet.');
    await page.getByText('Enqueued without the internet.').first().waitFor();
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    assert.equal(await banner(page).count(), 0);
    assert.deepEqual(visit.troubles, []);
    await visit.context.close();
  });

  it('is live again after a restart of the hub, with nothing missed and nothing doubled', async () => {
    const { visit, page } = await openJobs();
    const job = await startJob('Prints before and after the restart.');
    await job.append('first');
    const logPage = await visit.context.newPage();
    await logPage.goto(`${jobsPath}/${job.jobId}?tab=log`);
    await logPage.getByRole('log').getByText('first').waitFor();
    const { port } = new URL(hub.baseUrl);
    const heading = page.getByRole('heading', { name: 'Jobs' });
    const firstJob = page.getByText('The first job.').first();
    const places = () => Promise.all([heading.boundingBox(), firstJob.boundingBox()]);
    const before = await places();
    await hub.stop();
    await sign(page, /reconnecting|offline/).waitFor();
    await banner(page).waitFor();
    // By now reads have failed too.
    await page.getByText(/^Offline since/).waitFor();
    assert.deepEqual(await places(), before, 'nothing moves');
    assert.equal(await page.getByRole('alert').count(), 0, 'the trouble is named once');
    // A page whose code was never loaded.
    await page.getByRole('link', { name: 'Repositories' }).click();
    await page.getByText('The hub does not respond').waitFor();
    hub = await startHubProcess({ dataDir, port: Number(port) });
    const startMs = performance.now();
    // The pages are not connected yet, so no event can tell them of these.
    await Promise.all([enqueue('Enqueued at its return.'), job.append('second', 'third')]);
    await sign(page, /^live$/).waitFor();
    const tookMs = performance.now() - startMs;
    process.stdout.write(`live ${Math.round(tookMs)} ms after the hub was back\n`);
    assert.ok(tookMs < LIVE_AGAIN_MS_MAX, `${tookMs} ms`);
    await page.getByRole('heading', { name: 'Repositories', level: 1 }).waitFor();
    assert.equal(await banner(page).count(), 0);
    await page.goBack();
    await enqueue('Enqueued after the restart.');
    const row = (prompt: string) => page.getByRole('list').getByRole('link', { name: prompt });
    for (const prompt of ['Enqueued after the restart.', 'Enqueued at its return.']) {
      await row(prompt).waitFor();
      assert.equal(await row(prompt).count(), 1, prompt);
    }
    await job.append('fourth');
    await logPage.getByRole('log').getByText('fourth').waitFor();
    const lines = await logPage.getByRole('log').locator('.log-text').allTextContents();
    assert.deepEqual(lines, ['first', 'second', 'third', 'fourth']);
    await visit.context.close();
  });
});
