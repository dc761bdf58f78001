import type { Uncertainty, UncertaintyKind } from '@signalbox/contract';

/** The kinds that an assistant may answer for its person. A new kind is not among them. */
const answerable: ReadonlySet<UncertaintyKind> = new Set([
  'missing_fact',
  'choice',
  'constraint',
  'config',
]);

/**
 * Whether only a person at the console settles a question: an approval, a risk, or the action of a
 * tool. The assistant reads texts of agents, and one of them may ask it to approve everything.
 */
export function isForConsole({
  kind,
  actionKey,
}: Pick<Uncertainty, 'kind' | 'actionKey'>): boolean {
  return actionKey !== null || !answerable.has(kind);
}
