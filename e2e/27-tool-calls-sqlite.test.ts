import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Activity, ToolCallKind } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditPage } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession } from './person.ts';

const owner = ownerOf('tool-calls');
const { hub, browser } = usePagePlace({ after });

const longTitle = `grep -rn ${'aVeryLongName'.repeat(18)} src`;
const output = Array.from({ length: 60 }, (_, at) => `  output ${at + 1}\n`).join('');

/* A log with the calls of a tool. The hub gets what an agent sends. */
describe('the tool calls of a running job', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let jobPath: string;
  let append: (message: string, activity?: Activity) => Promise<unknown>;

  before(async () => {
    const person = await makeWorkspace(owner);
    const { workspaceId } = person;
    const { workspaceSlug } = owner;
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug,
      name: 'calls',
    });
    const client = createClient({ baseUrl: hub.baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'c3'.repeat(32),
      label: 'acme/api',
    });
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: { canWrite: true, reposAllowed: [repoId] },
    });
    const prompt = 'Add a health check.';
    const { jobId } = await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt });
    await client.jobs.claimNext({ workspaceId, agentId, leaseMs: 3_600_000 });
    jobPath = `/w/${workspaceSlug}/jobs/${jobId}?tab=log`;
    let logSeq = 0;
    append = (message, activity) => {
      logSeq += 1;
      const entry = { logSeq, message, stream: 'stdout' as const, ...(activity && { activity }) };
      return client.jobEvents.append({ workspaceId, jobId, agentId, entries: [entry] });
    };
    await append('I look at the tests.\n', { isMessage: true });
    await call('slow', 'execute', 'npm test');
    await call('long', 'search', longTitle);
    await append(output);
    await end('long', 'search', longTitle, { status: 'failed', exitCode: 2 });
    visit = await openVisit(browser, hub.baseUrl, {
      viewport: { width: 360, height: 740 },
    });
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
  });

  function call(id: string, kind: ToolCallKind, title: string) {
    return append(`→ ${title}\n`, { toolCall: { id, kind, title, status: 'running' } });
  }
  function end(id: string, kind: ToolCallKind, title: string, fields: object) {
    return append('', { toolCall: { id, kind, title, status: 'done', ...fields } });
  }
  /** Runs in the page. */
  const untilTop = (box: { scrollTop: number }) =>
    new Promise<void>((resolve) => {
      const look = () => (box.scrollTop === 0 ? resolve() : setTimeout(look, 20));
      look();
    });
  const row = (line: number) => page.locator(`[data-line="${line}"]`);
  const topOf = async (line: number) => (await row(line).boundingBox())?.y;

  it('the end of a call changes its row, and what a person reads stays in its place', async () => {
    await page.goto(jobPath);
    await row(63).waitFor();
    await page.getByRole('log').focus();
    // Slowly, as browsers do: the first frames of the way up are near the end.
    await page.keyboard.press('Home');
    await page.getByRole('log').evaluate(untilTop);
    await row(2).getByText('running').waitFor();
    assert.equal(await page.getByLabel('Follow').isChecked(), false);
    const before = await row(2).elementHandle();
    const tops = [await topOf(2), await topOf(3), await topOf(4)];
    await end('slow', 'execute', 'npm test', { durationMs: 41_000 });
    await append('more output\n');
    await row(2).getByText('done').waitFor();
    assert.equal(await row(2).getByText('running').count(), 0);
    const isSame = await row(2).evaluate((now, then) => now === then, before);
    assert.ok(isSame, 'the row is the same element');
    assert.deepEqual([await topOf(2), await topOf(3), await topOf(4)], tops);
  });

  it('a filter shows only the calls, with their whole titles, and leads into the log', async () => {
    await page.getByLabel('Show', { exact: true }).selectOption('Tool calls (2)');
    const calls = page.getByRole('list', { name: 'Tool calls of attempt 1' });
    await calls.getByText(longTitle).waitFor();
    assert.equal(await calls.getByRole('listitem').count(), 2);
    const title = calls.getByText(longTitle);
    const isWhole = await title.evaluate(
      (text: { scrollWidth: number; clientWidth: number }) => text.scrollWidth <= text.clientWidth,
    );
    assert.ok(isWhole, 'no part of the title is cut off');
    assert.deepEqual(await auditPage(page), []);
    await page.getByLabel('Search the log').fill('npm');
    await page.getByText('1 of 2').waitFor();
    await page.getByLabel('Search the log').fill('');
    await calls.getByText(longTitle).waitFor();
    await calls.getByRole('link', { name: 'Line 3' }).press('Enter');
    await page.getByRole('log').waitFor();
    await page.waitForURL(/#L3$/);
    assert.equal(await row(3).getAttribute('aria-current'), 'location');
    await page.goBack();
    await calls.getByText(longTitle).waitFor();
  });

  it('by keyboard, the log shows its problems or messages alone, and what arrives', async () => {
    await page.getByRole('list', { name: 'Tool calls of attempt 1' }).waitFor();
    await page.keyboard.press('w');
    const problems = page.getByRole('list', { name: 'Errors and warnings of attempt 1' });
    await problems.getByText('exit code 2').waitFor();
    assert.equal(await problems.getByRole('listitem').count(), 1);
    await append('Error: expected 503, got 200\n0 errors in the second run\n');
    await problems.getByText('Error: expected 503').waitFor();
    assert.equal(await problems.getByRole('listitem').count(), 2);
    await page.keyboard.press('m');
    const messages = page.getByRole('list', { name: 'Messages of attempt 1' });
    await messages.getByText('I look at the tests.').waitFor();
    assert.deepEqual(await auditPage(page), []);
    await page.keyboard.press('m');
    await page.getByRole('log').waitFor();
    assert.deepEqual(visit.troubles, []);
  });
});
