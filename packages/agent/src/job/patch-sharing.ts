import { PATCH_REFUSAL_CHARS_MAX, type SharedPatch } from '@signalbox/contract';
import type { CallOptions } from '@signalbox/sdk';
import type { AgentEvent } from '../agent-events.ts';
import type { AgentOptions, AgentRepository } from '../agent-options.ts';
import { GitError, hasCommit } from '../git/git.ts';
import { mirrorOf, refreshMirror } from '../git/git-mirror.ts';
import { makePatch } from '../git/shared-changes.ts';
import { judgeFailure } from '../hub-client.ts';
import { UploadError, uploadBytes } from '../upload-bytes.ts';
import { pathName } from './attempt.ts';
import type { JobSettings } from './job-work.ts';
import { createRedactor } from './redaction.ts';
import { type ResultRecord, readResultRecord } from './result-record.ts';

const CALL_TIMEOUT_MS = 30_000;
/** A hub without space for uploads is not asked for ever. */
const UPLOAD_FAILURES_MAX = 3;

/** A member asks for the patch of a job that this agent has ended. */
export interface AskedPatch {
  jobId: string;
  agentId: string;
  askedBy: string;
}

interface PatchSharingOptions {
  options: Pick<AgentOptions, 'workspaceId' | 'repositories'>;
  settings: JobSettings;
  settingsFor(repository: AgentRepository): JobSettings;
  emit(event: AgentEvent): void;
  onFault(error: unknown): void;
}

/** Why a patch is not shared, for the people who have asked. */
class Refusal extends Error {}

/** Whether the person of the agent lets it share patches of a repository when a member asks. */
export function sharesOnRequest({ shareChanges }: AgentRepository): boolean {
  return shareChanges === 'on-request' || shareChanges === 'patch';
}

/** Shares the patches of ended jobs that members ask for, one after the other. */
export function createPatchSharing(parts: PatchSharingOptions) {
  const { emit } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Of jobs without an answer yet, how often the upload has failed. */
  const failures = new Map<string, number>();
  const begun = new Set<string>();
  let line = Promise.resolve();

  async function answer(asked: AskedPatch): Promise<void> {
    if (signal.aborted) return;
    const { jobId } = asked;
    const failed = failures.get(jobId);
    if (failed === undefined) emit({ type: 'patch-asked', jobId, askedBy: asked.askedBy });
    failures.set(jobId, failed ?? 0);
    const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
    try {
      await share(parts, asked, call);
      emit({ type: 'patch-shared', jobId });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof UploadError) failures.set(jobId, (failed ?? 0) + 1);
      const why = reasonOf(error, failures.get(jobId) ?? 0);
      // The hub did not answer: it asks again.
      if (why === null) return;
      emit({ type: 'patch-refused', jobId, message: why });
      await refuse(parts, asked, why, call);
    }
    failures.delete(jobId);
  }

  return {
    /** The hub repeats this with each heartbeat until it has an answer. */
    ask(asked: AskedPatch): void {
      if (begun.has(asked.jobId)) return;
      begun.add(asked.jobId);
      line = line
        .then(() => answer(asked))
        .catch((error: unknown) => parts.onFault(error))
        .finally(() => begun.delete(asked.jobId));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await line;
    },
  };
}

/** Null: it may be asked for again. Rethrows defects. */
function reasonOf(error: unknown, uploadsFailed: number): string | null {
  if (error instanceof Refusal) return error.message;
  // Its message may name places of this machine.
  if (error instanceof GitError) return 'Git could not make the patch; see the clone.';
  if (error instanceof UploadError) {
    return uploadsFailed < UPLOAD_FAILURES_MAX ? null : error.message;
  }
  const failure = judgeFailure(error);
  return failure.kind === 'refused' ? failure.message : null;
}

async function refuse(
  { settings, options: { workspaceId } }: PatchSharingOptions,
  { jobId, agentId }: AskedPatch,
  why: string,
  call: CallOptions,
): Promise<void> {
  const refusal = why.slice(0, PATCH_REFUSAL_CHARS_MAX);
  try {
    await settings.client.jobs.sharePatch({ workspaceId, jobId, agentId, refusal }, call);
  } catch (error) {
    // The request is over, or the hub asks again.
    judgeFailure(error);
  }
}

/** @throws {Refusal} what may not or cannot be shared; the errors of git and the calls. */
async function share(
  parts: PatchSharingOptions,
  { jobId, agentId }: AskedPatch,
  call: CallOptions & { signal: AbortSignal },
): Promise<void> {
  const { options, settings } = parts;
  const { workspaceId, repositories } = options;
  const record = await readResultRecord(settings.state, jobId);
  if (record === null || record.workspaceId !== workspaceId) {
    throw new Refusal('The agent has no record of the commits of this job any more.');
  }
  const repository = repositories.find(({ repoId }) => repoId === record.repoId);
  if (repository === undefined || !sharesOnRequest(repository)) {
    throw new Refusal('The agent shares no changes of this repository on request.');
  }
  const { baseSha, commitSha, roundBaseSha } = record;
  await findCommits(parts, repository, record, call.signal);
  const upload = async (fromSha: string, fileName: string): Promise<SharedPatch> => {
    const { text, filesOmitted } = await makeText(parts, repository, record, fromSha);
    const bytes = new TextEncoder().encode(text);
    const draft = { workspaceId, fileName, contentType: 'text/x-diff', job: { jobId, agentId } };
    const uploadId = await uploadBytes(settings.client, draft, bytes, call);
    const omitted = filesOmitted === 0 ? {} : { filesOmitted };
    return { uploadId, sizeBytes: bytes.length, ...omitted };
  };
  const name = pathName(jobId);
  const patch = await upload(baseSha, `${name}.patch`);
  const ofRound =
    roundBaseSha === undefined
      ? {}
      : { roundPatch: await upload(roundBaseSha, `${name}-round.patch`) };
  const body = { workspaceId, jobId, agentId, commitSha, patch, ...ofRound };
  await settings.client.jobs.sharePatch(body, call);
}

/** @throws {Refusal} the person has deleted the work. */
async function findCommits(
  { settings }: PatchSharingOptions,
  repository: AgentRepository,
  { baseSha, commitSha, roundBaseSha = baseSha }: ResultRecord,
  signal: AbortSignal,
): Promise<void> {
  const mirror = mirrorOf(settings.state, repository);
  const git = { gitDir: mirror.gitDir, isAfterTool: true, signal } as const;
  const areHere = async () => {
    for (const sha of [baseSha, commitSha, roundBaseSha]) {
      if (!(await hasCommit(git, sha))) return false;
    }
    return true;
  };
  if (await areHere()) return;
  await refreshMirror(mirror, { ...repository, fetchOrigin: false }, settings.toolUser, signal);
  if (!(await areHere())) throw new Refusal('The commit is not in the clone any more.');
}

/** @throws {Refusal} there is nothing to share. */
async function makeText(
  { settingsFor }: PatchSharingOptions,
  repository: AgentRepository,
  { commitSha, secretsIn }: ResultRecord,
  fromSha: string,
) {
  if (secretsIn === null) {
    throw new Refusal('The changes could not be searched for secrets, so they stay here.');
  }
  const { state, token, env } = settingsFor(repository);
  const redactor = createRedactor([token ?? '']);
  redactor.learn(env);
  const range = { mirror: mirrorOf(state, repository), baseSha: fromSha, commitSha };
  const patch = await makePatch(range, redactor, new Set(secretsIn));
  if (patch !== null && patch.text !== '') return patch;
  throw new Refusal('The changes are too large to be shared as a patch, or hold secrets only.');
}
