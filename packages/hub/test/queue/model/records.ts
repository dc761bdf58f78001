import type {
  agentStatuses,
  ClaimWords,
  Command,
  JobWords,
  Preset,
  ReportWords,
} from './commands.ts';

/** An answer: the fields of a success in the model's numbers, or the code of a refusal. */
export type Answer = Record<string, unknown>;

/** A command as it is sent, with its agent and generation resolved. */
export type Act =
  | Exclude<Command, ClaimWords | { type: 'replay' | 'report' }>
  | (ReportWords<SentPart> & { agent: number })
  | (Omit<Extract<Command, { type: 'heartbeat' }>, 'agent' | 'generation'> & SentClaim)
  | (Omit<Extract<Command, { type: 'complete' }>, 'agent' | 'generation'> & SentClaim);
type SentPart = Pick<SentClaim, 'generation'> & { job: number };
export type SentClaim = { agent: number; generation: number | null };
export type ActOf<Type> = Extract<Act, { type: Type }>;

export interface ModelAgent {
  status: (typeof agentStatuses)[number];
  preset: Preset;
  seenAtMs: number;
}

export interface ModelJob {
  words: JobWords;
  kind: string;
  asks: readonly string[];
  /** Whether its tool may change files. */
  mayWrite: boolean;
  /** Jobs that apply answers are in the run of the question, and their children as well. */
  inRun: boolean;
  sortKey: number;
  status: 'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled';
  attempt: number;
  maxAttempts: number;
  agent: number | null;
  leaseEndsAt: number | null;
  availableAt: number;
  /** Delayed until a sweep or an empty claim after its time makes it ready. */
  sleeps: boolean;
  keptFor: { agent: number; untilMs: number } | null;
  claimKey: string | null;
  cancelAsked: boolean;
  outcome: string | null;
  accepted: { sent: string; attempt: number; answer: Answer } | null;
  late: Set<string>;
  holders: Set<number>;
  foldsHeartbeats: boolean;
  /** Entries of output of the attempt. */
  lines: number;
  answers: number[];
  timeline: string[];
}
