import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ReviewComment } from '@signalbox/contract';
import fc from 'fast-check';
import { openLineHistory } from '../../src/git/line-history.ts';
import { anchorComment } from '../../src/review/comment-anchor.ts';
import { computeFates, openThreads } from '../../src/review/comment-fates.ts';
import { git } from '../support/harness.ts';

const PATH = 'src/a.ts';

function startRepository(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-fates-'));
  t.after(() => rmSync(folder, { recursive: true }));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'config', 'user.email', 'a@signalbox.invalid');
  git(folder, 'config', 'user.name', 'A');
  return {
    folder,
    /** Commits these files, and no others. */
    commit(files: Record<string, readonly string[]>): string {
      git(folder, 'rm', '-r', '--quiet', '--ignore-unmatch', '.');
      for (const [path, lines] of Object.entries(files)) {
        const text = lines.map((line) => `${line}\n`).join('');
        const sha = git(folder, 'hash-object', '-w', writeText(folder, text));
        git(folder, 'update-index', '--add', '--cacheinfo', `100644,${sha},${path}`);
      }
      git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'A commit');
      return git(folder, 'rev-parse', 'HEAD');
    },
    open: () => openLineHistory({ gitDir: join(folder, '.git'), isAfterTool: true }),
  };
}

function writeText(folder: string, text: string): string {
  const path = join(folder, '.git', 'text');
  writeFileSync(path, text);
  return path;
}

function commentOn(
  commitSha: string | null,
  texts: readonly string[],
  [startLine, endLine]: readonly [number, number],
  more: Partial<ReviewComment> = {},
): ReviewComment {
  return {
    commentId: 'com_1',
    jobId: 'job_1',
    number: 1,
    repliesTo: null,
    path: PATH,
    side: 'result',
    startLine,
    endLine,
    commitSha,
    text: 'No.',
    lines: texts.slice(startLine - 1, endLine).join('\n'),
    author: { id: 'usr_1', name: 'Ada' },
    createdAt: '2026-11-02T09:10:00.000Z',
    updatedAt: '2026-11-02T09:10:00.000Z',
    sentInJobId: 'job_2',
    answer: null,
    fate: null,
    resolvedAt: null,
    resolvedBy: null,
    ...more,
  };
}

const redact = (text: string) => text.replaceAll('hunter2', '[redacted]');
type Repository = ReturnType<typeof startRepository>;

async function fateOf(
  repository: Repository,
  comment: ReviewComment,
  [startSha, resultSha]: readonly [string, string],
  others: readonly ReviewComment[] = [],
) {
  const threads = openThreads([comment, ...others]);
  const round = { jobId: 'job_2', startSha, resultSha, redact };
  const [fate] = await computeFates(repository.open(), threads, round);
  assert.ok(fate);
  return [fate.state, fate.path, fate.startLine, fate.endLine];
}

const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

test('hunks of the round say what became of the lines', async (t) => {
  const repository = startRepository(t);
  const start = repository.commit({ [PATH]: before });
  const cases: [string, string[], (string | number | null)[]][] = [
    ['the same', before, ['untouched', PATH, 3, 4]],
    ['changed elsewhere', [...before.slice(0, -1), 'H'], ['untouched', PATH, 3, 4]],
    ['lines added before', ['x', 'y', ...before], ['moved', PATH, 5, 6]],
    ['a line added just before', ['a', 'b', 'x', ...before.slice(2)], ['moved', PATH, 4, 5]],
    ['a line added just after', ['a', 'b', 'c', 'd', 'x', 'e'], ['untouched', PATH, 3, 4]],
    ['a line added between', ['a', 'b', 'c', 'x', 'd', 'e'], ['changed', PATH, 3, 5]],
    ['one changed', ['a', 'b', 'C', 'd', 'e', 'f', 'g', 'h'], ['changed', PATH, 3, 4]],
    ['both gone', ['a', 'b', 'e', 'f', 'g', 'h'], ['changed', null, null, null]],
    ['the first gone', ['a', 'b', 'd', 'e', 'f', 'g', 'h'], ['changed', PATH, 3, 3]],
    ['the last gone', ['a', 'b', 'c', 'e', 'f', 'g', 'h'], ['changed', PATH, 3, 3]],
    ['more than these', ['a', 'x', 'y', 'z', 'e', 'f', 'g', 'h'], ['changed', PATH, 2, 4]],
    ['the file emptied', [], ['changed', null, null, null]],
  ];
  for (const [what, after, expected] of cases) {
    const result = repository.commit({ [PATH]: after });
    const comment = commentOn(start, before, [3, 4]);
    assert.deepEqual(await fateOf(repository, comment, [start, result]), expected, what);
  }
  const renamed = repository.commit({ 'src/b.ts': ['x', ...before] });
  const comment = commentOn(start, before, [3, 4]);
  assert.deepEqual(await fateOf(repository, comment, [start, renamed]), [
    'moved',
    'src/b.ts',
    4,
    5,
  ]);
  const deleted = repository.commit({});
  const gone = ['changed', null, null, null];
  assert.deepEqual(await fateOf(repository, comment, [start, deleted]), gone);
});

test('commits of people before the round are not those of the round', async (t) => {
  const repository = startRepository(t);
  const written = repository.commit({ [PATH]: before });
  const comment = commentOn(written, before, [3, 4]);
  const person = repository.commit({ [PATH]: ['x', ...before] });
  assert.deepEqual(await fateOf(repository, comment, [person, person]), ['moved', PATH, 4, 5]);
  const changed = repository.commit({ [PATH]: ['a', 'b', 'C', 'd'] });
  const outdated = ['outdated', null, null, null];
  assert.deepEqual(await fateOf(repository, comment, [changed, changed]), outdated);
});

test('lines are found by their text at one place only', async (t) => {
  const repository = startRepository(t);
  const history = repository.open();
  const texts = ['{', 'once();', '}', '{', 'twice();', '}', 'twice();'];
  const written = repository.commit({ [PATH]: texts });
  // The lines were cut out and put in at another place.
  const head = repository.commit({
    [PATH]: ['first();', '{', 'twice();', '}', 'twice();', '{', 'once();', '}'],
  });
  const find = async (comment: ReviewComment) => {
    const { state, place } = await anchorComment(history, comment, head, redact);
    return [state, place?.start ?? null];
  };
  for (const commit of [written, null, 'f'.repeat(40)]) {
    const unique = commentOn(commit, texts, [2, 2]);
    assert.deepEqual(await find(unique), ['moved', 7], `commit ${commit}`);
    const often = await find(commentOn(commit, texts, [7, 7]));
    // By the commit git tells one from the other; without it nothing does.
    assert.ok(often[0] === 'outdated' || commit === written, String(often));
  }
  const foreign = commentOn(written, texts, [2, 2], { lines: 'never();' });
  assert.deepEqual(await find(foreign), ['outdated', null], 'the place has another text');
});

test('a secret that the hub has not seen hides no line', async (t) => {
  const repository = startRepository(t);
  const texts = ['a', 'key = "hunter2"', 'b'];
  const head = repository.commit({ [PATH]: texts });
  const comment = commentOn(head, texts, [2, 2], { lines: 'key = "[redacted]"' });
  assert.deepEqual(await fateOf(repository, comment, [head, head]), ['untouched', PATH, 2, 2]);
});

test('a comment on the base is about the lines that replace its own', async (t) => {
  const repository = startRepository(t);
  const base = repository.commit({ [PATH]: before });
  const work = ['a', 'b', 'NEW', 'e', 'f', 'g', 'h'];
  const start = repository.commit({ [PATH]: work });
  const comment = commentOn(base, before, [3, 4], { side: 'base' });
  const other = repository.commit({ [PATH]: [...work, 'i'] });
  assert.deepEqual(await fateOf(repository, comment, [start, other]), ['untouched', PATH, 3, 3]);
  const restored = repository.commit({ [PATH]: before });
  assert.deepEqual(await fateOf(repository, comment, [start, restored]), ['changed', PATH, 3, 4]);
  const moved = repository.commit({ [PATH]: ['x', ...work] });
  assert.deepEqual(await fateOf(repository, comment, [start, moved]), ['moved', PATH, 4, 4]);
});

test('what an earlier round has changed stays changed until a person asks again', async (t) => {
  const repository = startRepository(t);
  const written = repository.commit({ [PATH]: before });
  const changed = repository.commit({ [PATH]: ['a', 'b', 'C', 'D', 'e'] });
  const comment = commentOn(written, before, [3, 4], {
    sentInJobId: 'job_earlier',
    fate: {
      state: 'changed',
      path: PATH,
      startLine: 3,
      endLine: 4,
      jobId: 'job_earlier',
      commitSha: changed,
    },
  });
  const result = repository.commit({ [PATH]: ['x', 'a', 'b', 'C', 'D', 'e'] });
  const commits = [changed, result] as const;
  assert.deepEqual(await fateOf(repository, comment, commits), ['changed', PATH, 4, 5]);
  const reply = commentOn(written, before, [3, 4], {
    commentId: 'com_2',
    number: 2,
    repliesTo: 'com_1',
  });
  assert.deepEqual(await fateOf(repository, comment, commits, [reply]), ['moved', PATH, 4, 5]);
});

/** A commit replaces some lines at some places. */
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    count: fc.integer({ min: 0, max: 4 }),
    added: fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 3 },
);

test('the lines that git blames on the start of the round are the ones that are not changed', async (t) => {
  const repository = startRepository(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 25 }),
      fc.array(edits, { minLength: 1, maxLength: 3 }),
      async (numbers, commits) => {
        // Of equal lines, blame over several commits may keep others than a diff of both ends.
        const isOne = commits.length === 1;
        let lines = numbers.map((number, at) => (isOne ? `${number}` : `${number} at ${at}`));
        const first = lines;
        const start = repository.commit({ [PATH]: lines });
        let result = start;
        for (const [round, some] of commits.entries()) {
          lines = [...lines];
          for (const { at, count, added } of some) {
            const news = added.map((number) => (isOne ? `${number}` : `${number} in ${round}`));
            lines.splice(at % (lines.length + 1), count, ...news);
          }
          result = repository.commit({ [PATH]: lines });
        }
        await compareWithBlame(repository, first, [start, result]);
      },
    ),
    { numRuns: 40, plugins: [fc.interruptAfterTimeLimit(60_000)] },
  );
});

async function compareWithBlame(
  repository: Repository,
  first: readonly string[],
  [start, result]: readonly [string, string],
): Promise<void> {
  const survivors = new Map<number, number>();
  const blamed = git(repository.folder, 'blame', '--porcelain', `${start}..${result}`, '--', PATH);
  for (const [, sha, from, to] of blamed.matchAll(/^([0-9a-f]{40}) (\d+) (\d+)/gm)) {
    if (sha === start) survivors.set(Number(from), Number(to));
  }
  const history = repository.open();
  for (let line = 1; line <= first.length; line += 1) {
    const place = { path: PATH, start: line, end: line };
    const traced = await history.trace(start, place, result);
    const expected = survivors.get(line);
    assert.equal(traced.isChanged, expected === undefined, `line ${line}`);
    if (expected !== undefined) assert.equal(traced.place?.start, expected);
  }
}
