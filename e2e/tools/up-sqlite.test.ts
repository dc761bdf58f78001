import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { StartedProcess } from '../../scripts/process/start-process.ts';
import { browserMissing, launchBrowser, openVisit, type Visit } from '../browser.ts';
import { createMachine } from '../cli-process.ts';
import { git, makeClone } from '../git-clone.ts';
import { makeTempDir } from '../temp-dir.ts';
import { toolMissing } from './install-tool.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { makeToolPlace } from './tool-place.ts';
import { say, write } from './turns.ts';

/** A tool on a busy machine takes its time to start, and so does a page. */
const WAIT_MS = 180_000;

/** One command, one link, and what a person types into the console. */
describe('from a clone to a job done by the real Claude Code', {
  skip: browserMissing || toolMissing('claude'),
}, () => {
  let model: ScriptedModel;
  let proxy: RecordingProxy;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let up: StartedProcess;

  before(async () => {
    makeClone(clone, 'git@git.acme.example:acme/api.git');
    model = await startScriptedModel();
    proxy = await startRecordingProxy();
    browser = await launchBrowser();
  });
  after(async () => {
    up?.child.kill('SIGKILL');
    await up?.ended;
    await browser?.close();
    await proxy?.close();
    await model?.close();
  });
  // Registered after the end of all, so that the directory is deleted later.
  const folder = makeTempDir({ after });
  const clone = join(folder, 'clone');

  it('one command in the clone starts everything and prints one link', async () => {
    const place = makeToolPlace({
      folder,
      tools: ['claude'],
      modelUrl: model.baseUrl,
      proxyEnv: proxy.env,
    });
    // The port is the test's: others use the usual one.
    const machine = createMachine(folder, { ...place.env, SVC_PORT: '0' });
    up = machine.start(['up'], clone);
    const [, link = ''] = await up.waitFor(/^\s*(http\S+\/sign-in-link#token=\S+)$/m, WAIT_MS);
    await up.waitFor(/waiting for jobs/, WAIT_MS);
    visit = await openVisit(browser, new URL(link).origin);
    page = await visit.context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(link);
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
  });

  it('a job that is typed into the console gets done', async () => {
    const turns = [write('greeting.txt', 'hello\n'), say('The greeting is there.')];
    model.script({ greeting: turns });
    await page.getByRole('link', { name: 'Describe the first job' }).click();
    await page.getByRole('heading', { name: 'New job' }).waitFor();
    const prompt = page.getByLabel('Prompt', { exact: true });
    await prompt.fill('Write a greeting. [scenario greeting]');
    await page.getByRole('button', { name: 'Enqueue' }).click();
    const status = page.getByRole('status', { name: 'Status' });
    await status.getByText('Done', { exact: true }).waitFor();
    await page.getByText('greeting.txt').first().waitFor();
    const branch = git(clone, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/signalbox');
    assert.equal(git(clone, 'show', `${branch}:greeting.txt`), 'hello');
    assert.equal(git(clone, 'status', '--porcelain'), '');
    assert.deepEqual(visit.troubles, []);
  });

  it('a used link opens the console in the same browser, and signs no other one in', async () => {
    const [, link = ''] = await up.waitFor(/^\s*(http\S+\/sign-in-link#token=\S+)$/m);
    const again = await visit.context.newPage();
    again.setDefaultTimeout(WAIT_MS);
    await again.goto(link);
    await again.getByText('Write a greeting.').first().waitFor();
    const stranger = await openVisit(browser, new URL(link).origin);
    const other = await stranger.context.newPage();
    other.setDefaultTimeout(WAIT_MS);
    await other.goto(link);
    await other.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    await stranger.context.close();
    await again.close();
  });

  it('Ctrl-C ends the agent and the hub', async () => {
    await visit.context.close();
    up.child.kill('SIGINT');
    assert.equal((await up.ended).code, 0, up.stderr);
    assert.match(up.stderr, /Stopping the hub/);
    assert.deepEqual(model.unexpected, []);
  });
});
