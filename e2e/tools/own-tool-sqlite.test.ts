import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { callConsole } from '../person.ts';
import { toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { say, write } from './turns.ts';

/*
 * The real tools as a person would describe them, with each way to give the prompt and to find the
 * session.
 */

const codex = 'codex exec --json --sandbox workspace-write';
const ways = {
  'claude with its last session': {
    tool: 'claude',
    own: {
      command: 'claude -p --permission-mode acceptEdits',
      resume: 'claude -p --permission-mode acceptEdits --continue',
    },
    session: /^last$/,
  },
  'codex with the id of the session': {
    tool: 'codex',
    own: {
      command: codex,
      prompt: 'argument',
      resume: `${codex} resume {session}`,
      session: '"thread_id":"([^"]+)"',
    },
    session: /^[0-9a-f-]{36}$/,
  },
} as const;

for (const [name, { tool, own, session }] of Object.entries(ways)) {
  describe(`a tool that its person describes: ${name}`, { skip: toolMissing(tool) }, () => {
    let bench: ToolBench;
    before(async () => {
      bench = await startToolBench([tool]);
    });
    after(() => bench?.close());

    async function work(jobId: string) {
      const line = ['agent', 'start', '--once', ...configFlag(bench.folder, { tool: own })];
      const { code, stdout, stderr } = await bench.machine.run(line);
      const answer = await bench.readJob(jobId);
      const said = `${stdout}${stderr}\n${JSON.stringify(answer.events)}`;
      assert.equal(code, 0, said);
      assert.equal(answer.job.status, 'done', said);
      assert.match(stdout, new RegExp(`Tool +${tool} · resumes its sessions · reports no usage`));
      return answer.job;
    }

    it('does a job, and continues the session in the next round', async () => {
      const { model, hub, person } = bench;
      model.script({ own: [write('one.txt', '1\n'), say('One is written.')] });
      const first = await work(await bench.enqueue('Write one. [scenario own]'));
      const { sessionId } = first.evidence?.executor ?? {};
      assert.match(String(sessionId), session);
      assert.equal(first.usage, null);
      model.script({ own: [write('two.txt', '2\n'), say('Two is written.')] });
      const before = model.requests.length;
      const body = {
        workspaceId: person.workspaceId,
        jobId: first.jobId,
        message: 'Write two. [scenario own]',
      };
      const { answer } = await callConsole(hub.baseUrl, 'jobs/continue', body, person.cookie);
      const second = await work((answer as { job: { jobId: string } }).job.jobId);
      const asked = JSON.stringify(model.requests[before]?.body);
      assert.match(asked, /One is written\./, 'the answer of the first round');
      assert.doesNotMatch(asked, /Round 1 was asked/, 'the session knows it');
      const branch = String(second.evidence?.branch);
      assert.equal(branch, first.evidence?.branch);
      assert.equal(git(bench.clone, 'show', `${branch}:one.txt`), '1');
      assert.equal(git(bench.clone, 'show', `${branch}:two.txt`), '2');
      assert.equal(second.evidence?.executor?.sessionId, sessionId);
      bench.checkRequests();
    });
  });
}
