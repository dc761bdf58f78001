import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Job } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditWidths } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession } from './person.ts';

const owner = ownerOf('newjob');
const { hub, browser } = usePagePlace({ after });

const jobsPath = `/w/${owner.workspaceSlug}/jobs`;

describe('templates and variants in New job', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let client: Client;
  let workspaceId: string;
  let repoId: string;

  before(async () => {
    const person = await makeWorkspace(owner);
    ({ workspaceId } = person);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    visit = await openVisit(browser, hub.baseUrl, { viewport: { width: 1280, height: 800 } });
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
    for (const [label, digit] of [
      ['acme/api', 'a'],
      ['acme/website', 'b'],
    ] as const) {
      const remoteUrlHash = digit.repeat(64);
      const { repoId: id } = await client.repositories.upsert({
        workspaceId,
        label,
        remoteUrlHash,
      });
      repoId ??= id;
    }
  });

  async function audit(name: string): Promise<void> {
    assert.deepEqual(await auditWidths(page, `39-${name}`), []);
  }

  const newest = async () => {
    const { jobs } = await client.jobs.list({ workspaceId, limit: 1 });
    return jobs[0] as Job;
  };

  it('keeps the values of the form as a template, begins another job with them, and removes it', async () => {
    await page.goto(`${jobsPath}/new`);
    await page.getByLabel('Repository', { exact: true }).selectOption(repoId);
    await page.getByLabel('Kind').selectOption('pr_review');
    await page.getByLabel('Priority').fill('7');
    await page.getByLabel('Prompt', { exact: true }).fill('Review {{area}}.\n\n{{prompt}}');
    await page.getByRole('button', { name: 'Save as template' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as template' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await audit('template-save');
    await dialog.getByLabel('Name').fill('review');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template review is saved').waitFor();

    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByLabel('Prompt', { exact: true }).fill('Look at the tests.');
    await page.getByLabel('Template', { exact: true }).selectOption('review');
    assert.equal(await page.getByLabel('Kind').inputValue(), 'pr_review');
    const prompt = page.getByLabel('Prompt', { exact: true });
    assert.equal(await prompt.inputValue(), 'Review {{area}}.\n\nLook at the tests.');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.getByText('Fill in {{area}}.').waitFor();
    await audit('template-chosen');
    await prompt.fill('Review login.\n\nLook at the tests.');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.waitForURL(/\/jobs\/job_/);
    const { kind, priority, title } = await newest();
    assert.deepEqual([kind, priority, title], ['pr_review', 7, 'Review login.']);

    await page.goto(`${jobsPath}/new`);
    await page.getByLabel('Template', { exact: true }).selectOption('review');
    await page.getByRole('button', { name: 'Remove the template review' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('Template', { exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual((await client.jobTemplates.list({ workspaceId })).templates, []);
    await page.getByRole('button', { name: 'Discard the draft' }).click();
  });

  it('tries a work with more than one tool, and opens its page with the variants', async () => {
    await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: {
        canWrite: true,
        reposAllowed: [repoId],
        tools: [{ name: 'claude', models: ['opus'] }, { name: 'codex' }],
      },
    });
    await page.goto(`${jobsPath}/new`);
    await page.getByLabel('Repository', { exact: true }).selectOption(repoId);
    await page.getByLabel('Prompt', { exact: true }).fill('Try it twice');
    await page.getByLabel('Tool', { exact: true }).selectOption('claude');
    await page.getByRole('button', { name: 'Try it with more than one tool' }).click();
    await page.getByLabel('Tool of try 2').selectOption('codex');
    await page.getByRole('button', { name: 'Add a try' }).click();
    await page.getByText('The same from a terminal').click();
    await page.getByRole('button', { name: 'Remove try 3' }).click();
    await page.getByText('--with=claude,codex').waitFor();
    await audit('variants');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.waitForURL(/\/jobs\/job_/);
    await page.getByRole('heading', { name: 'Variants' }).waitFor();
    const { jobs } = await client.jobs.list({ workspaceId, text: 'Try it twice', limit: 10 });
    assert.deepEqual(jobs.map(({ tool }) => String(tool)).toSorted(), ['claude', 'codex']);
  });

  it('offers to continue a job that is done, and enqueues it once more for another tool', async () => {
    const { agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'laptop',
      machineFingerprint: 'laptop',
      capabilities: {
        canWrite: true,
        reposAllowed: [repoId],
        tools: [{ name: 'claude' }, { name: 'codex', models: ['gpt-5.5'] }],
      },
    });
    const { jobId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt: 'Do it elsewhere',
      priority: 900,
      requirements: { tool: 'claude' },
    });
    const claimed = await client.jobs.claimNext({ workspaceId, agentId });
    assert.equal(claimed.jobId, jobId);
    await client.jobs.complete({ workspaceId, agentId, jobId, outcome: 'done' });
    await page.goto(`${jobsPath}/${jobId}?tab=log`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Continue this work' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor();
    await page.getByRole('menuitem', { name: 'Retry elsewhere' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry elsewhere' });
    await dialog.getByText(/Online: .*laptop/).waitFor();
    assert.equal(await dialog.getByLabel('Tool').inputValue(), 'codex');
    await audit('elsewhere');
    await dialog.getByRole('button', { name: 'Enqueue' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(jobId));
    const made = await newest();
    assert.deepEqual([made.title, made.tool, made.priority], ['Do it elsewhere', 'codex', 900]);
  });

  it('shows on the page of a job what the context pack of its run holds', async () => {
    const { runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'billing',
      status: 'in_progress',
      title: 'Billing',
    });
    const { itemId } = await client.contextItems.upsert({
      workspaceId,
      kind: 'note',
      title: 'Prices',
      text: 'All prices are in cents.',
    });
    await client.contextPacks.buildRunV1({
      workspaceId,
      runId,
      requestedContextItemIds: [itemId],
    });
    const { jobId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      runId,
      kind: 'work',
      prompt: 'Mend the prices',
    });
    await page.goto(`${jobsPath}/${jobId}`);
    await page.getByText(/Context pack, version 1: 1 item, about \d+ tokens/).click();
    await page.getByText('Note, written by', { exact: false }).click();
    await page.getByText('All prices are in cents.').waitFor();
    await audit('context');
    await page.getByRole('link', { name: 'All context items' }).click();
    await page.waitForURL(/settings\/data/);
  });

  it('caused no trouble in the browser', () => assert.deepEqual(visit.troubles, []));
});
