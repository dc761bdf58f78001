import {
  type BuildsOn,
  CONFLICTS_NAMED_MAX,
  type EvidenceCheck,
  type Job,
  type LandingResult,
  type Work,
} from '@signalbox/contract';
import { JobFailure } from '../job/job-work.ts';
import type { LandingEvidence } from './landing-options.ts';

/** The approved commit of a work, and where it is. */
export interface ApprovedWork {
  /** The round that was approved. */
  round: Job;
  title: string;
  approval: NonNullable<Work['approval']>;
  branch: string;
  isPushed: boolean;
  /** The jobs that it builds on, with the commits that it has of them. */
  builtOn: NonNullable<BuildsOn['jobs']>;
  /** The round had failing checks, and a person approved it all the same. */
  mayFailChecks: boolean;
}

/** The findings of a landing so far; told with its outcome, whichever it is. */
export interface Landing {
  landing?: LandingResult;
  evidence: Partial<LandingEvidence> & { checks?: EvidenceCheck[] };
}

/** The failure of a landing that conflicts with the base, with the command that continues it. */
export function failOfConflicts(
  found: Landing,
  { round }: ApprovedWork,
  into: string,
  files: readonly string[],
): JobFailure {
  const conflicts = files.slice(0, CONFLICTS_NAMED_MAX);
  found.landing = { result: 'conflicts', into, conflicts };
  const named = conflicts.slice(0, 5).join(', ');
  const more = conflicts.length > 5 ? ` and ${files.length - 5} more` : '';
  const ask = `"Rebase onto ${into} and resolve the conflicts in ${named}${more}"`;
  const way = `Continue it: signalbox job continue ${round.jobId} ${ask}`;
  const why = `The work conflicts with ${into} in ${named}${more}.`;
  return new JobFailure('execution', 'conflicts', `${why} ${way}`);
}
