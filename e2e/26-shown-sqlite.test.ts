import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditSchemes, keepPicture } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { callConsole, joinWorkspace, lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('shown');
const { hub, browser } = usePagePlace({ after });

const screens = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
} as const;
const BEAT_MS = 10_000;
/** When the pause of an agent ends: long after this scenario. */
const until = new Date(Date.now() + 3 * 3_600_000).toISOString();
const attached = Buffer.from('A file that the tool has uploaded.\n');

/* What the hub knows of jobs, agents, runs and workspaces, as the console shows it. */
describe('the console shows what the hub knows', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let phone: Visit;
  let phonePage: Page;
  let person: SignedIn;
  let client: Client;
  let workspaceId: string;
  let repoId: string;
  let runId: string;
  let agentId: string;
  let beating: NodeJS.Timeout;
  let lastBeat: Promise<void> | undefined;
  const jobs: Record<string, string> = {};

  before(async () => {
    person = await makeWorkspace(owner);
    workspaceId = person.workspaceId;
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'scenario',
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
    ({ repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'c3'.repeat(32),
      label: 'acme/api',
    }));
    const upserted = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'health-2026',
      status: 'in_progress',
      title: 'Health check',
      currentMilestone: 'implementation',
    });
    runId = upserted.runId;
    await beatAll();
    beating = setInterval(() => {
      lastBeat = beatAll();
    }, BEAT_MS);
    await makeJobs();
    visit = await openVisit(browser, hub.baseUrl, screens.desktop);
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
    phone = await openVisit(browser, hub.baseUrl, screens.phone);
    await lendSession(phone.context, person);
    phonePage = await phone.context.newPage();
  });
  after(async () => {
    clearInterval(beating);
    await lastBeat;
  });

  const address = (path: string) => `/w/${owner.workspaceSlug}/${path}`;

  /** Both agents report; a silent one is offline after 45 s. */
  async function beatAll(): Promise<void> {
    agentId = await beat('build-7', {});
    await beat('laptop', {
      paused: { code: 'usage_limit', message: 'You have hit your weekly limit.', until },
    });
  }

  async function beat(displayName: string, capabilities: object): Promise<string> {
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName,
      machineFingerprint: displayName,
      capabilities: { canWrite: true, reposAllowed: [repoId], ...capabilities },
    });
    return agentId;
  }

  async function enqueue(prompt: string, more: object = {}): Promise<string> {
    const draft = { workspaceId, repoId, runId, kind: 'work', prompt, ...more } as const;
    return (await client.jobs.enqueue(draft)).jobId;
  }

  async function makeJobs(): Promise<void> {
    jobs.done = await enqueue('Add GET /health');
    const { claimGeneration = 1 } = await client.jobs.claimNext({ workspaceId, agentId });
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      prompt: 'Which port?',
      kind: 'choice',
      confidence: 0.2,
    });
    const answer = { uncertaintyId, mode: 'answered', value: '8080', confidence: 1 };
    const path = 'uncertainties/add-resolution';
    await callConsole(hub.baseUrl, path, { workspaceId, ...answer }, person.cookie);
    // Fields that the agent adds; the type of a request does not list them.
    const added = {
      branch: 'signalbox/job-1',
      secretsIn: ['.env.test'],
      executor: { name: 'claude', denied: ['Bash: npm run deploy', 'Bash: curl example.org'] },
      reported: [{ check: 'Page load', outcome: 'passed', detail: '1.2 s on a phone' }],
      attachments: [await upload('health.txt', { jobId: jobs.done, agentId, claimGeneration })],
    };
    await client.jobs.complete({
      workspaceId,
      jobId: jobs.done,
      agentId,
      claimGeneration,
      outcome: 'done',
      message: 'Added GET /health, with a test.',
      evidence: {
        commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
        changedFiles: ['src/health.ts', 'test/health.test.ts'],
        verdict: 'gaps',
        gaps: ['Not pushed: the clone has no remote origin.'],
        ...added,
      },
      usage: { inputTokens: 48_211, cachedInputTokens: 40_000, outputTokens: 3_120, costUsd: 0.41 },
    });
    jobs.lacking = await enqueue('Train the model', {
      requirements: { labels: { gpu: 'yes' } },
    });
    jobs.dependent = await enqueue('Deploy it', { dependsOn: [jobs.lacking] });
  }

  async function upload(
    fileName: string,
    job: { jobId: string; agentId: string; claimGeneration: number },
  ) {
    const { uploadId, uploadUrl } = await client.uploads.create({
      workspaceId,
      job,
      fileName,
      contentType: 'text/plain',
      sizeBytes: attached.length,
      sha256: createHash('sha256').update(attached).digest('hex'),
    });
    const stored = await fetch(uploadUrl, { method: 'PUT', body: attached });
    assert.equal(stored.status, 200);
    return { uploadId, fileName, contentType: 'text/plain', sizeBytes: attached.length };
  }

  /** Holds a page against the audit, on a phone. */
  async function audit(name: string, path: string, text: string | RegExp): Promise<void> {
    await followLink(phonePage, path);
    await phonePage.getByText(text).first().waitFor();
    await phonePage.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
    assert.deepEqual(await auditSchemes(phonePage, name), []);
  }

  it('names what the tool was refused, what it reported and attached', async () => {
    await page.goto(address(`jobs/${jobs.done}`));
    const evidence = page.getByRole('region', { name: 'Evidence' });
    await evidence.getByText('Has gaps').waitFor();
    for (const name of [
      'The tool was not allowed to run 2 commands',
      'A changed file contains a secret of the agent',
      'Reported by the tool, not verified',
    ]) {
      await evidence.getByRole('region', { name }).waitFor();
    }
    await page.getByText('48,211 tokens in (40,000 cached), 3,120 out, $0.41').waitFor();
    const saving = page.waitForEvent('download');
    await evidence.getByRole('button', { name: 'Download health.txt' }).click();
    const download = await saving;
    assert.equal(download.suggestedFilename(), 'health.txt');
    assert.deepEqual(await readFile(await download.path()), attached);
    await audit('evidence', address(`jobs/${jobs.done}`), 'Has gaps');
  });

  it('says why a job waits, with links to what holds it up', async () => {
    await page.goto(address(`jobs/${jobs.lacking}`));
    const obstacles = page.getByRole('list', { name: 'Agents' });
    await obstacles.getByText('lacks label gpu=yes').first().waitFor();
    assert.equal(await obstacles.getByRole('listitem').count(), 2);
    await page.goto(address(`jobs/${jobs.dependent}`));
    const list = page.getByRole('list', { name: 'Jobs', exact: true });
    await list.getByRole('link', { name: 'Train the model' }).click();
    await page.getByRole('heading', { name: 'Train the model' }).waitFor();
    await page.getByRole('list', { name: 'Agents' }).getByRole('link', { name: 'laptop' }).click();
    await page
      .getByRole('status', { name: 'Pause' })
      .getByText(/Usage limit of the/)
      .waitFor();
    await audit('waiting', address(`jobs/${jobs.lacking}`), 'lacks label gpu=yes');
    await audit('agents', address('agents'), /Paused until/);
  });

  it('pauses the queue in the settings, and says on a job who paused it and why', async () => {
    await page.goto(address('settings/workspace'));
    await page.getByRole('button', { name: 'Pause the queue' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason (optional)').fill('Release freeze.');
    await dialog.getByRole('button', { name: 'Pause the queue' }).click();
    const banner = page.getByText(/Paused .* by Ada Lovelace: Release freeze\./);
    await banner.waitFor();
    await audit('settings', address('settings/workspace'), 'Release freeze.');
    await page.goto(address(`jobs/${jobs.lacking}`));
    await banner.waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { name: /No online agent has the required/ }).waitFor();
  });

  it('lists the questions of all runs, the oldest first, and its count is that of the badge', async () => {
    const { runId: other } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'search-2026',
      title: 'Search',
      status: 'in_progress',
    });
    for (let at = 1; at <= 8; at++) {
      await client.uncertainties.createWithAutoPromotion({
        workspaceId,
        runId: at % 2 === 0 ? runId : other,
        prompt: `Question ${at}?`,
        kind: 'choice',
        confidence: 0.2,
      });
    }
    await page.goto(address('inbox'));
    const questions = page.getByRole('list', { name: 'Open questions' }).getByRole('link');
    await questions.nth(7).waitFor();
    assert.match((await questions.first().textContent()) ?? '', /^Question 1\?/);
    assert.match((await questions.last().textContent()) ?? '', /^Question 8\?/);
    await page.getByText('8 open in all').waitFor();
    await page.getByRole('link', { name: /^Inbox *8/ }).waitFor();
    assert.match(await page.title(), /^\(8\)/);
    await audit('inbox', address('inbox'), '8 open in all');
  });

  it('closes and reopens a run, whose jobs and questions it links', async () => {
    await page.goto(address(`jobs/${jobs.done}`));
    await page.getByRole('link', { name: 'Health check' }).first().click();
    await page.getByRole('button', { name: 'Mark as done' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('3 of its jobs have not ended').waitFor();
    await dialog.getByRole('button', { name: 'Mark as done' }).click();
    const status = page.getByRole('status', { name: 'Status' });
    await status.getByText('Done').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await dialog.getByRole('button', { name: 'Reopen' }).click();
    await status.getByText('In progress').waitFor();
    await audit('run', page.url(), 'Mark as done');
    await page.getByRole('link', { name: 'Which port?' }).click();
    await page.getByText('Another job applies it in the repository.').waitFor();
  });

  it('creates a workspace for an owner, and tells a viewer why not', async () => {
    const viewer = await joinWorkspace(person, 'Victor Viewer', 'viewer');
    const other = await openVisit(browser, hub.baseUrl, screens.phone);
    await lendSession(other.context, viewer);
    const tab = await other.context.newPage();
    await tab.goto(address('jobs'));
    await tab.getByRole('button', { name: /^Workspace .* Switch workspace$/ }).tap();
    const item = tab.getByRole('menuitem', { name: /New workspace/ });
    await item.getByText(/Only owners and admins/).waitFor();
    assert.equal(await item.getAttribute('aria-disabled'), 'true');
    await keepPicture(tab, 'no-new');
    await tab.goto('/new-workspace');
    await tab.getByText('You may not create a workspace').waitFor();
    assert.deepEqual(other.troubles, []);
    await other.context.close();

    await audit('new-workspace', '/new-workspace', 'New workspace');
    await page.goto(address('jobs'));
    await page.getByRole('button', { name: /^Workspace .* Switch workspace$/ }).click();
    await page.getByRole('menuitem', { name: 'New workspace' }).click();
    const name = page.getByLabel('Workspace name');
    await page.getByRole('button', { name: 'Create the workspace' }).click();
    await page.getByText('Enter a name for the workspace.').waitFor();
    await name.fill(owner.workspaceSlug);
    await page.getByRole('button', { name: 'Create the workspace' }).click();
    await page.getByText(/in use|taken|exists/).waitFor();
    await name.fill('Acme Labs');
    await page.getByRole('button', { name: 'Create the workspace' }).click();
    await page.waitForURL('**/w/acme-labs/**');
    await page.getByRole('button', { name: /^Workspace Acme Labs/ }).waitFor();
    assert.deepEqual([...visit.troubles, ...phone.troubles], []);
  });
});
