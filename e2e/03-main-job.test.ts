import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configFlag, createMachine, logIn, runJson } from './cli-process.ts';
import { git, makeClone } from './git-clone.ts';
import { makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('main-job');
const { hub, browser } = usePagePlace({ after });

interface JobAnswer {
  job: {
    status: string;
    attempt: number;
    evidence: { commitSha: string; changedFiles: string[]; branch: string } | null;
  };
  events: { kind: string; message: string | null }[];
}

describe('the main job, from a linked clone to evidence on the page', {
  skip: browserMissing,
}, () => {
  let visit: Visit;
  let page: Page;

  before(async () => {
    const person = await makeWorkspace(owner);
    await logIn(machine, person, owner.workspaceSlug);
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    execFileSync('mkfifo', [gate]);
    visit = await openVisit(browser, hub.baseUrl);
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
  });
  const folder = makeTempDir({ after });
  const machine = createMachine(folder);
  const clone = join(folder, 'clone');
  /** A pipe at which a job's command waits until the scenario releases it. */
  const gate = join(folder, 'gate');

  let jobId: string;
  let agent: StartedProcess;

  async function enqueue(prompt: string): Promise<string> {
    const made = await runJson<{ jobId: string }>(machine, ['enqueue', prompt], clone);
    return made.jobId;
  }

  function startAgent(command: string): StartedProcess {
    const line = ['--once', '--name', 'workshop', '--tool', command];
    const settings = configFlag(folder, { lease: '3s' });
    return machine.start(['agent', 'start', ...line, ...settings]);
  }

  async function openJob(id: string): Promise<void> {
    await page.goto(`/w/${owner.workspaceSlug}/jobs/${id}`);
    // Gone after a reload: what the page shows later, it has learnt by itself.
    await page.evaluate('window.isSamePage = true');
  }

  function panel(title: string) {
    return page.locator('section', {
      has: page.getByRole('heading', { name: title, exact: true }),
    });
  }

  function openTab(name: string): Promise<void> {
    return page.getByRole('tab', { name }).click();
  }

  async function waitForStatus(word: string): Promise<void> {
    await page.getByRole('status', { name: 'Status' }).getByText(word, { exact: true }).waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
  }

  it('begins with a linked clone, of which the hub knows a hash and a label', async () => {
    const linked = await runJson<{ created: boolean; repo: { label: string } }>(machine, [
      'repo',
      'link',
      clone,
    ]);
    assert.equal(linked.created, true);
    assert.equal(linked.repo.label, 'acme/api');
    assert.ok(!JSON.stringify(linked.repo).includes('git.acme.example'));
  });

  it('is pending on the page, with the reason', async () => {
    jobId = await enqueue('Write a greeting into greeting.txt.');
    await openJob(jobId);
    await waitForStatus('Pending');
    await page.getByRole('heading', { name: 'No online agent serves the repository' }).waitFor();
  });

  it('shows the output of the running command without a reload', async () => {
    const steps = [
      'printf "\\033[32mreading\\033[0m the prompt: "; cat; echo',
      `read -r greeting < '${gate}'`,
      'echo "$greeting" > greeting.txt; mkdir docs; echo "# Greeting" > docs/greeting.md',
      'echo "<b>all</b> done"',
    ];
    agent = startAgent(steps.join(' && '));
    await openTab('Log');
    const output = page.getByRole('log', { name: 'Output of attempt 1' });
    await output.getByText('Write a greeting into greeting.txt.').waitFor();
    await waitForStatus('Running');
    assert.equal(agent.child.exitCode, null);
  });

  it('ends done, with its commit and files on the page', async () => {
    await writeFile(gate, 'hello\n');
    await waitForStatus('Done');
    const output = page.getByRole('log', { name: 'Output of attempt 1' });
    await output.getByText('<b>all</b> done').waitFor();
    await openTab('Overview');
    const evidence = panel('Evidence');
    await evidence.getByText('docs/greeting.md').waitFor();
    assert.equal((await agent.ended).code, 0, agent.stderr);
    const sha = git(clone, 'rev-parse', (await readJob(jobId)).job.evidence?.branch ?? '');
    await evidence.getByText(sha.slice(0, 12)).waitFor();
  });

  it('has evidence that matches the person’s clone in git', async () => {
    const { job } = await readJob(jobId);
    assert.equal(job.status, 'done');
    assert.ok(job.evidence);
    const { commitSha, changedFiles, branch } = job.evidence;
    assert.equal(git(clone, 'rev-parse', branch), commitSha);
    const changed = git(clone, 'diff', '--name-only', 'main', branch).split('\n');
    assert.deepEqual([...changedFiles].sort(), changed);
    assert.deepEqual(changed, ['docs/greeting.md', 'greeting.txt']);
    assert.equal(git(clone, 'show', `${branch}:greeting.txt`), 'hello');
  });

  it('does not change the person’s own checkout', () => {
    assert.equal(git(clone, 'status', '--porcelain'), '');
    assert.equal(git(clone, 'branch', '--show-current'), 'main');
    assert.equal(git(clone, 'log', '--format=%s'), 'Begin');
    assert.equal(git(clone, 'worktree', 'list').split('\n').length, 1);
  });

  it('shows the same timeline in the terminal and on the page', async () => {
    const kinds = new Set((await readJob(jobId)).events.map(({ kind }) => kind));
    for (const kind of ['enqueued', 'claimed', 'log', 'completed'])
      assert.ok(kinds.has(kind), kind);
    await openTab('Timeline');
    const timeline = page.getByRole('tabpanel');
    await timeline.getByRole('checkbox', { name: 'Show heartbeats' }).check();
    for (const word of ['Enqueued', 'Claimed', 'Output of attempt 1', 'Completed']) {
      await timeline.getByText(word, { exact: true }).waitFor();
    }
    await timeline.getByText('by workshop').waitFor();
  });

  it('stops the command when a person cancels the job on the page', async () => {
    jobId = await enqueue('Work until somebody says stop.');
    await openJob(jobId);
    agent = startAgent(`echo "I am $$" && read -r never < '${gate}'`);
    await openTab('Log');
    const output = page.getByRole('log', { name: 'Output of attempt 1' });
    await output.getByText(/^I am \d+$/).waitFor();
    const pid = Number((await output.getByText(/^I am \d+$/).innerText()).replace(/\D/g, ''));
    assert.equal(isAlive(pid), true);

    await page.getByRole('button', { name: 'Cancel job' }).click();
    const question = page.getByRole('alertdialog', { name: 'Cancel the job?' });
    await question.getByRole('button', { name: 'Cancel job' }).click();
    await waitForStatus('Canceled');
    await question.waitFor({ state: 'hidden' });
    assert.equal((await agent.ended).code, 7, agent.stdout);
    assert.match(agent.stdout, /canceled in/);
    assert.equal(isAlive(pid), false);
    assert.equal((await readJob(jobId)).job.evidence, null);
  });

  it('lists both jobs, newest first, and filters them by status', async () => {
    await page.getByRole('link', { name: 'All jobs' }).click();
    const rows = page.getByRole('list', { name: 'Jobs' }).getByRole('link');
    await rows.first().getByText('Work until somebody says stop.').waitFor();
    assert.equal(await rows.count(), 2);
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'Done' });
    await rows.first().getByText('Write a greeting into greeting.txt.').waitFor();
    assert.equal(await rows.count(), 1);
    assert.equal(new URL(page.url()).search, '?status=done');
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });

  function readJob(id: string): Promise<JobAnswer> {
    return runJson<JobAnswer>(machine, ['job', id]);
  }
});

function isAlive(pid: number): boolean {
  try {
    // A zombie is dead, though a signal would still reach it.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
