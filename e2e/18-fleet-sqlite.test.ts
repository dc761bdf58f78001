import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { inviteMemberByAdmin, mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, followLink, openVisit, type Visit } from './browser.ts';
import { createMachine, logIn, runJson } from './cli-process.ts';
import { makeClone } from './git-clone.ts';
import { configOf } from './hub-database.ts';
import { auditPage, auditScreens } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { callConsole, lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('fleet');
const { hub, browser } = usePagePlace({ after });

/** More than two heartbeats of an agent, on a busy machine. */
const REPORT_MS_MAX = 60_000;

describe('agents, repositories and runs at the console, with a real agent', {
  skip: browserMissing,
}, () => {
  let visit: Visit;
  let page: Page;
  let auditTab: Page;
  let person: SignedIn;
  let client: Client;
  let agent: StartedProcess;
  let workspaceId: string;
  const repoIds: Record<string, string> = {};

  before(async () => {
    person = await makeWorkspace(owner);
    workspaceId = person.workspaceId;
    await logIn(machine, person, owner.workspaceSlug);
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'scenario',
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
    execFileSync('mkfifo', [gate]);
    visit = await openVisit(browser, hub.baseUrl);
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
    auditTab = await visit.context.newPage();
  });
  const folder = makeTempDir({ after });
  const machine = createMachine(folder);
  /** A pipe at which the command of a job waits, unless its prompt says "quick". */
  const gate = join(folder, 'gate');

  const address = (path: string) => `/w/${owner.workspaceSlug}/${path}`;
  const status = (name: string) => page.getByRole('status', { name, exact: true });
  const dialog = () => page.getByRole('dialog');

  async function enqueue(name: string, prompt: string): Promise<string> {
    const repoId = repoIds[name] ?? '';
    return (await client.jobs.enqueue({ workspaceId, repoId, kind: 'work', prompt })).jobId;
  }

  async function readJob(jobId: string) {
    return await client.jobs.get({ workspaceId, jobId });
  }

  /** Waits at the page of a job, which learns by itself how the job goes. */
  async function waitForJob(jobId: string, word: string): Promise<void> {
    const tab = await visit.context.newPage();
    await tab.goto(address(`jobs/${jobId}`));
    await tab.getByText(word, { exact: true }).first().waitFor({ timeout: REPORT_MS_MAX });
    await tab.close();
  }

  /** Holds a page against the audit, on both screens and in both themes. */
  async function audit(name: string, path: string, heading: string): Promise<void> {
    await followLink(auditTab, path);
    await auditTab.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await auditTab.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
    assert.deepEqual(await auditScreens(auditTab, name), []);
  }

  it('begins with the exact next command on each page', async () => {
    for (const [path, command] of [
      ['agents', 'npx signalbox agent start'],
      ['repositories', 'npx signalbox repo link ~/src/api'],
      ['runs', /npx signalbox enqueue .* --kind create_run/],
    ] as const) {
      await page.goto(address(path));
      await page.getByText(command, typeof command === 'string' ? { exact: true } : {}).waitFor();
    }
    await audit('agents-none', address('agents'), 'Agents');
    await audit('repositories-none', address('repositories'), 'Repositories');
    await audit('runs-none', address('runs'), 'Runs');
  });

  it('shows an agent that starts, without a reload', async () => {
    for (const name of ['api', 'web']) {
      const clone = join(folder, name);
      makeClone(clone, `git@git.acme.example:acme/${name}.git`);
      const { repo } = await runJson<{ repo: { repoId: string } }>(machine, [
        'repo',
        'link',
        clone,
      ]);
      repoIds[name] = repo.repoId;
    }
    await page.goto(address('agents'));
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
    const command = [
      'prompt=$(cat)',
      'case "$prompt" in',
      '*plan*) printf \'{"outcome":"done","children":[{"kind":"work","prompt":"quick: write"},' +
        '{"kind":"pr_review","prompt":"quick: review"}]}\' > "$SIGNALBOX_RESULT_FILE" ;;',
      '*quick*) echo done > quick.txt ;;',
      `*) read -r word < '${gate}' && echo "$word" > gated.txt ;;`,
      'esac',
    ].join('\n');
    const place = ['--name', 'workshop', '--jobs', '2', '--label', 'os=linux'];
    agent = machine.start(['agent', 'start', ...place, '--tool', command]);
    const row = page.getByRole('list', { name: 'Online agents' }).getByRole('listitem');
    await row.getByRole('link', { name: 'workshop' }).waitFor();
    await row.getByText('Idle').waitFor();
    await row.getByText(/^command · acme\/(api, acme\/web|web, acme\/api) · os=linux$/).waitFor();
  });

  it('drains it by keyboard alone: it finishes its job and claims no more', async () => {
    const held = await enqueue('api', 'Write what comes through the gate.');
    const row = page.getByRole('list', { name: 'Online agents' }).getByRole('listitem');
    await row.getByRole('link', { name: 'Write what comes through the gate.' }).waitFor();
    await row.getByRole('link', { name: 'workshop' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'workshop', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Drain' }).focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('It finishes the job that it holds first.').waitFor();
    await page.keyboard.press('Tab');
    await dialog().getByLabel('Reason (optional)').focus();
    await page.keyboard.type('New memory.');
    await page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'hidden' });

    const note = page.getByRole('status', { name: 'Command' });
    await note.getByText('Draining', { exact: true }).waitFor({ timeout: REPORT_MS_MAX });
    await note.getByText(/Asked by Ada Lovelace .*: New memory\./).waitFor();
    await agent.waitFor(/draining at the hub's request/);
    const waiting = await enqueue('web', 'quick: wait for the resume');
    await writeFile(gate, 'hello\n');
    await note.getByText('Drained', { exact: true }).waitFor({ timeout: REPORT_MS_MAX });
    assert.equal((await readJob(held)).job.status, 'done');
    const { job, waitingFor } = await readJob(waiting);
    assert.deepEqual([job.status, waitingFor?.reason], ['pending', 'no_agent_serves_repository']);
    await audit('agent-drained', page.url(), 'workshop');
    await audit('agents-drained', address('agents'), 'Agents');

    await page.getByRole('button', { name: 'Resume' }).click();
    await dialog().getByRole('button', { name: 'Resume' }).click();
    await waitForJob(waiting, 'Done');
    await note.waitFor({ state: 'hidden', timeout: REPORT_MS_MAX });
    await status('Status').getByText('Online').waitFor();
  });

  it('pauses one repository, which stops only its jobs', async () => {
    await page.goto(address('repositories'));
    await page.getByRole('link', { name: 'acme/api' }).click();
    await page.getByRole('list').getByRole('link', { name: 'workshop' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await dialog().getByLabel('Reason (optional)').fill('Release freeze.');
    await dialog().getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/Paused by Ada Lovelace .*: Release freeze\./).waitFor();
    const held = await enqueue('api', 'quick: api');
    const other = await enqueue('web', 'quick: web');
    await waitForJob(other, 'Done');
    assert.equal((await readJob(held)).waitingFor?.reason, 'queue_paused');
    await page.getByRole('link', { name: 'quick: api' }).waitFor();
    await audit('repository-paused', page.url(), 'acme/api');
    await audit('repositories', address('repositories'), 'Repositories');
    await page.getByRole('button', { name: 'Resume' }).click();
    await dialog().getByRole('button', { name: 'Resume' }).click();
    await waitForJob(held, 'Done');
  });

  it('renames and archives a repository', async () => {
    await page.getByRole('button', { name: 'Rename' }).click();
    await dialog().getByLabel('Label').fill('acme/api (legacy)');
    await dialog().getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'acme/api (legacy)', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await dialog().getByRole('button', { name: 'Archive' }).click();
    await page.getByText('The repository is archived').waitFor();
    const held = await enqueue('api', 'quick: archived');
    assert.equal((await readJob(held)).waitingFor?.reason, 'repository_archived');
    await page.getByRole('button', { name: 'Make active' }).click();
    await dialog().getByRole('button', { name: 'Make active' }).click();
    await waitForJob(held, 'Done');
  });

  it('shows a run with its milestones and the children of its jobs as a graph', async () => {
    const run = { workspaceId, repoId: repoIds.web ?? '', runRef: 'health-check' };
    const { runId } = await client.runs.upsertV1({
      ...run,
      status: 'in_progress',
      currentMilestone: 'planning',
      title: 'Health check',
      goal: 'The API answers GET /health within 50 ms.',
    });
    await client.runs.upsertV2({
      workspaceId,
      runId,
      status: 'in_progress',
      currentMilestone: 'implementation',
    });
    const first = await client.jobs.enqueue({
      workspaceId,
      repoId: run.repoId,
      runId,
      kind: 'work',
      prompt: 'plan the health check',
    });
    await client.jobs.enqueue({
      workspaceId,
      repoId: run.repoId,
      runId,
      kind: 'work',
      prompt: 'quick: document it',
      dependsOn: [first.jobId],
    });
    await page.goto(address('runs'));
    await page.getByRole('link', { name: 'Health check' }).click();
    const graph = page.getByRole('region', { name: 'Graph' });
    for (const title of ['plan the health check', 'quick: document it', 'quick: write']) {
      await graph
        .getByRole('link', { name: new RegExp(`^${title} ?(Done|No changes)`) })
        .waitFor({ timeout: REPORT_MS_MAX });
    }
    await graph
      .getByRole('link', { name: /^quick: review ?Done/ })
      .waitFor({ timeout: REPORT_MS_MAX });
    assert.equal(await graph.getByRole('link').count(), 4);
    const milestones = page.getByRole('list', { name: 'Milestones' }).getByRole('listitem');
    assert.deepEqual(
      (await milestones.allInnerTexts()).map((text) => /^\w+/.exec(text)?.[0]),
      ['Planning', 'Implementation'],
    );
    await audit('run-graph', page.url(), 'Health check');
    await page.getByRole('tab', { name: 'List' }).click();
    const items = page.getByRole('list', { name: 'Jobs of the run' }).getByRole('listitem');
    await items.nth(3).waitFor();
    assert.match(await items.nth(1).innerText(), /after plan the health check/);
    await audit('run-list', page.url(), 'Health check');
    await audit('runs', address('runs'), 'Runs');
    await graph.waitFor({ state: 'hidden' });
  });

  it('shows a viewer the controls with the reason why they do nothing', async () => {
    const { invitationUrl } = await inviteMemberByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      email: 'vera@fleet.example',
      role: 'viewer',
    });
    const accepted = await callConsole(hub.baseUrl, 'invitations/accept', {
      linkToken: invitationUrl.split('#token=')[1],
      name: 'Vera',
      password: 'copper lantern orbit mosaic 2',
    });
    const viewer = await openVisit(browser, hub.baseUrl);
    await lendSession(viewer.context, { ...person, cookie: accepted.cookie });
    const tab = await viewer.context.newPage();
    await tab.goto(address('agents'));
    await tab.getByRole('link', { name: 'workshop' }).click();
    for (const name of ['Drain', 'Stop']) {
      const button = tab.getByRole('button', { name, exact: true });
      await button.click({ force: true });
      await tab.getByText('Viewers can read only.').first().waitFor();
      assert.equal(await tab.getByRole('dialog').count(), 0);
    }
    assert.deepEqual(await auditPage(tab), []);
    await viewer.context.close();
  });

  it('stops the agent from the page: its process ends', async () => {
    await page.goto(address('agents'));
    await page.getByRole('link', { name: 'workshop' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog().getByText('only its machine can start it again').waitFor();
    await dialog().getByRole('button', { name: 'Stop' }).click();
    assert.equal((await agent.ended).code, 0, agent.stderr);
    assert.match(agent.stdout, /stopping at the hub's request/);
    const note = page.getByRole('status', { name: 'Command' });
    await note.getByText('Stopped', { exact: true }).waitFor({ timeout: REPORT_MS_MAX });
    await status('Status').getByText('Offline').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
    await audit('agent-stopped', page.url(), 'workshop');
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });
});
