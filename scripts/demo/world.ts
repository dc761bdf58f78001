// Reads the workspace that `npm run demo -- --keep-open` makes: the work of an invented team.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { SeedCourse, SeedJob, SeedWorld } from './seed.ts';

/** A job of the file. Fields of the request have their own names there. */
interface TeamJob extends Partial<SeedJob> {
  /** Repository, person, minutes, dollars, verdict; `-` for none. */
  job: string;
  prompt: string;
  log?: never;
  /** Lines, separated by ` | `. */
  output?: string;
  loop?: string;
  ask?: string;
  options?: string | string[];
  /** The number of the option that a person chose. */
  chosen?: number;
  /** The kind of the question, how sure the agent is, the impact, and how hard to take back. */
  risk?: string;
  context?: string;
  why?: string;
  canceled?: string;
  failed?: string;
  done?: string;
  /** Category and code of a failure. */
  reason?: string;
  files?: string;
  patch?: string;
  delayHours?: number;
}

const colors = { '+': 32, '!': 31, '~': 2 };
const checks = [
  { name: 'types', command: 'npx tsc', durationMs: 9_000, outcome: 'passed', exitCode: 0 },
  { name: 'tests', command: 'npm test', durationMs: 52_000, outcome: 'passed', exitCode: 0 },
] as const;

export function readTeamWorld(): SeedWorld {
  const text = readFileSync(join(import.meta.dirname, 'team.yaml'), 'utf8');
  const file = parse(text) as Omit<SeedWorld, 'jobs'> & { jobs: TeamJob[] };
  return { ...file, jobs: file.jobs.map(readJob) };
}

function readJob(job: TeamJob): SeedJob {
  const [repository = '', by, minutes] = headOf(job);
  const { run, name, after, agent, role, priority, concurrencyKey, requirements } = job;
  const rest = { run, name, after, agent, role, priority, concurrencyKey, requirements };
  const [first] = job.files?.split(' ') ?? [];
  const output = job.output ?? (first && `Reading ${first} | → npm test | +✓ all tests pass`);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    repository,
    prompt: job.prompt.trim(),
    course: courseOf(job),
    ...(by && { by }),
    ...(minutes && { minutes: Number(minutes) }),
    ...(job.delayHours && { delayMs: job.delayHours * 60 * 60_000 }),
    ...(output && { log: linesOf(output) }),
    ...(job.ask && questionOf(job)),
  };
}

function headOf({ job }: TeamJob): string[] {
  return job.split(' ').map((word) => (word === '-' ? '' : word));
}

function courseOf(job: TeamJob): SeedCourse {
  const { loop, canceled, failed, done, reason = '', files, patch } = job;
  if (loop !== undefined) return { status: 'running', loop: linesOf(loop) };
  if (canceled !== undefined) return { status: 'canceled', reason: canceled };
  if (failed !== undefined) {
    const [category = '', code = ''] = reason.split(' ');
    const outcomeReason = { category, code, summary: failed, retryable: false };
    return { status: 'ended', result: { outcome: 'failed', message: failed, outcomeReason } };
  }
  if (done === undefined) return { status: job.ask === undefined ? 'pending' : 'blocked' };
  const [, , , dollars, verdict] = headOf(job);
  const costUsd = Number(dollars);
  const tokensOf = (perDollar: number) => Math.round(costUsd * perDollar);
  const tokens = { inputTokens: tokensOf(180_000), outputTokens: tokensOf(9_000) };
  const evidence = {
    // Looks like the id of a commit. The demo says that these commits do not exist.
    commitSha: createHash('sha1').update(job.prompt).digest('hex'),
    ...(files && { changedFiles: files.split(' ') }),
    ...(verdict && { verdict }),
    ...(verdict === 'verified' && { checks }),
    ...(verdict === 'gaps' && { gaps: ['No check is configured for the page of docs.'] }),
    ...(patch && { files: countLines(patch) }),
  };
  return {
    status: 'ended',
    result: {
      outcome: 'done',
      message: done,
      evidence,
      ...(dollars && { usage: { costUsd, model: 'demo-model', ...tokens } }),
    },
    ...(patch && { patch: { text: patch, filesOmitted: 1 } }),
  };
}

function countLines(patch: string) {
  return patch
    .split(/^diff --git .* b\//m)
    .slice(1)
    .map((part) => {
      const lines = part.split('\n').slice(1);
      const count = (sign: RegExp) => lines.filter((line) => sign.test(line)).length;
      const path = part.split('\n', 1)[0] ?? '';
      return { path, added: count(/^\+(?!\+\+)/), deleted: count(/^-(?!--)/) };
    });
}

/** The agent recommends and assumes the first option. */
function questionOf(job: TeamJob): Pick<SeedJob, 'question' | 'answer'> {
  const { ask = '', options: texts = [], chosen, risk = 'choice 0.5 medium easy' } = job;
  const [kind, confidence, impact = '', reversibility = ''] = risk.split(' ');
  const options = (typeof texts === 'string' ? texts.split(' | ') : texts).map((text) => {
    const [label = '', description = ''] = text.split(': ');
    return { value: label, label, description };
  });
  const first = options[0]?.value ?? '';
  return {
    question: {
      prompt: ask,
      kind: kind as 'choice',
      confidence: Number(confidence),
      impact,
      reversibility,
      options,
      recommendedValue: first,
      assumedValue: first,
      context: job.context ?? '',
      assumedReasoning: job.why ?? 'It changes the least.',
    },
    ...(chosen && { answer: options[chosen - 1]?.value ?? '' }),
  };
}

function linesOf(text: string): string[] {
  return text.split(' | ').flatMap((part) => {
    const [, times = '1', line = ''] = /^(?:(\d+) × )?(.*)$/.exec(part) ?? [];
    const color = colors[line[0] as keyof typeof colors];
    const shown = color ? `\u001b[${color}m${line.slice(1)}\u001b[0m` : line;
    if (times === '1') return [shown];
    return Array.from({ length: Number(times) }, (_, at) => shown.replaceAll('{n}', `${at + 1}`));
  });
}
