import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { git } from '../git-clone.ts';
import { callConsole } from '../person.ts';
import { type AcpBench, type AcpEnd, acpTools, processesOf, startAcpBench } from './acp-bench.ts';
import { outsideCall, programs } from './acp-scenarios.ts';
import { toolMissing } from './install-tool.ts';
import { hang, say, type Turn, use, write } from './turns.ts';

/** Codex calls its model after the work too, to name the session. */
const afterwards = Array.from({ length: 4 }, () => say('A name'));
const play = (...turns: Turn[]) => [...turns, ...afterwards];

for (const tool of ['claude', 'codex'] as const) {
  describe(`rounds of the real tool, ${tool} over ACP`, {
    skip: toolMissing(...acpTools[tool]),
  }, () => {
    let acp: AcpBench;
    before(async () => {
      acp = await startAcpBench(tool, []);
    });
    after(() => acp?.close());

    /** Lets the tool do a job that writes one file. */
    async function first(scenario: string): Promise<AcpEnd> {
      const { bench } = acp;
      bench.model.script({ [scenario]: play(write('one.txt', '1\n'), say('One is written.')) });
      const end = await acp.end(await bench.enqueue(`Write one.\n\n[scenario ${scenario}]`));
      assert.equal(end.job.status, 'done', end.log);
      return end;
    }

    /** Continues a job, and returns the round with what the model was first asked in it. */
    async function next(
      jobId: string,
      message: string,
      scenario: string,
    ): Promise<AcpEnd & { asked: string }> {
      const { model, hub, person } = acp.bench;
      const { workspaceId, cookie } = person;
      // A model finds its scenario by the first prompt of the session.
      model.script({ [scenario]: play(write('two.txt', '2\n'), say('Two is written.')) });
      const before = model.requests.length;
      const body = { workspaceId, jobId, message };
      const { answer } = await callConsole(hub.baseUrl, 'jobs/continue', body, cookie);
      const { job } = answer as { job: { jobId: string } };
      const end = await acp.end(job.jobId);
      assert.equal(end.job.status, 'done', `${end.log}\n${model.unexpected.join('\n')}`);
      return { ...end, asked: JSON.stringify(model.requests[before]?.body) };
    }

    function checkBranch({ job: before }: AcpEnd, { job }: AcpEnd): void {
      const { clone } = acp.bench;
      const { branch = '', commitSha: from = '' } = before.evidence ?? {};
      assert.equal(job.evidence?.branch, branch);
      assert.equal(git(clone, 'rev-parse', branch), job.evidence?.commitSha);
      assert.equal(git(clone, 'rev-parse', `${branch}^`), from, 'the commit of the round before');
      assert.equal(git(clone, 'show', `${branch}:one.txt`), '1');
      assert.equal(git(clone, 'show', `${branch}:two.txt`), '2');
    }

    it('a round continues the session and the branch', async () => {
      const before = await first('continued');
      const round = await next(before.job.jobId, 'Write two.', 'continued');
      checkBranch(before, round);
      assert.match(round.asked, /Write one\./);
      assert.match(round.asked, /One is written\./, 'the answer of the first round');
      assert.match(round.asked, /Write two\./);
      assert.doesNotMatch(round.asked, /Round 1 was asked/, 'the session knows it');
    });

    it('a message reaches the session between turns, once, although the tool is killed', async () => {
      const { bench } = acp;
      const { workspaceId, cookie } = bench.person;
      const ask = use(outsideCall(tool, join(bench.folder, 'outside')));
      // The tool is killed while the model does not answer to the message.
      const jobId = await acp.enqueue(play(ask, say('One.'), hang(), say('Two.')));
      const [question] = await acp.questions(jobId);
      assert.ok(question);
      const body = { workspaceId, jobId, message: 'Handle the empty list.' };
      const { answer } = await callConsole(bench.hub.baseUrl, 'jobs/continue', body, cookie);
      assert.equal(answer.takesMessages, true);
      await acp.answer(question, question.options[0]?.value ?? '');
      await acp.modelCalls(jobId, 3);
      assert.match(JSON.stringify(bench.model.requests.at(-1)?.body), /Message 1 to /);
      const [running] = processesOf(jobId).filter(({ line }) => programs[tool].tool.test(line));
      assert.ok(running);
      process.kill(running.pid, 'SIGKILL');
      const end = await acp.end(jobId);
      assert.equal(end.job.status, 'done', end.log);
      const asked = JSON.stringify(bench.model.requests.at(-1)?.body);
      assert.equal(asked.match(/Message 1 to /g)?.length, 1, 'it was told once');
      assert.doesNotMatch(asked, /You may have it already/);
      const read = { workspaceId, jobId };
      const { answer: after } = await callConsole(bench.hub.baseUrl, 'jobs/get', read, cookie);
      const messages = after.messages as { state: string }[];
      assert.deepEqual(
        messages.map(({ state }) => state),
        ['delivered'],
      );
    });

    it('without the record of the session, a new one is told of the earlier round', async () => {
      const before = await first('forgotten');
      const { jobId } = before.job;
      const [record, ...others] = globSync(join(acp.bench.folder, `**/works/${jobId}.json`));
      assert.ok(record !== undefined && others.length === 0);
      rmSync(record);
      const message = 'Write two.\n\n[scenario begun-again]';
      const round = await next(jobId, message, 'begun-again');
      checkBranch(before, round);
      assert.match(round.asked, /Round 1 was asked:\\nWrite one\./);
      assert.match(round.asked, /Its result \(done\):\\nOne is written\./);
      const ownTurns = round.asked.match(/One is written\./g) ?? [];
      assert.equal(ownTurns.length, 1, 'only as told, not as a turn of the session');
    });
  });
}
