import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Job } from '@signalbox/contract';
import { inviteMemberByAdmin, mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { projectRoot } from './node-process.ts';
import { auditWidths } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { callConsole, lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('jobs');
const { hub, browser } = usePagePlace({ after });

const run = promisify(execFile);
const jobsPath = `/w/${owner.workspaceSlug}/jobs`;

describe('the list of jobs and the form of a new one', { skip: browserMissing }, () => {
  let person: SignedIn;
  let visit: Visit;
  let page: Page;
  let client: Client;
  let token: string;
  let workspaceId: string;
  let repoId: string;
  let otherRepoId: string;
  let agentId: string;

  before(async () => {
    person = await makeWorkspace(owner);
    ({ workspaceId } = person);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    ({ token } = await mintTokenByAdmin(await configOf(dataDir), draft));
    client = createClient({ baseUrl: hub.baseUrl, token });
    visit = await openVisit(browser, hub.baseUrl, { viewport: { width: 1280, height: 800 } });
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
    await fill();
  });
  const folder = makeTempDir({ after });

  const repository = async (label: string, remoteUrlHash: string) =>
    (await client.repositories.upsert({ workspaceId, label, remoteUrlHash })).repoId;

  const enqueue = async (prompt: string, more: object = {}) => {
    const draft = { workspaceId, repoId, kind: 'work' as const, prompt, ...more };
    return (await client.jobs.enqueue(draft)).jobId;
  };

  /** Jobs in every state, for two repositories. */
  async function fill(): Promise<void> {
    repoId = await repository('acme/api', 'a1'.repeat(32));
    otherRepoId = await repository('acme/website', 'b2'.repeat(32));
    ({ agentId } = await client.agents.heartbeat({
      workspaceId,
      displayName: 'build-7',
      machineFingerprint: 'build-7',
      capabilities: { canWrite: true, reposAllowed: [repoId] },
    }));
    for (const outcome of ['done', 'failed', 'blocked', 'running'] as const) {
      const jobId = await enqueue(`A job that is ${outcome}`);
      await client.jobs.claimNext({ workspaceId, agentId, leaseMs: 3_600_000 });
      const entries = [{ logSeq: 1, message: `connect EREFUSED in ${outcome}\n` }];
      await client.jobEvents.append({ workspaceId, jobId, agentId, entries });
      if (outcome === 'running') continue;
      const usage = { costUsd: 1.25 };
      const said = outcome === 'failed' ? { message: 'The tests fail.\nAll of them.' } : {};
      await client.jobs.complete({ workspaceId, jobId, agentId, outcome, usage, ...said });
    }
    for (let n = 1; n <= 4; n++) await enqueue(`Queued job number ${n}`, { priority: 4 - n });
    await enqueue('Review the pricing page', { repoId: otherRepoId, kind: 'pr_review' });
    await enqueue('A job for tomorrow', { delayMs: 86_400_000 });
  }

  const row = (title: string) => page.getByRole('listitem').filter({ hasText: title });
  const rows = () => page.getByRole('list', { name: 'Jobs' }).getByRole('listitem');
  const pressed = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focusedTitle = () => page.evaluate<string>('document.activeElement.textContent');

  /** Holds the page against the audit, on both widths. */
  async function audit(name: string, on: Page = page): Promise<void> {
    assert.deepEqual(await auditWidths(on, `16-${name}`), []);
  }

  it('shows jobs by state with counts, and says why queued ones wait', async () => {
    await page.goto(jobsPath);
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    assert.deepEqual(headings, ['Needs you1', 'Running1', 'Failed1', 'Queued6', 'Finished1']);
    const counts = page.getByRole('list', { name: 'States' });
    await counts.getByRole('link', { name: '6 queued' }).waitFor();
    await row('A job that is failed').getByText('The tests fail.').first().waitFor();
    // The first is for phones.
    await row('Review the pricing page').getByText('No online agent serves it').last().waitFor();
    await row('A job for tomorrow')
      .getByText(/Starts in (?:1 d|23 h)/)
      .last()
      .waitFor();
    await row('A job that is done').getByText('$1.25', { exact: true }).first().waitFor();
    await row('A job that is running').getByText('build-7', { exact: true }).first().waitFor();
    await audit('full');
  });

  it('keeps its filters in the URL, and finds jobs by words', async () => {
    await page
      .getByRole('combobox', { name: 'Repository' })
      .selectOption({ label: 'acme/website' });
    await page.waitForURL((url) => url.searchParams.get('repo') === otherRepoId);
    await row('Review the pricing page').waitFor();
    await row('Queued job number 1').waitFor({ state: 'detached' });
    await page.reload();
    await row('Review the pricing page').waitFor();
    await page.getByRole('button', { name: 'Clear the filter Repository' }).click();
    await row('Queued job number 1').waitFor();
    await pressed('/');
    await page.keyboard.type('NUMBER 3');
    await page.waitForURL((url) => url.searchParams.get('q') === 'NUMBER 3');
    await row('Queued job number 3').waitFor();
    await row('Queued job number 2').waitFor({ state: 'detached' });
    assert.equal(await rows().count(), 1);
    await page.getByLabel('Search jobs').fill('all of them');
    await row('A job that is failed').waitFor();
    await page.getByLabel('Search jobs').fill('EREFUSED in done');
    await page.getByRole('button', { name: 'Search the logs' }).click();
    await row('A job that is done').waitFor();
    assert.equal(await rows().count(), 1);
    await page.reload();
    await row('A job that is done').waitFor();
    await page.getByRole('button', { name: 'In logs', pressed: true }).click();
    await page.getByText('No job matches these filters.').waitFor();
    await page.goto(`${jobsPath}?status=failed&kind=pr_review&since=7d`);
    await page.getByText('No job matches these filters.').waitFor();
    await audit('no-match');
    await page.getByRole('button', { name: 'Show all jobs' }).click();
    await row('A job that is failed').waitFor();
    assert.equal(new URL(page.url()).search, '');
  });

  it('is used by keyboard alone: move, copy, select, cancel', async () => {
    await page.goto(jobsPath);
    await row('A job that is blocked').waitFor();
    await pressed('j');
    await page.locator(':focus').getByText('A job that is blocked').waitFor();
    await pressed('j', 'j', 'j');
    assert.equal(await focusedTitle(), 'A job for tomorrow');
    await pressed('k', 'k');
    assert.equal(await focusedTitle(), 'A job that is running');
    await pressed('y');
    await page.getByText('Job ID copied').first().waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(copied, /^job_/);
    await pressed('x');
    await page.getByText('1 selected').waitFor();
    await pressed('Escape');
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    await pressed('Enter');
    await page.waitForURL((url) => url.pathname.endsWith(copied));
    await page.goBack();
  });

  it('changes the selected jobs, and says what became of each', async () => {
    await page.goto(`${jobsPath}?status=all`);
    await row('Queued job number 4').waitFor();
    await row('Queued job number 4').hover();
    await row('Queued job number 4').getByRole('checkbox').click();
    await row('Queued job number 1')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByText('4 selected').waitFor();
    await row('A job that is done').getByRole('checkbox').click();
    await page.getByText('5 selected').waitFor();
    await audit('selected');
    await page.getByRole('button', { name: 'Cancel jobs' }).click();
    await page.getByRole('button', { name: 'Cancel these 5 jobs' }).click();
    await page.getByText('4 canceled, 1 was already done').first().waitFor();
    await row('Queued job number 2').getByRole('img', { name: 'Canceled' }).waitFor();
    const { jobs } = await client.jobs.list({ workspaceId, status: 'canceled' });
    assert.equal(jobs.length, 4);
    await row('A job for tomorrow').hover();
    await row('A job for tomorrow').getByRole('checkbox').click();
    await page.getByRole('combobox', { name: 'Set priority' }).selectOption('10');
    await page.getByText('1 with the new priority').first().waitFor();
  });

  it('says that the queue is paused, by whom and why, and resumes it', async () => {
    const reason = 'Release freeze until noon.';
    await callConsole(hub.baseUrl, 'queue/pause', { workspaceId, reason }, person.cookie);
    await page.goto(jobsPath);
    await page.getByText('The queue is paused.').waitFor();
    await page.getByText(`by ${owner.name}: ${reason}`).waitFor();
    await row('Review the pricing page').getByText('The queue is paused').last().waitFor();
    await audit('paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The queue is paused.').waitFor({ state: 'detached' });
    assert.deepEqual((await client.queue.listPauses({ workspaceId })).pauses, []);
  });

  it('shows faults of a new job at their fields, and keeps the draft over a reload', async () => {
    await page.goto(jobsPath);
    await row('A job that is blocked').waitFor();
    await pressed('n');
    await page.getByRole('heading', { name: 'New job' }).waitFor();
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.getByText('Choose a repository.').waitFor();
    await page.getByText('Describe the task.').waitFor();
    await page.getByLabel('Repository').selectOption({ label: 'acme/api' });
    await page.getByLabel('Prompt', { exact: true }).fill('# Add a check\n\nIt is **quick**.');
    await page.getByText('When, where and within which limits').click();
    await page.getByLabel('Delay').fill('10');
    // The hub refuses this one: a label's value must be text of at most 200 characters.
    await page.getByLabel('Requirements').fill('{"labels": {"os": 1}}');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.getByText('Enter a time with a unit').waitFor();
    await page.getByLabel('Delay').fill('10m');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.locator('[name=requirements][aria-invalid=true]:focus').waitFor();
    await audit('new-refused');
    await page.reload();
    assert.equal(await page.getByLabel('Delay').inputValue(), '10m');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByRole('region', { name: 'Preview of the prompt' });
    assert.equal(await preview.locator('strong').textContent(), 'quick');
    await audit('new-preview');
    await page.getByRole('button', { name: 'Write' }).click();
  });

  /** Whether two jobs were made from the same request. */
  const sameWish = ({ repoId, kind, role, prompt, requirements, priority, ...job }: Job) => {
    const { maxAttempts, dependsOn, concurrencyKey, budget, runId } = job;
    const delayMs = Date.parse(job.availableAt) - Date.parse(job.createdAt);
    return {
      repoId,
      kind,
      role,
      prompt,
      requirements,
      priority,
      maxAttempts,
      dependsOn,
      concurrencyKey,
      budget,
      runId,
      delayMs,
    };
  };
  const newest = async () => {
    const { jobs } = await client.jobs.list({ workspaceId, limit: 1 });
    return jobs[0] as Job;
  };

  it('enqueues once however often it is pressed, and the shown commands make the same job', async () => {
    const { runId } = await client.runs.upsertV1({
      workspaceId,
      repoId,
      runRef: 'billing',
      status: 'in_progress',
      title: 'Billing',
    });
    const { jobs: before } = await client.jobs.list({ workspaceId, limit: 200 });
    await page.reload();
    await page
      .getByLabel('Prompt', { exact: true })
      .fill("# It's a check\n\n-- `quick` & $HOME \\n");
    await page.getByLabel('Priority').fill('-5');
    await page.getByLabel('Requirements').fill('os=linux gpu=a100');
    await page.getByLabel('After').fill('that is done');
    await page.getByRole('button', { name: 'A job that is done' }).click();
    await page.getByLabel('Run', { exact: true }).selectOption({ label: 'Billing' });
    await page.getByLabel('Budget in US dollars').fill('2.5');
    await page.getByLabel('Concurrency key').fill('deploy to prod');
    await page.getByLabel('Maximum attempts').fill('2');
    await page.getByText('The same from a terminal').click();
    const [line = '', curl = ''] = await page
      .locator('section[aria-label^="As a"] > div:last-child')
      .allTextContents();
    await audit('new-full');
    await page.getByRole('button', { name: 'Enqueue' }).dblclick();
    await page.waitForURL(/\/jobs\/job_/);
    const { jobs: later } = await client.jobs.list({ workspaceId, limit: 200 });
    assert.equal(later.length, before.length + 1);
    const made = sameWish(await newest());
    assert.equal(made.delayMs, 600_000);
    assert.equal(made.runId, runId);
    assert.deepEqual(made.budget, { costUsd: 2.5 });
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const script = join(projectRoot, 'packages/cli/src/main.ts');
    writeFileSync(
      join(bin, 'signalbox'),
      `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`,
    );
    chmodSync(join(bin, 'signalbox'), 0o755);
    const env = {
      ...process.env,
      PATH: `${bin}:${process.env.PATH}`,
      SIGNALBOX_TOKEN: token,
      SIGNALBOX_CONFIG_DIR: join(folder, 'config'),
      SIGNALBOX_STATE_DIR: join(folder, 'state'),
    };
    for (const command of [line, curl]) {
      const { jobId: last } = await newest();
      await run('sh', ['-c', command], { env });
      const job = await newest();
      assert.notEqual(job.jobId, last, command);
      assert.deepEqual(sameWish(job), made, command);
    }
  });

  /** Drops or pastes a picture on the prompt. */
  const give = (type: 'drop' | 'paste', name: string) =>
    page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File(['png'], '${name}', { type: 'image/png' }));
      const options = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
      const Kind = '${type}' === 'drop' ? DragEvent : ClipboardEvent;
      document.querySelector('[name=prompt]').dispatchEvent(new Kind('${type}', options));
    }`);

  it('attaches files that are chosen, dropped or pasted to a new job', async () => {
    await page.goto(`${jobsPath}/new`);
    await page.getByLabel('Repository').selectOption(repoId);
    await page.getByLabel('Prompt', { exact: true }).fill('Look at the files');
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
    const input = page.getByLabel('Files', { exact: true });
    const longName = `${'a'.repeat(120)}.log`;
    await input.setInputFiles([file(longName), file('wrong.txt')]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await give('drop', 'dropped.png');
    await give('paste', 'pasted.png');
    await input.setInputFiles(Array.from({ length: 10 }, (_, n) => file(`${n}.txt`)));
    await page.getByText('A job takes at most 10 files.').waitFor();
    for (const name of ['dropped.png', 'pasted.png']) {
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    }
    // Uploads have ended once there is no progress any more.
    await page.locator('progress').first().waitFor({ state: 'detached' });
    await audit('attachments');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    await page.waitForURL(/\/jobs\/job_/);
    const { prompt, attachments = [] } = await newest();
    assert.equal(prompt, 'Look at the files');
    const told = attachments.map(({ fileName, sizeBytes }) => `${fileName} ${sizeBytes}`).sort();
    assert.deepEqual(told, [`${longName} ${longName.length}`, 'dropped.png 3', 'pasted.png 3']);
  });

  it('says why a file was not uploaded, and stops an upload that is removed', async () => {
    await page.goto(`${jobsPath}/new`);
    const input = page.getByLabel('Files', { exact: true });
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
    const fullQuota = { error: 'LIMIT_REACHED', message: 'The quota is full: delete uploads.' };
    const bytes = '**/uploads/store-bytes?*';
    await page.route('**/uploads/create', (route) => route.fulfill({ json: fullQuota }));
    await input.setInputFiles([file('refused.txt')]);
    await page.getByText(`refused.txt: ${fullQuota.message}`).waitFor();
    await page.unroute('**/uploads/create');
    const held = Promise.withResolvers<void>();
    await page.route(bytes, () => held.resolve());
    await input.setInputFiles([file('held.txt')]);
    await held.promise;
    await page.getByRole('progressbar', { name: 'Upload of held.txt' }).waitFor();
    await page.getByRole('button', { name: 'Remove held.txt' }).click();
    await page.getByRole('list', { name: 'Attached files' }).waitFor({ state: 'detached' });
    await page.unroute(bytes);
    await page.getByRole('button', { name: 'Discard the draft' }).click();
  });

  it('fills the form with a copy of the job on which d is pressed', async () => {
    await page.goto(`${jobsPath}?q=pricing`);
    await row('Review the pricing page').waitFor();
    await pressed('j', 'd');
    await page.getByText('A copy of').waitFor();
    assert.equal(
      await page.getByLabel('Prompt', { exact: true }).inputValue(),
      'Review the pricing page',
    );
    assert.equal(await page.getByLabel('Repository').inputValue(), otherRepoId);
    assert.equal(await page.getByLabel('Kind').inputValue(), 'pr_review');
    await page.getByLabel('Prompt', { exact: true }).focus();
    await page.keyboard.press('Control+Enter');
    await page.waitForURL(/\/jobs\/job_/);
    assert.equal((await newest()).prompt, 'Review the pricing page');
  });

  it('shows a viewer every control, disabled, with the reason', async () => {
    const config = await configOf(dataDir);
    const guest = { email: 'vera@jobs.example', name: 'Vera', password: 'cobalt meadow anvil 13' };
    const { invitationUrl } = await inviteMemberByAdmin(config, {
      workspaceSlug: owner.workspaceSlug,
      email: guest.email,
      role: 'viewer',
    });
    const linkToken = invitationUrl.split('#token=')[1];
    const { cookie } = await callConsole(hub.baseUrl, 'invitations/accept', {
      linkToken,
      ...guest,
    });
    await callConsole(hub.baseUrl, 'queue/pause', { workspaceId }, person.cookie);
    const viewer = await openVisit(browser, hub.baseUrl);
    await lendSession(viewer.context, { ...person, cookie });
    const other = await viewer.context.newPage();
    await other.goto(jobsPath);
    await other.getByText('The queue is paused.').waitFor();
    await other.getByRole('button', { name: 'Select', exact: true }).click();
    for (const name of ['Resume', 'Retry', 'Release', 'Cancel jobs']) {
      const button = other.getByRole('button', { name, exact: true });
      assert.equal(await button.getAttribute('aria-disabled'), 'true', name);
    }
    await audit('viewer', other);
    await other.getByRole('link', { name: 'New job' }).click();
    const enqueueButton = other.getByRole('button', { name: 'Enqueue' });
    // To the browser the button is not disabled: a press shows the reason.
    await enqueueButton.click({ force: true });
    await other.getByText('Viewers can read only.').last().waitFor();
    await audit('viewer-new', other);
    assert.deepEqual(viewer.troubles, []);
    await viewer.context.close();
    await callConsole(hub.baseUrl, 'queue/resume', { workspaceId }, person.cookie);
  });

  it('shows skeletons of true height while it loads, and an error that can be retried', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/console-api/v1/jobs/list', async (request) => {
      await held.promise;
      await request.fallback();
    });
    await page.goto(jobsPath);
    await page.getByText('Loading the jobs').first().waitFor({ state: 'attached' });
    await audit('loading');
    held.resolve();
    await row('A job that is blocked').waitFor();
    await page.unroute('**/console-api/v1/jobs/list');
    const body = { ok: false, error: 'INTERNAL', message: 'The hub failed.', requestId: 'req_1' };
    await page.route('**/console-api/v1/jobs/list', (request) =>
      request.fulfill({ status: 400, json: body }),
    );
    await page.goto(`${jobsPath}?status=done`);
    await page.getByRole('alert').getByText('The hub failed.').waitFor();
    await audit('error');
    await page.unroute('**/console-api/v1/jobs/list');
    await page.getByRole('button', { name: 'Try again' }).click();
    await row('A job that is done').waitFor();
  });

  it('has ten jobs of a group, opens and collapses it in place, and shows mine', async () => {
    for (let n = 1; n <= 90; n++) await enqueue(`Crowd number ${n}`);
    await page.goto(jobsPath);
    const heading = page.getByRole('button', { name: /^Queued/ });
    const more = page.getByRole('button', { name: /^\d+ more of “Queued”$/ });
    await more.scrollIntoViewIfNeeded();
    const count = Number.parseInt((await more.textContent()) ?? '', 10);
    assert.ok(count >= 80, `${count} more`);
    const first = row('Crowd number 90');
    const topOf = async () => Math.round((await first.boundingBox())?.y ?? Number.NaN);
    const before = await topOf();
    await more.click();
    await row('Crowd number 75').waitFor();
    assert.equal(await topOf(), before, 'a group opens below what is in sight');
    await audit('opened');
    await page.goto(jobsPath);
    await more.waitFor();
    await audit('crowd');
    await heading.click();
    await first.waitFor({ state: 'detached' });
    assert.equal(await heading.getAttribute('aria-expanded'), 'false');
    await audit('collapsed');
    await heading.click();
    await first.waitFor();
    await page.getByRole('button', { name: 'Mine' }).click();
    await page.waitForURL((url) => url.searchParams.get('mine') === 'true');
    // A program has enqueued it.
    await first.waitFor({ state: 'detached' });
  });

  it('meets no fault of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });
});
