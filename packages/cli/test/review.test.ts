import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ReviewComment } from '@signalbox/contract';
import { exitCodes } from '../src/index.ts';
import {
  configFlag,
  enqueueJob,
  type HubPlace,
  linkClone,
  makeClone,
  startHub,
  useServiceToken,
} from './harness.ts';

let place: HubPlace;
let clone: string;
let repoId: string;
before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place);
  repoId = await linkClone(place, clone);
});
after(async () => await place.end());

/** Lets an agent do the next job with a shell command. */
async function doNext(command: string): Promise<void> {
  const settings = configFlag(place, { 'state-dir': join(place.directory, 'agent') });
  const agent = await place.run(['agent', 'start', '--once', '--tool', command, ...settings]);
  assert.equal(agent.exitCode, exitCodes.ok, agent.stderr);
}

async function makeWork(command: string): Promise<string> {
  const jobId = await enqueueJob(place, repoId, `Run ${command}`);
  await doNext(command);
  return jobId;
}

const review = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  place.run(['review', ...args], { cwd: clone, env });

async function json(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { stdout, stderr, exitCode } = await review([...args, '--json'], env);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

async function refusal(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { stderr, exitCode } = await review([...args, '--json'], env);
  assert.notEqual(exitCode, exitCodes.ok);
  const line = stderr.split('\n').findLast((each) => each.startsWith('{')) ?? '{}';
  return JSON.parse(line) as { error: string; message: string; fix?: string };
}

const four = "printf 'a\\nb\\nc\\nd\\n' > list.txt";

test('drafts are written on lines of the clone, sent, and come back with their fates', async () => {
  const jobId = await makeWork(four);
  const id = jobId.slice(-8);
  assert.match((await review([id])).stdout, /This work has no review comments/);
  const written = await review([id, '--comment', 'list.txt:1-2', 'In capitals.']);
  assert.match(written.stdout, /Draft on list\.txt:1-2/);
  const { comments } = await json([id, '--comment', 'list.txt:4', 'Why?']);
  assert.deepEqual([comments[0].lines, comments[0].side], ['d', 'result']);
  assert.match((await review([id])).stdout, /draft {2}list\.txt:1-2 .*\n {4}In capitals\./);
  const sent = await json([id, '--send', 'Please.']);
  assert.equal(sent.job.prompt, 'Please.');
  await doNext("sed -i 's/^a$/A/' list.txt");
  const shown = (await review([jobId])).stdout;
  assert.match(shown, /#1 {2}list\.txt:1-2[^\n]*\n {4}In capitals\.\n {4}Git says: the round has/);
  assert.match(shown, /#2 {2}list\.txt:4[^\n]*\n {4}Why\?\n {4}Git says: the lines are untouched/);
  assert.match((await review([id, '--resolve', '2'])).stdout, /Resolved comment 2/);
  assert.match((await review([id])).stdout, /#2 {2}list\.txt:4 {2}resolved, /);
  const closed = await refusal([id, '--reply', '2', 'Still?']);
  assert.equal(closed.error, 'THREAD_RESOLVED');
  assert.match(closed.fix ?? '', /signalbox review \w{8} --reopen 2$/);
  assert.match((await review([id, '--reopen', '2'])).stdout, /Opened again: comment 2/);
  const replied = await review([id, '--reply', '2', 'Still?']);
  assert.match(replied.stdout, /Draft of a reply on list\.txt:4/);
  await json([id, '--send']);
  await doNext('true');
  const { comments: all } = (await json([id])) as { comments: ReviewComment[] };
  const [, second, reply] = all;
  assert.deepEqual(
    [reply?.number, reply?.repliesTo, reply?.lines, second?.resolvedAt],
    [3, second?.commentId, 'd', null],
  );
  // A reply is answered by its number, and closed with its thread.
  assert.match((await review([id, '--resolve', '#3'])).stdout, /Resolved comment 2/);
});

test('the editor shows the open threads, and takes replies below them', async () => {
  const id = await makeWork("printf 'one\\ntwo\\n' > threads.txt");
  for (const line of [1, 2]) await json([id, '--comment', `threads.txt:${line}`, `Why ${line}?`]);
  await json([id, '--send']);
  await doNext("printf 'one\\n2\\n' > threads.txt");
  const edit = useEditor();
  const { comments } = await json(
    [id, '--editor'],
    edit("-e '/^|     Why 1/a > Because.' -e '/^| #2/i > Really\\n> so.' -e '/^+2$/a > Two?'"),
  );
  const seen = comments.map(({ repliesTo, startLine, text }: ReviewComment) => [
    ...[repliesTo !== null, startLine, text],
  ]);
  assert.deepEqual(seen, [
    [true, 1, 'Because.'],
    [true, 1, 'Really\nso.'],
    [false, 2, 'Two?'],
  ]);
  const [, second] = (await json([id])).comments;
  const again = await json([id, '--editor'], edit("'/^diff --git/i > Yes, two.'"));
  assert.deepEqual(
    again.comments.map(({ repliesTo, text }: ReviewComment) => [repliesTo, text]),
    [[second.commentId, 'Yes, two.']],
  );
  const changed = await refusal([id, '--editor'], edit("'s/Why 1/Why/'"));
  assert.match(changed.message, /The diff or a thread was changed/);
});

/** An editor that changes its file by a script of sed. */
function useEditor(): (script: string) => NodeJS.ProcessEnv {
  const program = join(place.directory, 'editor.sh');
  return (script) => {
    writeFileSync(program, `sed -i ${script} "$1"\n`);
    return { EDITOR: `/bin/sh ${program}` };
  };
}

test('the editor shows the diff, and lines that begin with > are comments', async () => {
  const first = await makeWork("printf 'old\\n' > edited.txt");
  await json([first, '--comment', 'edited.txt:1', 'More.']);
  await json([first, '--send']);
  await doNext("printf 'new\\nline\\n' > edited.txt; sed -i 's/^hello$/Hello/' README.md");
  const edit = useEditor();
  const { comments } = await json(
    [first, '--editor'],
    edit("-e '/^+line$/a > One\\n> and two.' -e '/^+new$/a > Why new?'"),
  );
  const seen = comments.map(({ path, side, startLine, lines, text }: ReviewComment) => [
    ...[path, side, startLine, lines, text],
  ]);
  assert.deepEqual(seen, [
    ['edited.txt', 'result', 1, 'new', 'Why new?'],
    ['edited.txt', 'result', 2, 'line', 'One\nand two.'],
  ]);
  const changed = await refusal([first, '--editor'], edit("'s/^+line$/+other/'"));
  assert.equal(changed.error, 'DIFF_CHANGED');
  assert.match(
    changed.message,
    /The diff or a thread was changed\. Begin each line of a comment with >/,
  );
  const above = await refusal([first, '--editor'], edit("'/^index /i > Here?'"));
  assert.equal(above.error, 'COMMENT_MISPLACED');
  const none = await refusal([first, '--editor'], edit("'s/x/x/'"));
  assert.match(none.message, /No comment was written/);
});

test('a job can review the commit of another', async () => {
  const jobId = await makeWork("printf 'x\\n' > reviewed.txt");
  const id = jobId.slice(-8);
  const enqueue = (...args: string[]) => place.run(['enqueue', 'Look.', '--reviews', id, ...args]);
  // From any directory: the job names the repository.
  const answer = await enqueue('--json');
  assert.equal(answer.exitCode, exitCodes.ok, answer.stderr);
  const { job } = JSON.parse(answer.stdout);
  assert.deepEqual([job.kind, job.repoId, job.reviewsJobId], ['pr_review', repoId, jobId]);
  const wrong = await enqueue('--kind', 'work');
  assert.match(wrong.stderr, /--reviews is for jobs of the kind pr_review/);
  const finding = {
    type: 'finding',
    file: 'reviewed.txt',
    line: 1,
    severity: 'minor',
    message: 'X',
  };
  await doNext(`echo '${JSON.stringify(finding)}' >> "$SIGNALBOX_REPORT_FILE"`);
  const shown = (await place.run(['job', job.jobId])).stdout;
  assert.match(shown, new RegExp(`Reviews +${id}`));
  assert.match(shown, /reviewed\.txt:1/);
  const { evidence } = JSON.parse((await place.run(['job', job.jobId, '--json'])).stdout).job;
  assert.equal('text' in evidence.findings[0], false, 'the agent shares no code');
});

test('a comment that cannot be is refused with what to do', async () => {
  const jobId = await makeWork("printf 'one\\ntwo\\n' > short.txt");
  const comment = (where: string, ...more: string[]) => [jobId, '--comment', where, 'X', ...more];
  const line = await refusal(comment('short.txt:2-3'));
  assert.deepEqual([line.error, line.message], ['LINE_NOT_FOUND', 'short.txt has 2 lines there.']);
  const file = await refusal(comment('src/none.ts:1'));
  assert.equal(file.error, 'FILE_NOT_FOUND');
  assert.match(file.fix ?? '', /from the top of the clone/);
  assert.equal((await refusal(comment('short.txt:1', '--base'))).error, 'FILE_NOT_FOUND');
  assert.match((await refusal(comment('short.txt'))).message, /FILE:LINE/);
  assert.match((await refusal([jobId, '--comment', 'short.txt:1'])).message, /text .* is missing/);
  assert.match((await refusal([jobId, 'A text'])).message, /--comment FILE:LINE, --reply/);
  assert.match((await refusal([...comment('short.txt:1'), '--send'])).message, /one at a time/);
  const nothing = await refusal([jobId, '--send']);
  assert.deepEqual(
    [nothing.error, nothing.message],
    ['NOTHING_TO_SEND', 'This work has no drafts to send.'],
  );
  assert.match((await refusal([jobId, '--resolve', '9'])).message, /There is no comment 9/);
  assert.match((await refusal([jobId, '--reply', '9', 'X'])).message, /There is no comment 9/);
  const waiting = await enqueueJob(place, repoId, 'Later');
  const early = await refusal([waiting, '--comment', 'short.txt:1', 'X']);
  assert.deepEqual(
    [early.error, early.message],
    ['JOB_NOT_ENDED', `Job ${waiting.slice(-8)} has not ended: comment on its result.`],
  );
});
