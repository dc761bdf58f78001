import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserMissing, launchBrowser, openVisit, type Visit } from '../browser.ts';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { lendSession, owner } from '../person.ts';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { hang, say, shell, write } from './turns.ts';

/** The settings by which each tool may run `ls`. */
const permissions = { claude: { allow: ['Bash(ls:*)'] }, codex: {} } as const;

for (const tool of ['claude', 'codex'] as const) {
  describe(`the main job, with the real ${tool}`, {
    skip: browserMissing || toolMissing(tool),
  }, () => {
    let bench: ToolBench;
    let browser: Browser;
    let visit: Visit;
    let page: Page;

    before(async () => {
      bench = await startToolBench([tool]);
      browser = await launchBrowser();
      visit = await openVisit(browser, bench.hub.baseUrl);
      await lendSession(visit.context, bench.person);
      page = await visit.context.newPage();
    });
    afterEach(() => bench.checkRequests());
    after(async () => {
      await browser?.close();
      await bench?.close();
    });

    const agentLine = ['agent', 'start', '--once', '--name', 'workshop'];
    const settings = { lease: '3s', tool: { name: tool, protocol: 'cli', ...permissions[tool] } };
    const startAgent = () =>
      bench.machine.start([...agentLine, ...configFlag(bench.folder, settings)]);

    async function openJob(jobId: string): Promise<void> {
      await page.goto(`/w/${owner.workspaceSlug}/jobs/${jobId}`);
      // Gone after a reload: what the page shows later, it has learnt by itself.
      await page.evaluate('window.isSamePage = true');
    }

    async function waitForStatus(word: string): Promise<void> {
      const status = page.getByRole('status', { name: 'Status' });
      // A tool on a busy machine takes its time to start.
      await status.getByText(word, { exact: true }).waitFor({ timeout: 120_000 });
      assert.equal(await page.evaluate('window.isSamePage'), true);
    }

    it('ends done, with its branch in the clone and its files on the page', async () => {
      const turns = [write('greeting.txt', 'hello\n'), shell('ls'), say('The greeting is there.')];
      bench.model.script({ greeting: turns });
      const jobId = await bench.enqueue('Write a greeting. [scenario greeting]');
      await openJob(jobId);
      await waitForStatus('Pending');
      const agent = startAgent();
      await waitForStatus('Done');
      assert.equal((await agent.ended).code, 0, agent.stderr);
      await page.getByText('greeting.txt').first().waitFor();
      const { job, events } = await bench.readJob(jobId);
      const { commitSha, changedFiles, branch = '' } = job.evidence ?? {};
      assert.equal(git(bench.clone, 'rev-parse', branch), commitSha);
      assert.deepEqual(changedFiles, ['greeting.txt']);
      assert.equal(git(bench.clone, 'show', `${branch}:greeting.txt`), 'hello');
      assert.equal(git(bench.clone, 'status', '--porcelain'), '');
      assert.equal(git(bench.clone, 'branch', '--show-current'), 'main');
      assert.equal(job.message, 'The greeting is there.');
      const kinds = new Set(events.map(({ kind }) => kind));
      for (const kind of ['enqueued', 'claimed', 'log', 'completed']) assert.ok(kinds.has(kind));
    });

    it('ends the tool when a person cancels the job while the model thinks', async () => {
      bench.model.script({ endless: [hang()] });
      const jobId = await bench.enqueue('Think. [scenario endless]');
      await openJob(jobId);
      const agent = startAgent();
      await waitForStatus('Running');
      await agent.waitFor(/Started\./);
      await bench.cancel(jobId);
      await waitForStatus('Canceled');
      assert.equal((await agent.ended).code, 7, agent.stdout);
      assert.match(agent.stdout, /canceled in/);
      assert.equal((await bench.readJob(jobId)).job.evidence, null);
    });

    it('sees no violation of the content security policy and no error of the browser', () => {
      assert.deepEqual(visit.troubles, []);
    });
  });
}
