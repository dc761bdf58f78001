import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodes } from '../src/index.ts';
import { type HubPlace, makeClone, startHub, useServiceToken } from './harness.ts';

let place: HubPlace;
let clone: string;
before(async () => {
  place = await startHub();
  await useServiceToken(place);
  clone = makeClone(place);
  const linked = await place.run(['repo', 'link', clone]);
  assert.equal(linked.exitCode, exitCodes.ok, linked.stderr);
});
after(async () => await place.end());

async function run(
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
) {
  return await place.run(['enqueue', ...args], { cwd: clone, ...options });
}

async function json(args: readonly string[], options: Parameters<typeof run>[1] = {}) {
  const { stdout, stderr, exitCode } = await run([...args, '--json'], options);
  assert.equal(exitCode, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

async function refused(args: readonly string[], pattern: RegExp): Promise<void> {
  const { exitCode, stderr } = await run(args);
  assert.equal(exitCode, exitCodes.usage, stderr);
  assert.match(stderr, pattern);
}

const jobsOf = async () => {
  const { stdout } = await place.run(['jobs', '--all', '--json', '--whole']);
  return JSON.parse(stdout).jobs as { jobId: string; prompt: string; kind: string }[];
};

test('the prompt is the text of a file', async () => {
  const file = join(place.directory, 'prompt.md');
  await writeFile(file, '# Health\n\nAdd a check.\n\n');
  assert.equal((await json(['--file', file])).job.prompt, '# Health\n\nAdd a check.');
  await refused(['--file', join(place.directory, 'missing')], /cannot be read: ENOENT/);
  await refused(['Another', '--file', file], /--file is the whole prompt/);
});

test('files are attached to a job, in their order, or nothing is sent', async () => {
  const log = join(place.directory, 'build.log');
  const picture = join(place.directory, '-screen shot.png');
  await writeFile(log, 'line');
  await writeFile(picture, 'png');
  const { job } = await json(['Look', '--attach', log, `--attach=${picture}`]);
  const told = job.attachments.map(
    (one: { fileName: string; sizeBytes: number; contentType: string }) =>
      [one.fileName, one.sizeBytes, one.contentType] as const,
  );
  assert.deepEqual(told, [
    ['build.log', 4, 'text/plain'],
    ['-screen shot.png', 3, 'image/png'],
  ]);
  await refused(['x', '--attach', join(place.directory, 'missing')], /cannot be read \(ENOENT\)/);
  await refused(['x', '--attach', place.directory], /it is not a file/);
  const eleven = Array<string[]>(11).fill(['--attach', log]).flat();
  await refused(['x', ...eleven], /at most 10 files/);
});

test('a template of the workspace is filled, and lacks and loses no value', async () => {
  const file = join(place.directory, 'review.md');
  await writeFile(file, 'Review {{ area }}.\n\n{{prompt}}\n');
  const chosen = ['--kind', 'pr_review', '--priority', '7', '--tool', 'claude', '--budget', '2'];
  const saved = await json(['--file', file, ...chosen, '--save-template', 'review']);
  assert.deepEqual(saved.template.values, {
    kind: 'pr_review',
    prompt: 'Review {{ area }}.\n\n{{prompt}}',
    priority: 7,
    requirements: { tool: 'claude' },
    budget: { costUsd: 2 },
  });
  const area = ['--template', 'review', '--set', 'area=login'];
  const { job } = await json(['Look at the tests.', ...area, '--priority', '9', '--tool', 'codex']);
  assert.equal(job.prompt, 'Review login.\n\nLook at the tests.');
  assert.deepEqual([job.kind, job.priority, job.tool], ['pr_review', 9, 'codex']);
  assert.deepEqual(job.budget, { costUsd: 2 });
  await refused(['--template', 'review'], /needs --set area=… and a prompt\./);
  const more = ['x', '--template', 'review', '--set', 'area=a', '--set', 'level=9'];
  await refused(more, /has no \{\{level\}\}, so the value would be lost/);
  await refused(['x', '--template', 'reviw'], /no template "reviw"\. Did you mean review\?/);
  await refused(['x', '--set', 'area=login'], /--set needs --template/);
});

test('a template is changed by its own values, and keeps nothing that is for one job', async () => {
  await json(['Mend {{area}}.', '--with', 'claude,codex', '--save-template', 'mend']);
  await json(['--template', 'mend', '--repo', clone, '--save-template', 'mend']);
  const { template } = await json(['--template', 'mend', '--role', 'x', '--save-template', 'mend']);
  const { repoId, ...values } = template.values;
  assert.match(repoId, /^repo_/);
  assert.deepEqual(values, {
    prompt: 'Mend {{area}}.',
    role: 'x',
    variants: [{ tool: 'claude' }, { tool: 'codex' }],
  });
  const both = await json(['--template', 'mend', '--set', 'area=it', '--repo', clone]);
  assert.equal(both.variantJobIds.length, 2);
  const one = await json(['--template', 'mend', '--set', 'area=it', '--tool', 'codex']);
  assert.equal(one.variantJobIds, undefined);
  assert.equal(one.job.repoId, repoId);
  await refused(['x', '--delay', '5m', '--save-template', 'x'], /does not keep --delay/);
  await refused(['x', '--depends-on', 'a', '--save-template', 'x'], /does not keep --depends-on/);
  await refused(['--template', 'mend', '--wait', '--set', 'area=it'], /--wait follows one job/);
});

test('the editor begins with the prompt, and what was written outlives a refusal', async () => {
  const editor = join(place.directory, 'editor');
  await writeFile(editor, '#!/bin/sh\necho "Written in the editor." >> "$1"\n');
  await chmod(editor, 0o755);
  const env = { EDITOR: editor };
  const { job } = await json(['Begin.', '--edit'], { env });
  assert.equal(job.prompt, 'Begin.\nWritten in the editor.');
  const { exitCode, stderr } = await run(['--edit', '--run', 'run_unknown'], { env });
  assert.notEqual(exitCode, exitCodes.ok);
  const [, kept = ''] = /enqueue --file (\S+)/.exec(stderr) ?? [];
  assert.ok(existsSync(kept), stderr);
});

test('a batch is enqueued in the order of its lines; repeated, it enqueues nothing twice', async () => {
  const file = join(place.directory, 'jobs.jsonl');
  const lines = [
    { prompt: 'Batch one', kind: 'pr_review', priority: 3 },
    { prompt: 'Batch two', dependsOn: [] },
    { prompt: 'Batch two', dependsOn: [] },
  ].map((line) => JSON.stringify(line));
  await writeFile(file, `${lines.join('\n')}\n\n`);
  const first = await json(['--batch', file]);
  assert.deepEqual(
    first.jobs.map(({ line, idempotent }: { line: number; idempotent: boolean }) => [
      line,
      idempotent,
    ]),
    [
      [1, false],
      [2, false],
      [3, false],
    ],
  );
  // Equal lines are two jobs.
  const ids = first.jobs.map(({ jobId }: { jobId: string }) => jobId);
  assert.equal(new Set(ids).size, 3);
  await writeFile(file, `${lines.join('\n')}\n${JSON.stringify({ prompt: 'Batch four' })}\n`);
  const again = await json(['--batch', file]);
  assert.deepEqual(
    again.jobs.map(({ jobId, idempotent }: { jobId: string; idempotent: boolean }) => [
      jobId,
      idempotent,
    ]),
    [...ids.map((id: string) => [id, true]), [again.jobs[3].jobId, false]],
  );
  const batch = (await jobsOf()).filter(({ prompt }) => prompt.startsWith('Batch'));
  assert.deepEqual(batch.map(({ prompt }) => prompt).toReversed(), [
    'Batch one',
    'Batch two',
    'Batch two',
    'Batch four',
  ]);
  assert.equal(batch.at(-1)?.kind, 'pr_review');
});

test('a batch may be larger than one request', async () => {
  const prompts = ['Long one', 'Long two', 'Long three'].map((text) => text.padEnd(100_000, '.'));
  const input = prompts.map((prompt) => JSON.stringify({ prompt })).join('\n');
  const file = join(place.directory, 'long.jsonl');
  await writeFile(file, input);
  assert.equal((await json(['--batch', file])).jobs.length, 3);
  const again = await json(['--batch', '-'], { input });
  assert.ok(again.jobs.every(({ idempotent }: { idempotent: boolean }) => idempotent));
});

test('a mistake in a batch is named with its line, and nothing is enqueued', async () => {
  const before = (await jobsOf()).length;
  const cases: [line: string, sentence: RegExp][] = [
    ['{"prompt": "x"', /:2: the line is not valid JSON: /],
    ['["x"]', /:2: the line must be an object, such as/],
    [
      '{"prompt": "x", "priorty": 3}',
      /:2: "priorty" is not a known field; did you mean priority\?/,
    ],
    ['{"prompt": "x", "priority": "3"}', /:2: priority must be a number\./],
    ['{"prompt": "x", "kind": "wrok"}', /:2: kind must be one of install_ias, /],
    ['{"kind": "work"}', /:2: prompt is missing\./],
    ['{"prompt": " "}', /:2: The prompt is empty/],
    ['{"prompt": "x", "repo": "/nowhere"}', /:2: /],
  ];
  for (const [line, sentence] of cases) {
    const input = `{"prompt": "fine"}\n${line}\n`;
    const { exitCode, stderr } = await run(['--batch', '-'], { input });
    assert.equal(exitCode, exitCodes.usage, line);
    assert.match(stderr, sentence);
  }
  await refused(['x', '--batch', '-'], /a prompt has no place/);
  await refused(['--batch', '-', '--wait'], /--wait has no place/);
  assert.equal((await run(['--batch', '-'], { input: '\n' })).exitCode, exitCodes.usage);
  assert.equal((await jobsOf()).length, before);
});

test('a batch that the hub refuses in the middle can be mended and repeated', async () => {
  const wrong = '{"prompt": "Middle", "dependsOn": ["job_00000000000000000000000000"]}';
  const input = `{"prompt": "Before"}\n${wrong}\n{"prompt": "After"}\n`;
  const { exitCode, stderr } = await run(['--batch', '-'], { input });
  assert.equal(exitCode, exitCodes.refused, stderr);
  assert.match(stderr, /standard input:2: .*1 of 3 jobs are enqueued\./);
  const mended = input.replace(wrong, '{"prompt": "Middle"}');
  const { jobs } = await json(['--batch', '-'], { input: mended });
  assert.deepEqual(
    jobs.map(({ idempotent }: { idempotent: boolean }) => idempotent),
    [true, false, false],
  );
});

test('a job asks for a tool and a model, and a retry for others', async () => {
  const { job } = await json(['Do it.', '--tool', 'codex', '--model', 'gpt-5.5']);
  assert.deepEqual(job.requirements, { tool: 'codex', model: 'gpt-5.5' });
  assert.deepEqual([job.tool, job.model], ['codex', 'gpt-5.5']);
  const more = ['--requirements', '{"labels":{"os":"linux"}}', '--tool', 'codex'];
  assert.deepEqual((await json(['Do it.', ...more])).job.requirements, {
    labels: { os: 'linux' },
    tool: 'codex',
  });
  await refused(
    ['Do it.', '--requirements', 'Quickly.', '--tool', 'codex'],
    /need --requirements as/,
  );
  const shown = await place.run(['job', job.jobId]);
  assert.match(shown.stdout, /Tool +codex gpt-5\.5\n/);
  const list = await place.run(['jobs']);
  assert.match(list.stdout, /codex gpt-5\.5/);
  const early = await place.run(['job', 'retry', job.jobId, '--tool', 'claude']);
  assert.equal(early.exitCode, exitCodes.refused, early.stderr);
});
