import type { Uncertainty, UncertaintyKind } from '@signalbox/contract';

/**
 * The kinds that a person may answer by an assistant or in a message. A new kind is not among them.
 */
const answerable: ReadonlySet<UncertaintyKind> = new Set([
  'missing_fact',
  'choice',
  'constraint',
  'config',
]);

/**
 * Whether only a person at the console settles a question: an approval, a risk, or the action of a
 * tool. An assistant reads texts of agents, and one of them may ask it to approve everything. A
 * message shows less than the console, and others may send one as the person.
 */
export function isForConsole({
  kind,
  actionKey,
}: Pick<Uncertainty, 'kind' | 'actionKey'>): boolean {
  return actionKey !== null || !answerable.has(kind);
}
