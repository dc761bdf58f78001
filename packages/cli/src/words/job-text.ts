import {
  type BuildsOn,
  describeIsolation,
  isJobBase,
  type Job,
  type JobStatus,
  type ListedJob,
  type OutcomeReason,
  readIsolation,
  type Usage,
} from '@signalbox/contract';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Styles } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';

const icons: Readonly<Record<JobStatus, string>> = {
  pending: '○',
  running: '◐',
  done: '✔',
  failed: '✖',
  blocked: '◆',
  canceled: '⊘',
};

const colors: Readonly<Record<JobStatus, keyof Styles>> = {
  pending: 'dim',
  running: 'cyan',
  done: 'green',
  failed: 'red',
  blocked: 'yellow',
  canceled: 'dim',
};

/** Icon and word, because neither colour nor icon is sufficient by itself. */
export function statusText(status: JobStatus): string {
  return `${icons[status]} ${status}`;
}

/** The status of a job that is done and changed nothing, although it was to change something. */
const NO_CHANGES = `${icons.done} no changes`;

/** The status of a job that is done, and whose checks did not prove its commit. */
const HAS_GAPS = `${icons.done} has gaps`;

/** The status of a job in a list, with the verdict if people should look. */
export function listedStatus(
  styles: Styles,
  { status, changed, verdict }: Pick<ListedJob, 'status' | 'changed' | 'verdict'>,
): { text: string; style: (text: string) => string } {
  if (changed === false) return { text: NO_CHANGES, style: styles.yellow };
  if (verdict === 'gaps') return { text: HAS_GAPS, style: styles.yellow };
  return { text: statusText(status), style: (text) => colorStatus(styles, status, text) };
}

export function colorStatus(styles: Styles, status: JobStatus, text: string): string {
  return styles[colors[status]](text);
}

/**
 * The number of the attempt, and how many more there may be; null before the first. The limit
 * itself grows with attempts that do not count, so it tells people nothing.
 */
export function attemptText({
  attempt,
  maxAttempts,
  status,
}: Pick<Job, 'attempt' | 'maxAttempts' | 'status'>): string | null {
  if (attempt === 0) return null;
  if (status === 'done' || status === 'canceled') return String(attempt);
  return `${attempt}, ${maxAttempts - attempt} left`;
}

/** The last characters of an ID are random, so they distinguish jobs. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Whether the job's status changes only by an action of a person. */
export function isAtRest(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'running';
}

/** The exit code of waiting for a job with this status. */
export function exitCodeOf(status: JobStatus): ExitCode {
  if (status === 'done') return exitCodes.ok;
  if (status === 'blocked') return exitCodes.blocked;
  return status === 'canceled' ? exitCodes.canceled : exitCodes.failed;
}

/** The reason of a job's outcome as text; null if there was none given. */
export function reasonText(reason: OutcomeReason | null): string | null {
  if (reason === null || typeof reason === 'string') return reason;
  const { summary, code, category } = reason;
  const label = code ?? category;
  if (summary === undefined) return label ?? null;
  return label === undefined ? summary : `${summary} (${label})`;
}

/** Refused commands that are named; the rest is counted. */
const REFUSED_SHOWN = 3;

/** The evidence of a job as text; null if it has none. */
export function changeText(job: Pick<Job, 'evidence' | 'changed'>): string | null {
  return job.changed === false ? 'No changes: there is no commit.' : evidenceText(job);
}

export function evidenceText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { commitSha, changedFiles } = evidence ?? {};
  if (commitSha === undefined) return null;
  const count = changedFiles?.length ?? 0;
  return `commit ${oneLine(commitSha)}${count === 0 ? '' : `, ${count} file${count === 1 ? '' : 's'} changed`}`;
}

/** The fields of the agent's evidence beside those of the contract; each may be missing. */
interface AgentEvidence {
  branch?: unknown;
  executor?: {
    name?: unknown;
    version?: unknown;
    sessionId?: unknown;
    denied?: unknown;
    unasked?: unknown;
  };
}

/** The branch with the changes; null if the job has no commit. */
export function branchText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { branch } = (evidence ?? {}) as AgentEvidence;
  return typeof branch === 'string' ? branch : null;
}

/**
 * The base of a job, as its agent has found it, or as the job names it. Null: it names none, and
 * has not begun.
 */
export function baseText({ evidence, base }: Pick<Job, 'evidence' | 'base'>): string | null {
  const told = evidence?.buildsOn as Partial<BuildsOn> | undefined;
  const commitOf = (sha: unknown) =>
    typeof sha === 'string' ? `, commit ${sha.slice(0, 12)}` : '';
  const jobs = Array.isArray(told?.jobs) ? told.jobs : [];
  if (jobs.length > 0) {
    const texts = jobs.map(
      ({ jobId, commitSha }) => `job ${shortId(String(jobId))}${commitOf(commitSha)}`,
    );
    return oneLine(texts.join('; '));
  }
  if (typeof told?.branch === 'string') return oneLine(`${told.branch}${commitOf(told.commitSha)}`);
  if (base === undefined) return null;
  return isJobBase(base) ? `job ${shortId(base)}` : oneLine(base);
}

/** The coding tool with its version and session; null if the evidence does not name it. */
export function toolText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { name, version, sessionId } = ((evidence ?? {}) as AgentEvidence).executor ?? {};
  if (typeof name !== 'string') return null;
  const number = typeof version === 'string' ? `, ${version}` : '';
  return `${name}${number}${typeof sessionId === 'string' ? `, session ${sessionId}` : ''}`;
}

/** How the tool was kept from the machine; null if the evidence does not say. */
export function isolationText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const told = readIsolation(evidence);
  return told === null ? null : describeIsolation(told);
}

/** The commands that the tool may not run, and what would allow them; null if it ran all. */
export function refusedText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { denied } = ((evidence ?? {}) as AgentEvidence).executor ?? {};
  if (!Array.isArray(denied) || denied.length === 0) return null;
  const shown = denied.slice(0, REFUSED_SHOWN).join(', ');
  const more = denied.length > REFUSED_SHOWN ? ', …' : '';
  const count = `${denied.length} command${denied.length === 1 ? '' : 's'}`;
  const fix = 'to allow: permissions or tool.allow in agent.yaml';
  return `${count}: ${shown}${more}; ${fix}`;
}

/** The actions that the tool took without asking, beyond the agent's rules; null without any. */
export function unaskedText({ evidence }: Pick<Job, 'evidence'>): string | null {
  const { unasked } = ((evidence ?? {}) as AgentEvidence).executor ?? {};
  if (!Array.isArray(unasked) || unasked.length === 0) return null;
  const shown = unasked.slice(0, REFUSED_SHOWN).join(', ');
  const more = unasked.length > REFUSED_SHOWN ? ', …' : '';
  return `${unasked.length} action${unasked.length === 1 ? '' : 's'}: ${shown}${more}`;
}

/** The tokens and the cost; null if they are unknown. */
export function usageText({ usage }: { usage: Usage | null }): string | null {
  return usage === null ? null : costText(usage);
}

/** The same for each model, if there were several. */
export function modelTexts({ usage }: Pick<Job, 'usage'>): string[] {
  const models = usage?.models ?? [];
  if (models.length < 2) return [];
  return models.map((each) => costText(each)).filter((text) => text !== null);
}

function costText(usage: Usage): string | null {
  const { inputTokens, cachedInputTokens, outputTokens, costUsd, model } = usage;
  const cached = cachedInputTokens ? ` (${cachedInputTokens.toLocaleString('en')} cached)` : '';
  const parts = [
    inputTokens === undefined ? null : `${inputTokens.toLocaleString('en')} tokens in${cached}`,
    outputTokens === undefined ? null : `${outputTokens.toLocaleString('en')} out`,
    costUsd === undefined ? null : `$${costUsd.toFixed(2)}`,
    model ?? null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(', ');
}

/** The tool and the model of a job, as far as they are known; '' if neither is. */
export function toolAndModel({ tool, model }: Pick<ListedJob, 'tool' | 'model'>): string {
  return [tool, model].filter(Boolean).join(' ');
}

/** The decisions about a job, each as `Ada answered “Which port?”: 8080`. */
export function decisionLines({ decisions }: Pick<Job, 'decisions'>): string[] {
  return decisions.map(({ prompt, mode, value, by }) => {
    const asked = `“${oneLine(prompt)}”`;
    const who = oneLine(by ?? 'The deadline');
    if (mode === 'dismissed')
      return `${by == null ? 'The end of the job' : who} dismissed ${asked}`;
    const deed = mode === 'assumed' ? 'accepted the assumed value for' : 'answered';
    return `${who} ${deed} ${asked}: ${oneLine(value)}`;
  });
}
