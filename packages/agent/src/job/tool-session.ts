import { existsSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildsOn, Job } from '@signalbox/contract';
import type {
  KnownAnswer,
  Reply,
  SessionMemory,
  SessionMessages,
} from '../executors/conversation.ts';
import { isObject } from '../executors/json-fields.ts';
import { removeToolTree } from '../process/tool-file.ts';
import { readJsonFile, type StateDirectory, writeFileDurably } from '../state-directory.ts';
import { type ClaimedJob, pathName } from './attempt.ts';
import { findWorkRecord, workIdOf } from './work-record.ts';

/** The memory of a job whose tool can be resumed: `sessions/<job>/session.json`. */
interface SessionRecord {
  workspaceId: string;
  jobId: string;
  executor: string;
  /** The last attempt that used the session. */
  claimGeneration: number;
  sessionId: string | null;
  costUsd: number;
  branch: string;
  /** The session has the prompt of this job, and not only those of earlier rounds. */
  isPromptTold: boolean;
  /** The commit that the worktree began with; null: there is no worktree yet. */
  baseSha: string | null;
  /** The base of the work, for its evidence. */
  buildsOn?: BuildsOn;
  /** Commits at which attempts of the job have left its branch in the clone. */
  published: string[];
  questions: QuestionRecord[];
  /** Uncertainties whose answers the tool was told of. */
  told: string[];
  messages: SessionMessages;
}

/** A question that the tool of a job has asked. */
export interface QuestionRecord {
  uncertaintyId: string;
  actionKey: string;
  labels: Record<string, string>;
  /** The meanings of the options, by their values. */
  meanings: Record<string, string>;
  isAboutAction: boolean;
  /** Null: it is open. Written durably before the answer is taken at the hub. */
  answer: Pick<Reply, 'mode' | 'value'> | null;
  /**
   * The answer is used: asked again, it is another question. An answer that allows an action is
   * used before the tool has it, every other one when the tool has made use of it.
   */
  isUsed: boolean;
}

/** A session of a job on this machine, kept until the job has ended. */
export interface ToolSession extends SessionMemory {
  /** The worktree of the job, at the same place in every attempt. */
  readonly worktree: string;
  readonly evidenceDir: string;
  readonly attachments: string;
  /** The report of the attempt whose agent was killed. The file may be absent. */
  readonly reportFile: string;
  readonly branch: string;
  /** The first commit of a worktree that is there already; null: make one. */
  readonly baseSha: string | null;
  readonly buildsOn: BuildsOn | undefined;
  keepBase(baseSha: string, branch: string, buildsOn: BuildsOn | undefined): Promise<void>;
  /** Commits at which attempts of the job have left its branch in the clone. */
  readonly published: readonly string[];
  /** Durable, before the branch is moved there. */
  keepPublished(commitSha: string): Promise<void>;
  /** The answer or the open question about an action that the tool has not used yet. */
  findQuestion(actionKey: string): QuestionRecord | undefined;
  keepQuestion(question: QuestionRecord): Promise<void>;
  /** Forgets everything, with the worktree. */
  remove(): Promise<void>;
}

/** A parked job whose answer came to another machine, or never, is forgotten after this time. */
const RETENTION_MS = 14 * 24 * 60 * 60_000;
const QUESTIONS_MAX = 1_000;

/**
 * Opens the session of a job. One that an earlier attempt on this machine has left is continued if
 * that was the last attempt: otherwise the job has gone on elsewhere, and its files are old.
 */
export async function openToolSession(options: {
  state: StateDirectory;
  claimed: ClaimedJob;
  executor: string;
  /** The name of the coding tool. */
  tool: string;
  branch: string;
}): Promise<ToolSession> {
  const { state, claimed } = options;
  const path = sessionPath(state, claimed.job);
  const file = join(path, 'session.json');
  const before = await findWorkRecord(state, claimed.job, options);
  const fresh: SessionRecord = {
    workspaceId: claimed.workspaceId,
    jobId: claimed.jobId,
    executor: options.executor,
    claimGeneration: claimed.claimGeneration,
    sessionId: before?.sessionId ?? null,
    costUsd: before?.costUsd ?? 0,
    branch: options.branch,
    isPromptTold: false,
    baseSha: null,
    published: [],
    questions: [],
    told: [],
    messages: { told: [], sent: [] },
  };
  const found = (await readJsonFile(file)) as SessionRecord | null;
  const isMine = isObject(found) && isContinued(found, fresh) && hasFiles(found, path);
  if (!isMine) await removeToolTree(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { claimGeneration } = claimed;
  const record = isMine ? { ...found, claimGeneration } : fresh;
  let saved = Promise.resolve();
  const save = () => {
    saved = saved.then(() => writeFileDurably(file, `${JSON.stringify(record, null, 2)}\n`));
    return saved;
  };
  await save();
  return createSession(record, save, path, claimed.job);
}

function isContinued(found: SessionRecord, fresh: SessionRecord): boolean {
  return (
    found.workspaceId === fresh.workspaceId &&
    found.jobId === fresh.jobId &&
    found.executor === fresh.executor &&
    found.claimGeneration === fresh.claimGeneration - 1
  );
}

/** People may delete a worktree that waits for an answer: then there is nothing to continue. */
function hasFiles({ baseSha }: SessionRecord, path: string): boolean {
  if (baseSha === null) return true;
  return existsSync(worktreeOf(path)) && existsSync(evidenceOf(path));
}

function worktreeOf(path: string): string {
  return join(path, 'worktree');
}

function evidenceOf(path: string): string {
  return join(path, 'evidence.git');
}

function createSession(
  record: SessionRecord,
  save: () => Promise<void>,
  path: string,
  job: Job,
): ToolSession {
  function keep(fields: Partial<SessionRecord>): Promise<void> {
    Object.assign(record, fields);
    return save();
  }
  return {
    worktree: worktreeOf(path),
    evidenceDir: evidenceOf(path),
    attachments: join(path, 'attachments'),
    reportFile: join(path, 'report.ndjson'),
    branch: record.branch,
    baseSha: record.baseSha,
    get sessionId() {
      return record.sessionId;
    },
    keepSessionId: (sessionId) => keep({ sessionId }),
    get costUsd() {
      return record.costUsd;
    },
    keepCost: (costUsd) => keep({ costUsd }),
    buildsOn: record.buildsOn,
    keepBase: (baseSha, branch, buildsOn) =>
      keep({ baseSha, branch, ...(buildsOn && { buildsOn }) }),
    get published() {
      return record.published;
    },
    keepPublished: (commitSha) => keep({ published: [...record.published, commitSha] }),
    findQuestion: (actionKey) =>
      record.questions.findLast((one) => one.actionKey === actionKey && !one.isUsed),
    keepQuestion(question) {
      const others = record.questions.filter(
        ({ uncertaintyId }) => uncertaintyId !== question.uncertaintyId,
      );
      return keep({ questions: [...others, question].slice(-QUESTIONS_MAX) });
    },
    newAnswers: () => newAnswers(record, job),
    get isPromptTold() {
      return record.isPromptTold;
    },
    keepTold(answers) {
      const ids = answers.map(({ uncertaintyId }) => uncertaintyId);
      return keep({ isPromptTold: true, told: [...new Set([...record.told, ...ids])] });
    },
    get messages() {
      return record.messages;
    },
    keepMessages: (messages) => keep({ messages }),
    remove: () => removeToolTree(path),
  };
}

/** Answers of the hub that came with the claim, and those that this machine has stored. */
function newAnswers(record: SessionRecord, job: Job): KnownAnswer[] {
  const byId = new Map(record.questions.map((one) => [one.uncertaintyId, one]));
  return job.decisions
    .filter(({ uncertaintyId }) => !record.told.includes(uncertaintyId))
    .filter(({ uncertaintyId }) => byId.get(uncertaintyId)?.isUsed !== true)
    .map(({ uncertaintyId, prompt, mode, value }): KnownAnswer => {
      const asked = byId.get(uncertaintyId);
      const label = asked?.labels[value] ?? value;
      return {
        uncertaintyId,
        prompt,
        mode,
        value,
        label,
        isAboutAction: asked?.isAboutAction ?? false,
      };
    });
}

/** At the same place in all rounds of a work: a tool may find its session by the directory. */
export function sessionPath(state: StateDirectory, job: Job): string {
  return join(state.sessions, pathName(workIdOf(job)));
}

/** Removes sessions and records of works that were not continued for a long time. */
export async function pruneSessions(state: StateDirectory, nowMs: number): Promise<void> {
  for (const folder of [state.works, state.sessions]) {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const { mtimeMs } = await stat(path);
      if (nowMs - mtimeMs > RETENTION_MS) await removeToolTree(path);
    }
  }
}
