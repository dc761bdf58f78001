import type { Attachment, endpoints, Job, JobKind, RequestOf } from '@signalbox/contract';
import { HubError } from '../api/hub-error.ts';

/** The values that a person has entered for a new job, as the fields hold them. */
export interface JobDraft {
  repoId: string;
  kind: JobKind;
  prompt: string;
  priority: string;
  dependsOn: readonly string[];
  /** A branch, or the id of a job. */
  base: string;
  delay: string;
  requirements: string;
  /** Empty: any tool; its default model. */
  tool: string;
  model: string;
  /** The tries of the work; empty: it is one job. */
  variants: readonly { tool: string; model: string }[];
  runId: string;
  budgetUsd: string;
  timeLimit: string;
  concurrencyKey: string;
  maxAttempts: string;
  role: string;
  attachments: readonly Attachment[];
}
export type DraftFaults = Partial<Record<keyof JobDraft, string>>;
export type EnqueueRequest = RequestOf<typeof endpoints.jobs.enqueue>;

export const emptyDraft: JobDraft = {
  repoId: '',
  kind: 'work',
  prompt: '',
  priority: '',
  dependsOn: [],
  base: '',
  delay: '',
  requirements: '',
  tool: '',
  model: '',
  variants: [],
  runId: '',
  budgetUsd: '',
  timeLimit: '',
  concurrencyKey: '',
  maxAttempts: '',
  role: '',
  attachments: [],
};

/** The fields that are folded away until a person wants them. */
export const rareFields = [
  'dependsOn',
  'base',
  'delay',
  'requirements',
  'runId',
  'budgetUsd',
  'timeLimit',
  'concurrencyKey',
  'maxAttempts',
  'role',
] as const satisfies readonly (keyof JobDraft)[];

/** The draft that makes the same job again. A delay has passed, so it is left out. */
export function draftOfJob(job: Job): JobDraft {
  return {
    ...emptyDraft,
    repoId: job.repoId,
    kind: job.kind,
    prompt: job.prompt,
    priority: job.priority === 0 ? '' : String(job.priority),
    dependsOn: job.dependsOn,
    base: job.base ?? '',
    ...splitRequirements(job.requirements),
    runId: job.runId ?? '',
    ...limitsOf(job.budget),
    concurrencyKey: job.concurrencyKey ?? '',
    role: job.role === 'implementer' ? '' : job.role,
    attachments: job.attachments ?? [],
  };
}

/** The fields of a budget. */
export function limitsOf(budget: Job['budget']): Pick<JobDraft, 'budgetUsd' | 'timeLimit'> {
  const { costUsd, timeLimitMs } = budget ?? {};
  return {
    budgetUsd: typeof costUsd === 'number' ? String(costUsd) : '',
    timeLimit: typeof timeLimitMs === 'number' ? `${Math.ceil(timeLimitMs / 1_000)}s` : '',
  };
}

/** The request that a draft is for, without its key; or what is wrong with which field. */
export function requestOf(
  workspaceId: string,
  draft: JobDraft,
): { request: EnqueueRequest; faults: null } | { request: null; faults: DraftFaults } {
  const faults: DraftFaults = {};
  const attempt = <Value>(name: keyof JobDraft, read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error;
      faults[name] = error.message;
      return undefined;
    }
  };
  if (draft.repoId === '') faults.repoId = 'Choose a repository.';
  if (draft.prompt.trim() === '') faults.prompt = 'Describe the task.';
  const priority = attempt('priority', () => readInteger(draft.priority, -1_000, 1_000));
  const maxAttempts = attempt('maxAttempts', () => readInteger(draft.maxAttempts, 1, 100));
  const delayMs = attempt('delay', () => readDelay(draft.delay));
  const requirements = attempt('requirements', () => withTool(draft));
  const costUsd = attempt('budgetUsd', () => readAmount(draft.budgetUsd));
  const timeLimitMs = attempt('timeLimit', () => readDelay(draft.timeLimit));
  if (Object.keys(faults).length > 0) return { request: null, faults };
  const { repoId, kind, prompt, dependsOn, base, runId, concurrencyKey, role, attachments } = draft;
  const budget = {
    ...(costUsd !== undefined && { costUsd }),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  };
  const variants = draft.variants.map(({ tool, model }) => ({
    ...(tool !== '' && { tool }),
    ...(model !== '' && { model }),
  }));
  return {
    faults: null,
    request: {
      workspaceId,
      repoId,
      kind,
      prompt,
      ...(role.trim() !== '' && { role: role.trim() }),
      ...(priority !== undefined && { priority }),
      ...(dependsOn.length > 0 && { dependsOn: [...dependsOn] }),
      ...(base.trim() !== '' && { base: base.trim() }),
      ...(delayMs !== undefined && { delayMs }),
      ...(requirements !== undefined && { requirements }),
      ...(runId !== '' && { runId }),
      ...(Object.keys(budget).length > 0 && { budget }),
      ...(concurrencyKey.trim() !== '' && { concurrencyKey: concurrencyKey.trim() }),
      ...(maxAttempts !== undefined && { maxAttempts }),
      ...(variants.length > 0 && { variants }),
      ...(attachments.length > 0 && { attachments: attachments.map((one) => one.uploadId) }),
    },
  };
}

/** A value that cannot be sent; the message is for the person. */
class FieldFault extends Error {}

function readInteger(text: string, least: number, most: number): number | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new FieldFault(`Enter a whole number from ${least} to ${most}.`);
}

function readAmount(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new FieldFault('Enter an amount in US dollars, such as 2.50.');
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DELAY_MS_MAX = 366 * 86_400_000;

/** Reads a time as the command line does: `90s`, `10m`, `1h30m`, `2d`. */
function readDelay(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  if (!/^(?:\d+[smhd])+$/.test(text.trim())) {
    throw new FieldFault('Enter a time with a unit, such as 90s, 10m, 1h30m or 2d.');
  }
  const parts = text.matchAll(/(\d+)([smhd])/g);
  const delayMs = [...parts].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? 0),
    0,
  );
  if (delayMs > DELAY_MS_MAX) throw new FieldFault('Enter at most 366 days.');
  return delayMs;
}

/** Reads labels (`os=linux gpu=a100`), or JSON with further capabilities or a text. */
function readRequirements(text: string): EnqueueRequest['requirements'] | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (/^[{"]/.test(trimmed)) {
    try {
      // The hub checks the rest; a JSON value that begins so is an object or a string.
      return JSON.parse(trimmed) as Record<string, unknown> | string;
    } catch {
      throw new FieldFault('This is not valid JSON. Check the quotes and the commas.');
    }
  }
  const pairs = trimmed.split(/[\s,]+/).map((pair) => /^([^=]+)=(.+)$/.exec(pair));
  if (pairs.some((pair) => pair === null)) {
    throw new FieldFault('Enter labels such as os=linux gpu=a100, or JSON.');
  }
  const labels = pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? ''] as const);
  return { labels: Object.fromEntries(labels) };
}

/** The requirements of a draft, with its tool and model. */
function withTool({ requirements, tool, model }: JobDraft): EnqueueRequest['requirements'] {
  const read = readRequirements(requirements);
  if (tool === '' && model === '') return read;
  if (typeof read === 'string') {
    throw new FieldFault(
      'Free text cannot be combined with a tool or a model. Write it into the prompt.',
    );
  }
  return { ...read, ...(tool !== '' && { tool }), ...(model !== '' && { model }) };
}

/** The fields for requirements. */
export function splitRequirements(
  requirements: Job['requirements'],
): Pick<JobDraft, 'requirements' | 'tool' | 'model'> {
  if (requirements === null || typeof requirements === 'string') {
    const text = requirements === null ? '' : writeRequirements(requirements);
    return { requirements: text, tool: '', model: '' };
  }
  const { tool, model, ...others } = requirements;
  const isEmpty = Object.keys(others).length === 0;
  return {
    requirements: isEmpty ? '' : writeRequirements(others),
    tool: typeof tool === 'string' ? tool : '',
    model: typeof model === 'string' ? model : '',
  };
}

/** The text that `readRequirements` reads as these requirements. */
function writeRequirements(requirements: NonNullable<Job['requirements']>): string {
  if (typeof requirements === 'string') return JSON.stringify(requirements);
  const { labels, ...others } = requirements;
  const isPlain = Object.keys(others).length === 0 && typeof labels === 'object' && labels !== null;
  const entries = isPlain ? Object.entries(labels) : [];
  const areWords = entries.every(
    ([name, value]) =>
      typeof value === 'string' && /^[^\s,="{]+$/.test(name) && /^[^\s,]+$/.test(value),
  );
  if (entries.length === 0 || !areWords) return JSON.stringify(requirements);
  return entries.map(([name, value]) => `${name}=${value}`).join(' ');
}

const fieldOfPath: Readonly<Record<string, keyof JobDraft>> = {
  ...Object.fromEntries(Object.keys(emptyDraft).map((name) => [name, name])),
  delayMs: 'delay',
  budget: 'budgetUsd',
};
const fieldOfCode: Readonly<Record<string, keyof JobDraft>> = {
  REPO_NOT_FOUND: 'repoId',
  RUN_NOT_FOUND: 'runId',
  JOB_NOT_FOUND: 'dependsOn',
};

/** The hub's refusal by field; null if a part of it concerns none. */
export function faultsOf(error: unknown): DraftFaults | null {
  if (!(error instanceof HubError)) return null;
  const field = fieldOfCode[error.code];
  if (field !== undefined) return { [field]: error.message };
  if (error.details.length === 0) return null;
  const faults: DraftFaults = {};
  for (const { path, message } of error.details) {
    const name = fieldOfPath[path.split('/')[1] ?? ''];
    if (name === undefined) return null;
    faults[name] = `It ${message}.`;
  }
  return faults;
}
