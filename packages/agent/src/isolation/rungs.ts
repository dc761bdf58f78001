import type { IsolationPromise, IsolationRung } from '@signalbox/contract';

export type Rung = IsolationRung;
export type Promised = IsolationPromise;

/** The promises that each rung has to keep. */
export const promisesOf: Readonly<Record<Rung, readonly Promised[]>> = {
  // The permissions of files decide what else that user may read and write.
  user: ['agent-files', 'processes'],
  // The tool's own sandbox: reading is free.
  tool: ['writes'],
  wrap: ['agent-files', 'home', 'writes', 'processes', 'end'],
};

/** A rung that is in use and did not hold. */
export interface BrokenRung {
  rung: Rung;
  why: string;
  /** No program starts in it. */
  isDead?: true;
}

/** The rungs that were tried and held. */
export interface Proof {
  rungs: readonly Rung[];
  proved: readonly Promised[];
  broken: readonly BrokenRung[];
}

/** A rung that is asked for does not hold here; the message says why. */
export class IsolationError extends Error {
  override name = 'IsolationError';
}

/** The proofs that hold for all tools of an agent. */
export function mergeProofs(proofs: readonly Proof[]): Proof {
  const isOfAll = <T>(list: (proof: Proof) => readonly T[], one: T) =>
    proofs.every((proof) => list(proof).includes(one));
  const [first] = proofs;
  return {
    rungs: first?.rungs.filter((rung) => isOfAll((proof) => proof.rungs, rung)) ?? [],
    proved: first?.proved.filter((one) => isOfAll((proof) => proof.proved, one)) ?? [],
    broken: proofs.flatMap(({ broken }) => broken),
  };
}
