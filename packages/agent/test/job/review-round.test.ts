import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scriptedAgent, setupAcp } from '../support/acp-harness.ts';
import { git } from '../support/harness.ts';

const PATH = 'list.txt';

/** A job that is done, with four lines in a file, and comments on its result. */
async function setup(t: TestContext) {
  const h = await setupAcp(t);
  const { workspaceId, clone, directory, client } = h;
  const env = { ...h.env, ACP_SCRIPT_PROGRAM: '/bin/sh', DEPLOY_TOKEN: 'hunter2-hunter2' };
  const agent = await h.start({ stateDir: join(directory, 'state'), env });
  const jobId = await h.enqueue(`feed printf 'a\\nb\\nc\\nd\\n' > ${PATH}`);
  await h.until(jobId, 'done');
  return {
    ...h,
    agent,
    jobId,
    toolEnv: env,
    async comment(line: number, text: string, of = jobId) {
      const place = { path: PATH, side: 'result' as const, startLine: line, endLine: line };
      const lines = 'abcd'[line - 1] ?? '';
      const body = { workspaceId, jobId: of, place: { ...place, lines }, text };
      return (await client.reviewComments.save(body)).comment.commentId;
    },
    /** Sends comments with a script, and waits for the end of the round. */
    async round(script: string, commentIds: string[], of = jobId) {
      const { job } = await client.jobs.continue({
        workspaceId,
        jobId: of,
        commentIds,
        message: script,
      });
      return job.jobId;
    },
    async comments() {
      const { comments } = await client.reviewComments.list({ workspaceId, jobId });
      return comments.map(({ number, answer, fate }) => ({
        number,
        word: answer?.word ?? null,
        note: answer?.note ?? null,
        state: fate?.state ?? null,
        line: fate?.startLine ?? null,
      }));
    },
    lastPrompt(): string {
      const line = h.toolLog().findLast((one) => one.startsWith('prompt '));
      return JSON.parse(line?.slice('prompt '.length) ?? '""');
    },
    content: (branch: unknown) => git(clone, 'show', `${branch}:${PATH}`),
  };
}

/** The note that the tool answer_comment leaves. */
const answer = (number: number, word: string, note: string) =>
  `echo '${JSON.stringify({ type: 'answer', number, word, note })}' >> "$SIGNALBOX_REPORT_FILE"`;

test('a round gets the comments, and git says what became of their lines', async (t) => {
  const h = await setup(t);
  const ids = [
    await h.comment(1, 'In capitals.'),
    await h.comment(2, 'In capitals.'),
    await h.comment(4, 'Why?'),
  ];
  const script = [
    `feed sed -i 's/^a$/A/' ${PATH}`,
    answer(1, 'changed', 'with hunter2-hunter2'),
    // It claims what it has not done.
    answer(2, 'changed', 'Done.'),
    answer(7, 'changed', 'It has not got this one.'),
  ].join(' && ');
  const roundId = await h.round(script, ids);
  const round = await h.until(roundId, 'done');
  assert.equal(h.content(round.evidence?.branch), 'A\nb\nc\nd');
  assert.deepEqual(await h.comments(), [
    { number: 1, word: 'changed', note: 'with [redacted]', state: 'changed', line: 1 },
    { number: 2, word: 'changed', note: 'Done.', state: 'untouched', line: 2 },
    { number: 3, word: null, note: null, state: 'untouched', line: 4 },
  ]);
  const prompt = h.lastPrompt();
  assert.match(prompt, /list\.txt, line 1:\n> a\nComment 1 by [^\n]+:\nIn capitals\./);
  assert.match(prompt, /Comment 3 by [^\n]+:\nWhy\?/);
  assert.match(prompt, /by the tool answer_comment/);
  const mark = /two lines with ([0-9a-f]{32})\. The lines/.exec(prompt)?.[1] ?? 'none';
  assert.equal(prompt.split(`\n${mark}\n`).length, 3, 'the comments are between two marks');

  // The next round is about one of them only; the others keep what is known.
  const reply = await h.client.reviewComments.save({
    workspaceId: h.workspaceId,
    jobId: roundId,
    text: 'I still wonder.',
    repliesTo: ids[2] ?? '',
  });
  const next = await h.round(
    `feed sed -i '1i first' ${PATH} && sed -i 's/^d$/D/' ${PATH}`,
    [reply.comment.commentId],
    roundId,
  );
  await h.until(next, 'done');
  const fates = (await h.comments()).map(({ number, state, line }) => [number, state, line]);
  assert.deepEqual(fates, [
    [1, 'changed', 2],
    [2, 'moved', 3],
    [3, 'changed', 5],
    [4, null, null],
  ]);
  const second = h.lastPrompt();
  assert.match(second, /Comment 3 \(answered before\)|Comment 3 by/);
  assert.match(second, /Comment 4 by [^\n]+:\nI still wonder\./);
  assert.doesNotMatch(second, /Comment 1/, 'it was answered and changed');
});

test('commits of a person move the lines, or make the comment outdated', async (t) => {
  const h = await setup(t);
  const { evidence } = await h.until(h.jobId, 'done');
  const ids = [await h.comment(1, 'First.'), await h.comment(4, 'Last.')];
  const place = join(h.directory, 'person');
  git(h.clone, 'worktree', 'add', '--quiet', place, String(evidence?.branch));
  writeFileSync(join(place, PATH), 'new\nA\nb\nc\nd\n');
  git(place, 'commit', '--quiet', '--all', '-m', 'By hand');
  git(h.clone, 'worktree', 'remove', place);
  await h.until(await h.round('say Nothing to do.', ids), 'done');
  assert.match(h.lastPrompt(), /line 1 when the comment was written; they have changed since/);
  assert.match(h.lastPrompt(), /list\.txt, line 5 \(they were line 4\):\n> d/);
  const fates = (await h.comments()).map(({ state, line }) => [state, line]);
  assert.deepEqual(fates, [
    ['outdated', null],
    ['moved', 5],
  ]);
});

test('a round whose agent was killed tells the same of its lines', async (t) => {
  const h = await setup(t);
  const ids = [await h.comment(1, 'In capitals.'), await h.comment(2, 'In capitals.')];
  await h.agent.stop();
  const { baseUrl, workspaceId, repoId, clone, directory } = h;
  const options = {
    baseUrl,
    workspaceId,
    stateDir: join(directory, 'state'),
    displayName: 'agent',
    leaseMs: 600_000,
    killGraceMs: 500,
    repositories: [{ repoId, path: clone }],
    acp: `${process.execPath} ${scriptedAgent}`,
  };
  const program = join(import.meta.dirname, '../support/acp-agent-process.ts');
  const start = () => {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      env: h.toolEnv,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const killed = start();
  const roundId = await h.round(`feed sed -i 's/^a$/A/' ${PATH}; run more; say Done.`, ids);
  const [question] = await h.questions(roundId);
  assert.ok(question);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  start();
  await h.answer(question, 'yes');
  const round = await h.until(roundId, 'done');
  assert.ok(round.attempt > 1, 'the attempt was recovered');
  const fates = (await h.comments()).map(({ state, line }) => [state, line]);
  assert.deepEqual(fates, [
    ['changed', 1],
    ['untouched', 2],
  ]);
});
