import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { git } from '../git-clone.ts';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { type Call, say, shell, use, write } from './turns.ts';

const commands = (...all: string[]): Call[] => all.map((command) => ({ tool: 'shell', command }));

describe('permissions of the real Claude Code in a job', { skip: toolMissing('claude') }, () => {
  let bench: ToolBench;
  before(async () => {
    bench = await startToolBench(['claude']);
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  const reading = ['git diff HEAD', 'git log -1', 'git show', 'git status', 'git branch --list'];
  for (const kind of ['work', 'pr_review'] as const) {
    it(`D2: a ${kind} job may read git`, async () => {
      const turns = [use(commands(...reading)), say('Read.')];
      const { job, log } = await bench.work('claude', 'Look.', { turns, kind });
      assert.equal(job.status, 'done', log);
      assert.doesNotMatch(log, /requires approval/);
      assert.match(log, /Begin/);
    });
  }

  it('D3: a refused command is in the log, in the evidence and in the terminal', async () => {
    const turns = [shell('npm test'), say('Ran the tests.')];
    const { job, log } = await bench.work('claude', 'Run the tests.', { turns });
    assert.match(log, /✋ refused: Bash: npm test/);
    assert.deepEqual(job.evidence?.executor?.denied, ['Bash: npm test']);
    const shown = await bench.machine.run(['job', job.jobId]);
    assert.match(shown.stdout, /Refused +1 command: Bash: npm test/);
    assert.match(shown.stdout, /tool\.allow/);
  });

  it('D3: allow lets a command run, and the header of the agent says so', async () => {
    const turns = [shell('npm --version'), say('It ran.')];
    const tool = { allow: ['Bash(npm --version)'] };
    const { job, log, agent } = await bench.work('claude', 'Run.', { turns, tool });
    assert.equal(job.evidence?.executor?.denied, undefined, log);
    assert.match(log, /\n {2}\d+\.\d+\.\d+\n/);
    assert.match(agent.stdout, /permission mode acceptEdits · allowed: Bash\(npm --version\)/);
  });

  it('D4: a job that writes its question to the result file is blocked', async () => {
    const question = 'Which database is it?';
    const turns = [
      use({ tool: 'result', json: { outcome: 'blocked', message: question } }),
      say('I have asked.'),
    ];
    const { job, log } = await bench.work('claude', 'Add a table.', { turns });
    assert.equal(job.status, 'blocked', log);
    assert.equal(job.message, question);
  });

  it('D5: a hook of the repository runs only where the repository is trusted', async () => {
    const trace = join(bench.folder, 'hook-ran');
    const hook = { type: 'command', command: `env > '${trace}'` };
    const settings = { hooks: { SessionStart: [{ hooks: [hook] }] } };
    mkdirSync(join(bench.clone, '.claude'));
    writeFileSync(join(bench.clone, '.claude/settings.json'), JSON.stringify(settings));
    git(bench.clone, 'add', '.');
    git(bench.clone, 'commit', '--quiet', '-m', 'A hook');
    await bench.work('claude', 'Look.', { turns: [say('Looked.')] });
    assert.throws(() => readFileSync(trace), { code: 'ENOENT' });
    const tool = { 'trust-repository': true };
    const { agent } = await bench.work('claude', 'Look.', { turns: [say('x')], tool });
    assert.match(readFileSync(trace, 'utf8'), /SIGNALBOX_JOB_TOKEN=/);
    assert.match(agent.stdout, /the repository's hooks run/);
  });

  it('D6: a prompt that begins with a slash is work for the model', async () => {
    for (const prompt of ['/clear the cache on logout', '/model switch is broken', '/help me']) {
      const { job } = await bench.work('claude', prompt, { turns: [say('Understood.')] });
      assert.equal(job.message, 'Understood.');
      assert.equal(job.usage?.inputTokens, 100);
    }
  });

  it('D6: a path in a prompt attaches no file from outside the worktree', async () => {
    const secret = join(bench.place.home, 'private.txt');
    writeFileSync(secret, 'the content of a private file\n');
    const prompt = `Look at @${secret} and @~/private.txt`;
    await bench.work('claude', prompt, { turns: [say('Looked.')] });
    const sent = JSON.stringify(bench.model.requests.at(-1)?.body);
    assert.ok(sent.includes('private.txt'));
    assert.ok(!sent.includes('the content of a private file'));
  });

  it('D14: a read-only job cannot change files by commands either', async () => {
    const turns = [
      use(commands('touch new.txt', 'rm README.md', "sed -i 's/A/B/' README.md", 'cp README.md x')),
      write('other.txt', 'x\n'),
      shell('ls'),
      say('Reviewed.'),
    ];
    const { job, log } = await bench.work('claude', 'Review.', { turns, kind: 'pr_review' });
    assert.equal(job.status, 'done', log);
    const denied = job.evidence?.executor?.denied;
    assert.ok(Array.isArray(denied) && denied.length === 5, JSON.stringify(denied));
    assert.match(log, /→ Bash: ls\n {2}README\.md\n/);
    assert.doesNotMatch(log, /discarded/);
  });

  it('D14: a read-only job may be blocked by a question', async () => {
    const turns = [
      use({ tool: 'result', json: { outcome: 'blocked', message: 'Which branch?' } }),
      say('I have asked.'),
    ];
    const { job, log } = await bench.work('claude', 'Review.', { turns, kind: 'pr_review' });
    assert.equal(job.status, 'blocked', log);
  });
});
