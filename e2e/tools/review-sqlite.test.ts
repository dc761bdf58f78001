import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ReviewComment } from '@signalbox/contract';
import { git } from '../git-clone.ts';
import { callConsole } from '../person.ts';
import { type AcpBench, acpTools, startAcpBench } from './acp-bench.ts';
import { toolMissing } from './install-tool.ts';
import { native, say, shell, type Turn, use, write } from './turns.ts';

/** Codex calls its model after the work too, to name the session. */
const afterwards = Array.from({ length: 4 }, () => say('A name'));
const play = (...turns: Turn[]) => [...turns, ...afterwards];

const answers = {
  claude: (input: object) => native('mcp__signalbox__answer_comment', input),
  codex: (input: object) =>
    use({ tool: 'native', namespace: 'mcp__signalbox', name: 'answer_comment', input }),
} as const;

const LINES = ['first', 'second', 'third', 'fourth', 'fifth'];

for (const tool of ['claude', 'codex'] as const) {
  describe(`review comments in the real tool, ${tool} over ACP`, {
    skip: toolMissing(...acpTools[tool]),
  }, () => {
    let acp: AcpBench;
    before(async () => {
      acp = await startAcpBench(tool, ['allow execute sed *']);
    });
    after(() => acp?.close());

    const call = async (path: string, body: object) => {
      const { hub, person } = acp.bench;
      const { workspaceId, cookie } = person;
      const { answer } = await callConsole(hub.baseUrl, path, { workspaceId, ...body }, cookie);
      return answer;
    };

    it('two are changed, one is not, and a claim over untouched lines is seen', async () => {
      const { model } = acp.bench;
      const answer = answers[tool];
      const first = play(write('list.txt', `${LINES.join('\n')}\n`), say('Written.'));
      model.script({ 'review-first': first });
      const jobId = await acp.bench.enqueue('Write a list.\n\n[scenario review-first]');
      const done = await acp.end(jobId);
      assert.equal(done.job.status, 'done', done.log);

      const commentIds: string[] = [];
      for (const line of [1, 3, 4, 5]) {
        const place = { path: 'list.txt', side: 'result', startLine: line, endLine: line };
        const lines = LINES[line - 1];
        const { comment } = (await call('review-comments/save', {
          jobId,
          text: `Capitals in line ${line}.`,
          place: { ...place, lines },
        })) as { comment: ReviewComment };
        commentIds.push(comment.commentId);
      }
      // A session is known by its first prompt.
      const more = play(
        shell("sed -i -e 's/first/FIRST/' -e 's/third/THIRD/' list.txt"),
        answer({ number: 1, word: 'changed', note: 'It is FIRST.' }),
        answer({ number: 2, word: 'changed', note: 'It is THIRD.' }),
        answer({ number: 3, word: 'disagree', note: 'It is the name of a day.' }),
        answer({ number: 4, word: 'changed', note: 'Done, too.' }),
        say('Two are changed.'),
      );
      model.script({ 'review-first': more });
      const before = model.requests.length;
      const { job } = (await call('jobs/continue', { jobId, commentIds })) as {
        job: { jobId: string; title: string };
      };
      assert.equal(job.title, '4 review comments');
      const round = await acp.end(job.jobId);
      assert.equal(round.job.status, 'done', `${round.log}\n${model.unexpected.join('\n')}`);
      const asked = JSON.stringify(model.requests[before]?.body);
      assert.match(asked, /list\.txt, line 3:\\n> third\\nComment 2 by .{0,80}Capitals in line 3/);
      const { branch = '' } = round.job.evidence ?? {};
      const text = git(acp.bench.clone, 'show', `${branch}:list.txt`);
      assert.equal(text, 'FIRST\nsecond\nTHIRD\nfourth\nfifth');

      const { comments } = (await call('review-comments/list', { jobId })) as {
        comments: ReviewComment[];
      };
      const seen = comments.map(({ number, answer, fate }) => {
        return [number, answer?.word, fate?.state, fate?.startLine];
      });
      assert.deepEqual(seen, [
        [1, 'changed', 'changed', 1],
        [2, 'changed', 'changed', 3],
        [3, 'disagree', 'untouched', 4],
        [4, 'changed', 'untouched', 5],
      ]);
    });
  });
}
