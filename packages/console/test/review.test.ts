import type { ReviewComment } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { changedSpans, piecesOf } from '../src/review/line-pieces.ts';
import { hideWhiteSpace, readReviewFiles } from '../src/review/review-files.ts';
import { notesByLine, placeFindings } from '../src/review/review-notes.ts';
import { rowsOf, withComposer } from '../src/review/review-rows.ts';
import { lineKey, linesOf, placeThreads, threadsOf } from '../src/review/review-threads.ts';

const patch = [
  'diff --git a/src/a.ts b/src/a.ts',
  '--- a/src/a.ts',
  '+++ b/src/a.ts',
  '@@ -1,4 +1,5 @@',
  ' export function sum(list: number[]) {',
  '-  return list.reduce((a, b) => a + b);',
  '-}',
  '+  if (list.length === 0) return 0;',
  '+  return list.reduce((a, b) => a + b, 0);',
  '+  }',
  ' ',
  'diff --git a/old.ts b/new.ts',
  'similarity index 90%',
  'rename from old.ts',
  'rename to new.ts',
  '--- a/old.ts',
  '+++ b/new.ts',
  '@@ -8 +8 @@',
  '-const a = 1;',
  '+const a = 2;',
  'diff --git a/package-lock.json b/package-lock.json',
  '--- a/package-lock.json',
  '+++ b/package-lock.json',
  '@@ -1 +1 @@',
  '-{}',
  '+{"a":1}',
  'diff --git a/logo.png b/logo.png',
  'Binary files a/logo.png and b/logo.png differ',
  '',
].join('\n');

const files = readReviewFiles(patch);
const nothing = { byLine: new Map(), byFile: new Map(), elsewhere: [] };
const input = {
  files,
  isOpen: () => true,
  isSplit: false,
  placed: nothing,
  notes: new Map(),
  findings: nothing,
};

function commentOn(fields: Partial<ReviewComment>): ReviewComment {
  return {
    commentId: 'com_1',
    jobId: 'job_1',
    number: 1,
    repliesTo: null,
    path: 'src/a.ts',
    side: 'result',
    startLine: 2,
    endLine: 3,
    commitSha: null,
    lines: '',
    text: 'Why?',
    author: { id: 'usr_1', name: 'Ada' },
    createdAt: '',
    updatedAt: '',
    sentInJobId: null,
    answer: null,
    fate: null,
    resolvedAt: null,
    resolvedBy: null,
    ...fields,
  };
}

test('lock files are generated, sources are not', () => {
  expect(files.map(({ path, isGenerated }) => [path, isGenerated])).toEqual([
    ['src/a.ts', false],
    ['new.ts', false],
    ['package-lock.json', true],
    ['logo.png', false],
  ]);
});

test('without white space, lines that only moved to the right are the same', () => {
  const [first] = files.map(hideWhiteSpace);
  expect(first?.hunks[0]?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['same', 1, 1],
    ['deleted', 2, null],
    ['added', null, 2],
    ['added', null, 3],
    ['same', 3, 4],
    ['same', 4, 5],
  ]);
});

test('side by side, a deleted line is in the row of the one that replaces it', () => {
  const rows = rowsOf({ ...input, isSplit: true });
  const pairs = rows.flatMap((row) =>
    row.type === 'lines' && row.file.id === 'src/a.ts'
      ? [[row.left?.before ?? null, row.right?.after ?? null]]
      : [],
  );
  expect(pairs).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [null, 4],
    [4, 5],
  ]);
  expect(rows.filter(({ type }) => type === 'note')).toHaveLength(1);
});

test('the composer stands below the last of its lines, on its side', () => {
  const composed = { path: 'old.ts', side: 'base', startLine: 8, endLine: 8 } as const;
  const rows = withComposer(rowsOf(input), composed);
  const at = rows.findIndex(({ type }) => type === 'composer');
  expect(rows[at - 1]).toMatchObject({ type: 'lines', left: { before: 8, text: 'const a = 1;' } });
});

test('the lines of a comment are read from one side, and only whole', () => {
  const range = { path: 'src/a.ts', side: 'result', startLine: 2, endLine: 3 } as const;
  expect(linesOf(files, range)).toBe(
    '  if (list.length === 0) return 0;\n  return list.reduce((a, b) => a + b, 0);',
  );
  expect(linesOf(files, { ...range, endLine: 6 })).toBeNull();
  expect(linesOf(files, { ...range, path: 'old.ts', side: 'base', startLine: 8, endLine: 8 })).toBe(
    'const a = 1;',
  );
});

test('a thread of this round is at its lines; one of another round where git has found them', () => {
  const threads = threadsOf([
    commentOn({}),
    commentOn({ commentId: 'com_2', repliesTo: 'com_1', text: 'And here?' }),
    commentOn({
      commentId: 'com_3',
      jobId: 'job_0',
      startLine: 90,
      endLine: 91,
      fate: {
        state: 'moved',
        path: 'new.ts',
        startLine: 8,
        endLine: 8,
        jobId: 'job_1',
        commitSha: null,
      },
    }),
    commentOn({ commentId: 'com_4', jobId: 'job_0' }),
    commentOn({ commentId: 'com_5', jobId: 'job_0', path: 'gone.ts' }),
  ]);
  const placed = placeThreads({ jobId: 'job_1', since: 'work' }, threads, files);
  const idsOf = (found: typeof threads | undefined) => found?.map(({ first }) => first.commentId);
  expect(idsOf(placed.byLine.get(lineKey('src/a.ts', 'result', 3)))).toEqual(['com_1']);
  expect(threads[0]?.replies.map(({ text }) => text)).toEqual(['And here?']);
  expect(idsOf(placed.byLine.get(lineKey('new.ts', 'result', 8)))).toEqual(['com_3']);
  // Its lines look the same, but no agent has told where they are: nothing is guessed.
  expect(idsOf(placed.byFile.get('src/a.ts'))).toEqual(['com_4']);
  expect(idsOf(placed.elsewhere)).toEqual(['com_5']);
});

test('in the changes of a round, comments on the file before the work are beside the file', () => {
  const onBase = { side: 'base', path: 'old.ts', startLine: 8, endLine: 8 } as const;
  const threads = threadsOf([commentOn({}), commentOn({ commentId: 'com_2', ...onBase })]);
  const key = lineKey('old.ts', 'base', 8);
  expect(placeThreads({ jobId: 'job_1', since: 'work' }, threads, files).byLine.has(key)).toBe(
    true,
  );
  const { byLine, byFile } = placeThreads({ jobId: 'job_1', since: 'round' }, threads, files);
  expect([...byLine.keys()]).toEqual([lineKey('src/a.ts', 'result', 3)]);
  expect(byFile.get('new.ts')?.map(({ first }) => first.commentId)).toEqual(['com_2']);
});

test('failed checks and findings that name a line of a changed file are on that line', () => {
  const checks = [
    {
      name: 'lint',
      command: 'lint',
      outcome: 'failed',
      durationMs: 1,
      output: './src/a.ts:2:5: no-magic\nother/a.ts:3: no\na.ts(4,1): error TS1005\n',
    },
    { name: 'ok', command: 'ok', outcome: 'passed', durationMs: 1, output: 'src/a.ts:1: fine' },
  ];
  const findings = [{ file: 'new.ts', line: 8, severity: 'major', message: 'Why 2?' }, 'broken'];
  const notes = notesByLine(
    { checks, findings },
    files.map(({ path }) => path),
  );
  const range = (path: string, line: number) => ({
    path,
    side: 'result',
    startLine: line,
    endLine: line,
  });
  const at = (path: string, line: number, source: string, text: string) => [
    lineKey(path, 'result', line),
    [{ source, text, range: range(path, line) }],
  ];
  expect([...notes]).toEqual([
    at('src/a.ts', 2, 'Check lint', 'no-magic'),
    at('src/a.ts', 4, 'Check lint', 'error TS1005'),
    at('new.ts', 8, 'Finding, major', 'Why 2?'),
  ]);
});

test('changes within a line are marked where the lines are alike', () => {
  const before = 'return list.reduce((a, b) => a + b);';
  const after = 'return list.reduce((a, b) => a + b, 0);';
  const [span] = changedSpans(after, before);
  expect(after.slice(span?.start, span?.end)).toBe(', 0');
  expect(changedSpans('}', 'if (list.length === 0) return 0;')).toEqual([]);
});

test('a line is cut where its color or its change begins or ends', () => {
  const colors = [{ start: 0, end: 6, color: 'hljs-keyword' }];
  expect(piecesOf('return x', colors, [{ start: 3, end: 8 }])).toEqual([
    { text: 'ret', color: 'hljs-keyword', isChanged: false },
    { text: 'urn', color: 'hljs-keyword', isChanged: true },
    { text: ' x', color: undefined, isChanged: true },
  ]);
});

test('findings of another job are on their line, or at their file if it is another line', () => {
  const found = (line: number | undefined, message: string, text?: string, file = 'src/a.ts') => ({
    file,
    severity: 'major',
    message,
    ...(line === undefined ? {} : { line }),
    ...(text === undefined ? {} : { text }),
  });
  const findings = [
    found(2, 'same text', '  if (list.length === 0) return 0;'),
    found(3, 'other text', '  return 1;'),
    found(40, 'not in sight', 'x'),
    found(1, 'no text'),
    found(undefined, 'the file'),
    found(1, 'not in the patch', 'x', 'src/other.ts'),
    found(8, 'a part of the path', 'const a = 2;', 'a.ts'),
    'broken',
  ];
  const place = (reviewedSha: string) => {
    const reviews = [{ jobId: 'job_9', evidence: { reviewedSha, findings } as never }];
    const { byLine, byFile, elsewhere } = placeFindings(reviews, 'a'.repeat(40), files);
    const told = (notes: Iterable<unknown>) =>
      [...notes].flatMap((note) => {
        const { text, review } = note as { text: string; review: object };
        return [[text, ...Object.values(review).slice(1)]];
      });
    return {
      lines: [...byLine].map(([key, notes]) => [key, ...notes.map(({ text }) => text)]),
      files: told([...byFile.values()].flat()),
      elsewhere: told(elsewhere),
    };
  };
  const same = place('a'.repeat(40));
  expect(same.lines).toEqual([
    [lineKey('src/a.ts', 'result', 2), 'same text'],
    [lineKey('src/a.ts', 'result', 3), 'other text'],
    [lineKey('src/a.ts', 'result', 1), 'no text'],
  ]);
  expect(same.files).toEqual([
    ['not in sight', 'line 40', false],
    ['the file', null, false],
  ]);
  const other = place('b'.repeat(40));
  expect(other.lines).toEqual([[lineKey('src/a.ts', 'result', 2), 'same text']]);
  expect(other.files).toEqual([
    ['other text', 'line 3', true],
    ['not in sight', 'line 40', true],
    ['no text', 'line 1', true],
    ['the file', null, false],
  ]);
  expect(other.elsewhere).toEqual([
    ['not in the patch', 'src/other.ts, line 1', true],
    ['a part of the path', 'a.ts, line 8', true],
  ]);
  const rows = rowsOf({
    ...input,
    findings: placeFindings(
      [{ jobId: 'job_9', evidence: { findings: [found(1, 'no file', 'x', 'src/other.ts')] } }],
      undefined,
      files,
    ),
  });
  expect(rows.slice(0, 3).map(({ type }) => type)).toEqual(['finding', 'file', 'hunk']);
});
