import type { Job, Usage } from '@signalbox/contract';

/** The tool that does the work of a job: any command, Claude Code, Codex. */
export interface Executor {
  readonly name: string;
  /**
   * Makes sure that the tool is there, before any job is claimed for it.
   * Throws `ExecutorMissingError` with a sentence that says what to do.
   */
  check(env: NodeJS.ProcessEnv): Promise<ExecutorTool>;
  /** How to run the tool for one job. */
  plan(request: ExecutorRequest): ExecutorPlan;
}

export interface ExecutorTool {
  /** What the tool calls its version; null when it has none. */
  version: string | null;
}

export interface ExecutorRequest {
  job: Job;
  /** The job's prompt, with the answers that people have given to its questions. */
  promptText: string;
  /** The job may look but not change anything. */
  isReadOnly: boolean;
}

export interface ExecutorPlan {
  file: string;
  args: readonly string[];
  stdin: string;
  /** Reads a stream of JSON events on standard output. Absent: the output is for people as is. */
  reader?: OutputReader;
}

/** Turns the tool's own events into text for the timeline, and remembers what they report. */
export interface OutputReader {
  readLine(line: string): ReadLine;
  /** What the tool has said about itself, once it has ended. */
  report(): ExecutorReport;
}

export interface ReadLine {
  /** For the log; empty for events that nobody needs to see. */
  text: string;
  /** What the tool is doing now, in a few words. */
  progress?: string;
}

export interface ExecutorReport {
  /** The tool itself says that it failed, whatever its exit code. */
  failure?: { code: string; summary: string };
  /** The tool's last words, the result for people. */
  message?: string;
  usage?: Usage;
  sessionId?: string;
}

/** The tool is not on the PATH. */
export class ExecutorMissingError extends Error {
  override name = 'ExecutorMissingError';
}
