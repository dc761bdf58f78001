import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ReviewComment, Work } from '@signalbox/contract';
import { git } from '../git-clone.ts';
import { callConsole, joinWorkspace, type SignedIn } from '../person.ts';
import { type AcpBench, acpTools, startAcpBench } from './acp-bench.ts';
import { toolMissing } from './install-tool.ts';
import { say, shell, type Turn, use, write } from './turns.ts';

/** Codex calls its model after the work too, to name the session. */
const afterwards = Array.from({ length: 4 }, () => say('A name'));
const play = (...turns: Turn[]) => [...turns, ...afterwards];

const answer = (input: object) =>
  use({ tool: 'native', namespace: 'mcp__signalbox', name: 'answer_comment', input });

/* Without a page; Claude Code at the console is in `three-rounds-sqlite.test.ts`. */
describe('from a job to the landed change, codex over ACP', {
  skip: toolMissing(...acpTools.codex),
}, () => {
  let acp: AcpBench;
  let second: SignedIn;
  before(async () => {
    acp = await startAcpBench('codex', ['allow execute sed *']);
    second = await joinWorkspace(acp.bench.person, 'Grace', 'member');
  });
  after(() => acp?.close());

  async function call<Answer>(path: string, body: object, by = acp.bench.person) {
    const { workspaceId } = acp.bench.person;
    const { baseUrl } = acp.bench.hub;
    const { answer } = await callConsole(baseUrl, path, { workspaceId, ...body }, by.cookie);
    return answer as Answer;
  }

  async function comment(jobId: string, line: number, was: string, by = acp.bench.person) {
    const place = { path: 'list.txt', side: 'result', startLine: line, endLine: line };
    const body = { jobId, text: `Capitals in line ${line}.`, place: { ...place, lines: was } };
    const saved = await call<{ comment: ReviewComment }>('review-comments/save', body, by);
    return saved.comment.commentId;
  }

  async function round(jobId: string, commentIds: string[], turns: Turn[], by: SignedIn) {
    acp.bench.model.script({ landing: play(...turns) });
    const body = { jobId, commentIds };
    const { job } = await call<{ job: { jobId: string } }>('jobs/continue', body, by);
    const end = await acp.end(job.jobId);
    assert.equal(end.job.status, 'done', `${end.log}\n${acp.bench.model.unexpected.join('\n')}`);
    return end.job;
  }

  it('comments of two reviewers, three rounds, an approval, and the base has it', async () => {
    const { model, clone, person } = acp.bench;
    model.script({
      landing: play(write('list.txt', 'one\ntwo\nthree\nfour\n'), say('Written.')),
    });
    const first = await acp.bench.enqueue('Write a list.\n\n[scenario landing]');
    const done = await acp.end(first);
    assert.equal(done.job.status, 'done', done.log);

    const three: string[] = [];
    for (const [at, was] of ['one', 'two', 'three'].entries()) {
      three.push(await comment(first, at + 1, was));
    }
    const two = await round(
      first,
      three,
      [
        shell("sed -i -e 's/one/ONE/' -e 's/two/TWO/' -e 's/three/THREE/' list.txt"),
        ...[1, 2, 3].map((number) => answer({ number, word: 'changed', note: 'Done.' })),
        say('Three are changed.'),
      ],
      person,
    );
    const fourth = await comment(two.jobId, 4, 'four', second);
    const last = await round(
      two.jobId,
      [fourth],
      [
        shell("sed -i -e 's/four/FOUR/' list.txt"),
        answer({ number: 4, word: 'changed', note: 'Done.' }),
        say('Changed.'),
      ],
      second,
    );
    const { jobId } = last;
    const commitSha = last.evidence?.commitSha ?? '';
    await assert.rejects(
      call('works/approve', { jobId, commitSha }),
      /4 review comments are not resolved/,
    );
    for (const commentId of [...three, fourth]) {
      await call('review-comments/resolve', { commentId, isResolved: true });
    }
    const { work } = await call<{ work: Work }>('works/approve', { jobId, commitSha }, second);
    assert.deepEqual([work.state, work.approval?.commitSha], ['in_review', commitSha]);

    const calls = model.requests.length;
    const base = git(clone, 'symbolic-ref', '--short', 'HEAD');
    const landing = await call<{ job: { jobId: string } }>('works/land', { jobId });
    const landed = await acp.end(landing.job.jobId);
    assert.equal(landed.job.status, 'done', landed.log);
    assert.equal(model.requests.length, calls, 'a landing starts no tool');
    assert.equal(git(clone, 'show', `${base}:list.txt`), 'ONE\nTWO\nTHREE\nFOUR');
    const read = await call<{ work: Work }>('jobs/get', { jobId: first });
    assert.deepEqual([read.work.state, read.work.landed?.into], ['landed', base]);
    const listed = await call<{ jobs: object[] }>('jobs/list', { workEnded: false });
    assert.deepEqual(listed.jobs, []);
  });
});
