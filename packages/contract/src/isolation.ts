/** Ways to keep a tool from what is on the machine. An agent may have several at a time. */
export const isolationRungs = ['user', 'tool', 'wrap'] as const;
export type IsolationRung = (typeof isolationRungs)[number];

/** What a rung keeps a tool from, in the words that people read. An agent has tried each. */
export const isolationPromises = {
  'agent-files': 'cannot read the login and the state of the agent',
  home: 'cannot read your home directory and clones, except for named paths',
  writes: 'cannot write outside of its own directories',
  processes: 'cannot read or end processes of others',
  end: 'leaves no process behind',
} as const;
export type IsolationPromise = keyof typeof isolationPromises;

/** What holds for a tool, as an agent has tried: in the evidence of a job, `executor.isolation`. */
export interface ToldIsolation {
  rungs: readonly string[];
  /** Names of `isolationPromises`. */
  proved: readonly string[];
  /** The user that the tool ran as. */
  user?: string;
}

/** The rungs that hold, and what they were found to keep, in a line. */
export function describeIsolation({ rungs, proved, user }: ToldIsolation): string {
  const as = user === undefined ? '' : `, as ${user}`;
  if (rungs.length === 0) return `none: the tool can do what its user can${as}`;
  const words: Readonly<Record<string, string>> = isolationPromises;
  const kept = proved.map((name) => words[name] ?? name).join('; ');
  // No rung of the agent keeps a tool from the network, which is said with it.
  return `${rungs.join(' and ')}${as}. Tried: it ${kept}. The agent does not limit the network.`;
}

/** Reads `executor.isolation` of evidence, which may have any form; null if it does not say. */
export function readIsolation(evidence: unknown): ToldIsolation | null {
  const { executor } = (evidence ?? {}) as { executor?: { isolation?: Partial<ToldIsolation> } };
  const { rungs, proved, user } = executor?.isolation ?? {};
  const isTexts = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((each) => typeof each === 'string');
  if (!isTexts(rungs) || !isTexts(proved)) return null;
  return { rungs, proved, ...(typeof user === 'string' ? { user } : {}) };
}
