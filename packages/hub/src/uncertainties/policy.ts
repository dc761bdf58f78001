import { createHash } from 'node:crypto';
import type { Principal } from '../base/principal.ts';
import type { UncertaintyRow } from './store.ts';
import type { ResolutionRow } from './store-resolutions.ts';

/**
 * Open questions of a job, above which its tool asks no more. A person answers a few of a job; more
 * would only hide those of others in the inbox.
 */
export const OPEN_QUESTIONS_MAX = 50;
/** Uncertainties of a job, above which its tool records no more: far more than people read. */
export const QUESTIONS_MAX = 1_000;

/** Whether the caller may read: a job token only uncertainties of its own run or job. */
export function mayRead({ job }: Principal, row: UncertaintyRow | undefined): boolean {
  if (job === null) return true;
  if (row === undefined) return false;
  return job.jobId === row.job_id || (job.runId !== null && job.runId === row.run_id);
}

/** Whether the caller may know of a question: that of a session is for its person only. */
export function isVisible(
  { personId }: Principal,
  { session, requested_by }: Pick<UncertaintyRow, 'session' | 'requested_by'>,
): boolean {
  return session === null || (personId !== null && requested_by === personId);
}

/**
 * Why the caller may not answer; null if they may. The tool of a session may reach the token of its
 * machine, so only the console settles what it asks.
 */
export function answerRefusal(
  { kind }: Principal,
  { session }: Pick<UncertaintyRow, 'session'>,
): string | null {
  if (session === null || kind === 'person') return null;
  return 'The tool that asks may reach the token of this machine: answer at the console.';
}

/**
 * Whether an answer needs an `apply_decision` job when the job that asked cannot take it. A
 * dismissal needs no such job, nor does an answer about one action of a tool, or to a session. An
 * answer to an uncertainty that was never promoted needs one only if it differs from the assumed
 * value.
 */
export function isToBeApplied(
  uncertainty: Pick<
    UncertaintyRow,
    'decision_request_id' | 'assumed_value' | 'action_key' | 'session'
  >,
  resolution: Pick<ResolutionRow, 'mode' | 'value'>,
): boolean {
  if (resolution.mode === 'dismissed' || uncertainty.action_key !== null) return false;
  if (uncertainty.session !== null) return false;
  return uncertainty.decision_request_id !== null || resolution.value !== uncertainty.assumed_value;
}

/** Whether the end of its job dismissed a question. What a person did has a name. */
export function isByEndOfJob(
  last: Pick<ResolutionRow, 'mode' | 'created_by'> | undefined,
): boolean {
  return last?.mode === 'dismissed' && last.created_by === null;
}

/** Status and time of resolution that follow from the last resolution, if any. */
export function stateAfter(
  { decision_request_id }: Pick<UncertaintyRow, 'decision_request_id'>,
  last: Pick<ResolutionRow, 'created_at'> | undefined,
): Pick<UncertaintyRow, 'status' | 'resolved_at'> {
  if (last !== undefined) return { status: 'resolved', resolved_at: last.created_at };
  return { status: decision_request_id === null ? 'assumed' : 'open', resolved_at: null };
}

/** Whether confidence is below the threshold (docs/reference/protocol.md, section 5.2). */
export function isPromoted(input: { confidence: number; autoPromoteThreshold: number }): boolean {
  return input.confidence < input.autoPromoteThreshold;
}

type AlikeFields = Pick<
  UncertaintyRow,
  | 'repo_id'
  | 'kind'
  | 'prompt'
  | 'options'
  | 'recommended_value'
  | 'assumed_value'
  | 'context'
  | 'impact'
  | 'reversibility'
  | 'action_key'
>;

/**
 * Questions of one repository with the same text and choices are alike: a person may give them one
 * answer. An approval, or a question about the action of a tool, is only like one that is the same
 * in all that a person sees, and only if its asker says that the impact is low.
 *
 * @returns a key that alike questions share; null: the question gets an answer of its own.
 */
export function alikeKeyOf(row: AlikeFields): string | null {
  const { repo_id, kind, prompt, options, recommended_value, assumed_value } = row;
  const asked: unknown[] = [repo_id, kind, prompt, options, recommended_value, assumed_value];
  if (kind === 'approval' || row.action_key !== null) {
    if (row.impact.trim().toLowerCase() !== 'low') return null;
    asked.push(row.context, row.impact, row.reversibility);
  }
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
}
