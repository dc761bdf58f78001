import { hash } from 'node:crypto';
import type { OmittedItem, PackItem } from '@signalbox/contract';
import type { PackCandidate } from './store.ts';

export type PackReason = PackItem['reason'];

/** The limit of the contract's schema. */
const ITEMS_MAX = 1_000;
/** Items without text are not duplicates of each other, although their hashes are equal. */
const hashOfNothing = hash('sha256', '');

/**
 * Selects items within a budget of tokens, in the order in which they are offered. Each item is
 * decided once: an item that was omitted is not considered again for another reason.
 */
export class PackSelection {
  readonly chosen: { item: PackCandidate; reason: PackReason }[] = [];
  readonly omitted: OmittedItem[] = [];
  readonly #nowMs: number;
  readonly #decided = new Set<string>();
  readonly #hashes = new Set<string>();
  #tokensLeft: number;

  constructor(tokenBudget: number, nowMs: number) {
    this.#tokensLeft = tokenBudget;
    this.#nowMs = nowMs;
  }

  get tokensLeft(): number {
    return this.#tokensLeft;
  }

  /** Selects the item or records why not. A smaller item may fit after one that did not. */
  offer(item: PackCandidate, reason: PackReason): void {
    if (this.#decided.has(item.item_id)) return;
    this.#decided.add(item.item_id);
    const refusal = this.#refusalOf(item);
    if (refusal !== null) {
      if (this.omitted.length < ITEMS_MAX) this.omitted.push(omittedOf(item, refusal));
      return;
    }
    this.#tokensLeft -= item.tokens;
    this.#hashes.add(item.content_hash);
    this.chosen.push({ item, reason });
  }

  #refusalOf(item: PackCandidate): OmittedItem['reason'] | null {
    if (item.superseded_by !== null) return 'superseded';
    if (item.valid_from !== null && this.#nowMs < item.valid_from) return 'outside_validity';
    if (item.valid_to !== null && this.#nowMs >= item.valid_to) return 'outside_validity';
    const isCopy = item.content_hash !== hashOfNothing && this.#hashes.has(item.content_hash);
    if (isCopy) return 'duplicate';
    const fits = item.tokens <= this.#tokensLeft && this.chosen.length < ITEMS_MAX;
    return fits ? null : 'over_budget';
  }
}

function omittedOf(item: PackCandidate, reason: OmittedItem['reason']): OmittedItem {
  return { itemId: item.item_id, title: item.title, reason, tokens: item.tokens };
}
