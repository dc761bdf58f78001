import type { AskedAction, Job, Usage } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { RepositoryMapping } from '../git/git-mirror.ts';
import type { ProcessExit } from '../process/process-run.ts';
import type { LogPart } from './log-part.ts';

/** A job as its tool gets it. */
export interface ToolJob {
  readonly job: Job;
  /** The job's prompt, with the answers to its earlier questions. */
  readonly promptText: string;
  /** The same for a session that knows the earlier rounds of the work. */
  readonly nextPromptText: string;
  /** The job may read but not change files. */
  readonly isReadOnly: boolean;
  /** The tool's own sandbox does not work in the wrap, which takes its place. */
  readonly isSandboxOff: boolean;
  /** The environment of the tool. */
  readonly env: NodeJS.ProcessEnv;
  /** How long a question of the tool waits for a person before the job is parked. */
  readonly holdMs: number;
  /** The tool ends its work when this attempt has cost this much; null: no limit. */
  readonly budgetUsd: number | null;
  /**
   * Removes secrets from a text that leaves the machine. Call it before a text is cut: a part of a
   * secret is not recognized.
   */
  redact(text: string): string;
}

/** The means of an executor to talk with its tool during one attempt of a job. */
export interface ConversationHost extends ToolJob {
  /** The worktree. It has the same path in every attempt of the job on this machine. */
  readonly cwd: string;
  readonly repository: RepositoryMapping;
  /** Fires when the work must stop. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly session: SessionMemory;
  readonly questions: QuestionDesk;
  readonly messages: MessageDesk;
  /**
   * Waits until a question of the job's own tools has had no answer for too long.
   *
   * @returns what the job waits for; null when the signal has fired.
   */
  untilParked(signal: AbortSignal): Promise<string | null>;
  /** Starts the tool. Its standard error is logged. */
  startTool(plan: ToolStart): Promise<ToolProcess>;
  /** Appends to the log. Resolves when more may be written. */
  log(parts: readonly LogPart[]): Promise<void>;
  /** Appends a line of the agent itself to the timeline. */
  note(line: string): Promise<void>;
  /** Shows the current activity, in a few words. */
  report(progress: string): void;
  /** The model has answered: the provider serves this agent. */
  onModelAnswer(): void;
  /** Takes the usage of the attempt so far. It is kept however the attempt ends. */
  onUsage(usage: Usage): void;
}

export interface ToolStart {
  file: string;
  args: readonly string[];
  /** Added to the environment of the job. */
  env: Readonly<Record<string, string>>;
  /** Lines of its standard error that are left out of the log. */
  noise?: RegExp;
}

/** A running tool whose input stays open. */
export interface ToolProcess {
  readonly input: WritableStream<Uint8Array>;
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves when the tool and all processes that it started have ended. */
  readonly exited: Promise<ProcessExit>;
  /** The end of its standard error. */
  lastWords(): string;
  /** Ends the tool with all its processes: SIGTERM, then SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** The memory of a tool's session on this machine, over attempts and restarts. */
export interface SessionMemory {
  /** The tool's own session, to be resumed; null: begin one. */
  readonly sessionId: string | null;
  /** @param sessionId null: the session is not resumed again. */
  keepSessionId(sessionId: string | null): Promise<void>;
  /** The cost of the session, by the tool's last words; it includes earlier attempts. */
  readonly costUsd: number;
  keepCost(costUsd: number): Promise<void>;
  /** Answers that the tool has not been told of in a prompt of this session, oldest first. */
  newAnswers(): KnownAnswer[];
  /** The session has the prompt of this job, and not only those of earlier rounds. */
  readonly isPromptTold: boolean;
  /** Durable: the prompt and these answers are not told again. */
  keepTold(answers: readonly KnownAnswer[]): Promise<void>;
  /** The messages to the job that the session has, by their numbers. */
  readonly messages: SessionMessages;
  keepMessages(messages: SessionMessages): Promise<void>;
}

export interface SessionMessages {
  /** The tool has shown that it has them. */
  told: readonly number[];
  /** They were sent, and the tool may have ended before it read them. */
  sent: readonly number[];
}

/** A message of a person to the job. */
export interface KnownMessage {
  number: number;
  text: string;
  /** It was sent before, and nothing shows whether the session has it. */
  isDoubtful: boolean;
}

/** The messages of people to a job, for a tool that takes them between its turns. */
export interface MessageDesk {
  /**
   * The messages that the session does not have, when the tool has begun or resumed it.
   *
   * @param shown what the session shows of its earlier prompts; null: it shows nothing.
   */
  begin(session: { isResumed: boolean; shown: string | null }): Promise<readonly KnownMessage[]>;
  /** The same when a turn has ended. None if the hub does not answer. */
  next(): Promise<readonly KnownMessage[]>;
  /** Durable, before the tool gets them. */
  sending(messages: readonly KnownMessage[]): Promise<void>;
  /** The tool works on what it was sent. */
  received(): Promise<void>;
}

/** An answer to a question of the job. */
export interface KnownAnswer {
  uncertaintyId: string;
  /** The question. */
  prompt: string;
  mode: string;
  value: string;
  /** The value in words for people, such as the name of an option. */
  label: string;
  /** It is about one action of the tool, which asks again before it acts. */
  isAboutAction: boolean;
}

/** A question for a person. */
export interface Question {
  /** Identifies the question within the job: asked again, it has the same answer. */
  actionKey: string;
  kind: 'approval' | 'choice' | 'missing_fact';
  prompt: string;
  context: string;
  options: readonly QuestionOption[];
  /** The action that it is about, for rules of people; null: no rule may answer. */
  action: AskedAction | null;
}

interface QuestionOption {
  value: string;
  label: string;
  description?: string;
  /** Its meaning to the tool, kept with the answer. */
  meaning?: string;
}

export interface Reply {
  mode: 'answered' | 'assumed' | 'dismissed';
  value: string;
  /** The meaning of the option that was chosen; null: the value is no option with a meaning. */
  meaning: string | null;
  /**
   * Durable: the reply is used, and the same question is a new one from then on. Call it before the
   * tool gets a reply that lets it act, and when the tool has made use of any other.
   */
  used(): Promise<void>;
}

/** Time between SIGTERM and SIGKILL for a tool whose job is parked: its slot is needed. */
export const PARK_GRACE_MS = 300;

/** No person answered within the time for which the tool waits. */
export class HoldOverError extends Error {
  override name = 'HoldOverError';
}

/** Asks people, and keeps their answers until the tool has used them. */
export interface QuestionDesk {
  /**
   * Asks a person and waits. A question that was asked before the tool or the agent was restarted
   * is not asked twice.
   *
   * @throws {HoldOverError} the time for waiting is over; the question stays open.
   */
  ask(question: Question, signal: AbortSignal): Promise<Reply>;
}
