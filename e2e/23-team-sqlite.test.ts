import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { StartedProcess } from '../scripts/process/start-process.ts';
import { browserMissing, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { createMachine, logIn, runJson } from './cli-process.ts';
import { makeClone } from './git-clone.ts';
import { projectRoot } from './node-process.ts';
import { makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('team');
const { hub, browser } = usePagePlace({ after });

const phone: VisitOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
const title = 'Add a health check';

/*
 * Three people, three browsers, a real repository and a real agent: the owner enqueues a job in the
 * console, a member answers its question on a phone, and a viewer sees the evidence.
 */
describe('a team takes a repository from a new job to evidence', { skip: browserMissing }, () => {
  let ownerPage: Page;
  let memberPage: Page;
  let viewerPage: Page;
  let agent: StartedProcess;
  let jobPath: string;
  const visits: Visit[] = [];
  const jobs = `/w/${owner.workspaceSlug}/jobs`;

  before(async () => {
    const person = await makeWorkspace(owner);
    const member = await joinWorkspace(person, 'Grace Hopper', 'member');
    const viewer = await joinWorkspace(person, 'Victor Viewer', 'viewer');
    const machine = createMachine(join(folder, 'machine'));
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    await logIn(machine, person, owner.workspaceSlug);
    await runJson(machine, ['repo', 'link', clone]);
    const command = `'${process.execPath}' '${join(projectRoot, 'e2e/asking-tool.ts')}' '${endFile}'`;
    const place = ['--json', '--name', 'workshop'];
    agent = machine.start(['agent', 'start', ...place, '--tool', command]);
    await agent.waitFor(/"type":"online"/);
    ownerPage = await visit(person, { viewport: { width: 1280, height: 800 } });
    memberPage = await visit(member, phone);
    // The phone is open before there is a question, and reads nothing by itself.
    await memberPage.goto(`/w/${owner.workspaceSlug}/inbox`);
    await memberPage.getByText('No open questions').waitFor();
    viewerPage = await visit(viewer, { viewport: { width: 1280, height: 800 } });
  });
  after(async () => {
    agent?.child.kill('SIGTERM');
    await agent?.ended;
  });
  // Registered after the processes' ends, so that it is deleted later.
  const folder = makeTempDir({ after });
  const endFile = join(folder, 'end');
  const clone = join(folder, 'clone');

  async function visit(who: SignedIn, options: VisitOptions): Promise<Page> {
    const opened = await openVisit(browser, hub.baseUrl, options);
    visits.push(opened);
    await lendSession(opened.context, who);
    return opened.context.newPage();
  }

  it('the owner enqueues a job in the console', async () => {
    await ownerPage.goto(jobs);
    await ownerPage.getByRole('link', { name: 'New job' }).first().click();
    // The list has a choice of repositories as well.
    await ownerPage.getByRole('heading', { name: 'New job' }).waitFor();
    await ownerPage.getByLabel('Repository').selectOption({ label: 'acme/api' });
    await ownerPage.getByLabel('Prompt', { exact: true }).fill(`${title}\n\nAsk for the port.`);
    await ownerPage.getByRole('button', { name: 'Enqueue' }).click();
    await ownerPage.getByRole('heading', { name: title }).first().waitFor();
    jobPath = new URL(ownerPage.url()).pathname;
    assert.match(jobPath, /\/jobs\/job_[0-9a-z]+$/);
  });

  it('all three see that it waits for a person', async () => {
    await viewerPage.goto(jobPath);
    for (const page of [ownerPage, viewerPage]) {
      await page.getByText('Which port may the health check use?').first().waitFor();
    }
    const option = (page: Page) => page.getByRole('radio', { name: /Port 9443/ });
    assert.equal(await option(ownerPage).isDisabled(), false);
    assert.equal(await option(viewerPage).isDisabled(), true, 'viewers read only');
  });

  it('the member answers on a phone by two taps', async () => {
    await memberPage.getByRole('link', { name: /Which port may the health check use/ }).tap();
    await memberPage.getByRole('button', { name: 'Answer “Port 9443”' }).tap();
    await memberPage.getByText('You answered').waitFor();
  });

  it('the owner and the viewer see who answered, and that the job runs', async () => {
    for (const page of [ownerPage, viewerPage]) {
      await page
        .getByText(/Grace Hopper/)
        .first()
        .waitFor();
      await page.getByText('Running', { exact: true }).first().waitFor();
    }
  });

  it('the viewer sees the evidence: the commit, its branch and the file', async () => {
    writeFileSync(endFile, '');
    await agent.waitFor(/"type":"result-accepted".*"status":"done"/);
    await viewerPage.getByRole('heading', { name: 'Evidence' }).waitFor();
    await viewerPage.getByText('health-port').first().waitFor();
    await viewerPage
      .getByText(/git switch signalbox\//)
      .first()
      .waitFor();
    await viewerPage.getByText('Port: 9443').first().waitFor();
    await viewerPage.getByText('No checks are configured').waitFor();
    await memberPage.goto(jobPath);
    await memberPage.getByRole('heading', { name: 'Evidence' }).waitFor();
    for (const { troubles } of visits) assert.deepEqual(troubles, []);
  });

  it('the command on the page leads to the work: the branch has the answer', async () => {
    const command = await ownerPage.getByText(/^git switch signalbox\//).innerText();
    const branch = command.replace('git switch ', '');
    const git = (...args: string[]) => execFileSync('git', ['-C', clone, ...args]).toString();
    assert.equal(git('show', `${branch}:health-port`), '9443\n');
    const commit = git('rev-parse', '--short=12', branch).trim();
    await ownerPage.getByText(commit, { exact: true }).waitFor();
  });
});
