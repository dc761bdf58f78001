import type { Job, Usage } from '@signalbox/contract';
import type { OwnSandbox } from '../isolation/bubblewrap.ts';
import type { Proof } from '../isolation/rungs.ts';
import type { ToolUser } from '../process/tool-user.ts';
import type { OfferedModels } from './asked-tool.ts';
import type { ConversationHost, SessionMemory, ToolJob } from './conversation.ts';
import type { LogPart } from './log-part.ts';
import type { ToolFailure } from './tool-failure.ts';

/** The tool that works on a job: any command, Claude Code or Codex. */
export interface Executor {
  readonly name: string;
  /** Its tool has sessions: a job that is interrupted continues in the same directory. */
  readonly hasSessions?: true;
  /**
   * Checks that the tool is installed, logged in and able to work, before any job is claimed.
   *
   * @param user that the tool will run as, whose login this process cannot see; null: the agent's.
   * @throws {ExecutorMissingError} with a message that says what to do.
   * @throws {ExecutorLoginError}
   * @throws {ExecutorSandboxError}
   */
  check(env: NodeJS.ProcessEnv, user?: ToolUser | null): Promise<ExecutorTool>;
  /** The coding tool, by the name of its login, if it calls a provider: `claude`, `codex`. */
  readonly tool?: string;
  /** The model that a job gets, or that jobs get by default; '' is the tool's own default. */
  modelOf?(requirements: Job['requirements']): string;
  /** The models that jobs may ask for; null while they are not known, so that any may be. */
  offeredModels?(): OfferedModels | null;
  /** Runs a program in the tool's own sandbox. Called after `check`; null: it has none. */
  ownSandbox?(isReadOnly: boolean): OwnSandbox | null;
  /** Whether the tool reports its cost, so that a job ends when it has spent its budget. */
  reportsCost?(): boolean;
  /** Returns how to run the tool for one job. */
  plan(request: ExecutorRequest): ExecutorPlan;
  /** Says in a few words how the tool is restricted, for the person who starts the agent. */
  describe?(): string[];
}

export interface ExecutorTool {
  /** The version that the tool prints; null when it prints none. */
  version: string | null;
  /** Sentences for the person who starts the agent about the permissions of the tool. */
  warnings?: readonly string[];
  /** How it is kept from the machine, as the agent has tried at its start. */
  proof?: Proof;
}

export interface ExecutorRequest extends ToolJob {
  /** Absent: the executor has no sessions. */
  session?: SessionMemory;
  /** The tool's working directory. */
  worktree: string;
  /** The directory in which the tool may write files for the agent. */
  toolFiles: string;
  /** In `toolFiles`: where the tool may write its result (`result-file.ts`). */
  resultFile: string;
  /** The directory of the files that are attached to the job. Absent: the job has no files. */
  attachments?: string;
  /** The wall clock. */
  nowMs(): number;
}

export interface ExecutorPlan {
  file: string;
  args: readonly string[];
  stdin: string;
  /** Variables beside those of the job. */
  env?: Readonly<Record<string, string>>;
  /** Reads JSON events from standard output. Absent: the output is plain text for people. */
  reader?: OutputReader;
  /** Finds the id of the tool's session in a line of output; null: it is not there. */
  findSession?(line: string): string | null;
  /** Talks with the tool while it runs, instead of `stdin` and `reader`. It can ask people. */
  converse?(host: ConversationHost): Promise<ExecutorReport>;
}

/** The part of a request that a reader of the tool's events needs. */
export type ReaderMeans = Pick<ExecutorRequest, 'worktree' | 'redact' | 'nowMs'>;

/** Converts the tool's events to text for the timeline and collects what they report. */
export interface OutputReader {
  readLine(line: string): ReadLine;
  /**
   * Returns the tool's report. Call it after the tool has ended.
   *
   * @param env of the tool, which says where it keeps its sessions.
   */
  report(env: NodeJS.ProcessEnv): ExecutorReport | Promise<ExecutorReport>;
}

export interface ReadLine {
  /** For the log; empty for events that are not shown. */
  parts: readonly LogPart[];
  /** The tool's current activity, in a few words. */
  progress?: string;
  /** The model answered: the provider serves this agent. */
  hasAnswer?: true;
  /** The usage of the tool so far in this attempt. */
  usage?: Usage;
}

export interface ExecutorReport {
  /** The tool itself reports a failure, independent of its exit code. */
  failure?: ToolFailure;
  /** The permission mode in which the tool worked. */
  mode?: string;
  /** Tool calls that were refused for lack of permission, such as `Bash: npm test`. */
  denied?: string[];
  /** Actions outside the agent's own rules that the tool took without asking. */
  unasked?: string[];
  /** Sentences on what may have answered the tool before the agent was asked. */
  warnings?: string[];
  /** The tool waits for a person. It was ended; the answer lets it continue. */
  blocked?: { summary: string };
  /** The tool's name and version by its own words. */
  tool?: { name: string; version: string };
  /** The tool's last message: the result for people. */
  message?: string;
  usage?: Usage;
  sessionId?: string;
}

/** The tool is not logged in: it would fail every job. */
export class ExecutorLoginError extends Error {
  override name = 'ExecutorLoginError';
}

/** The tool's own sandbox does not work: its commands would fail in every job. */
export class ExecutorSandboxError extends Error {
  override name = 'ExecutorSandboxError';
}

/** The tool cannot be given the prompt of a job. */
export class PromptTooLongError extends Error {
  override name = 'PromptTooLongError';
}

/** The tool is not on the PATH. */
export class ExecutorMissingError extends Error {
  override name = 'ExecutorMissingError';
}
