import { hash } from 'node:crypto';
import type { OmittedItem, PackItem } from '@signalbox/contract';
import type { Candidate } from './store-candidates.ts';

export type PackReason = PackItem['reason'];

/** As in the contract's schema. */
const ITEMS_MAX = 1_000;
/** Items whose text was not kept are not copies of each other. */
const hashOfNothing = hash('sha256', '');

/**
 * Spends a budget of tokens on items in the order in which they are offered. Each item is decided
 * once: what was left out for one reason is not looked at again for another.
 */
export class PackSelection {
  readonly chosen: { item: Candidate; reason: PackReason }[] = [];
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

  /** Takes the item or notes why not. An item that does not fit leaves room for smaller ones. */
  offer(item: Candidate, reason: PackReason): void {
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

  #refusalOf(item: Candidate): OmittedItem['reason'] | null {
    if (item.superseded_by !== null) return 'superseded';
    if (item.valid_from !== null && this.#nowMs < item.valid_from) return 'outside_validity';
    if (item.valid_to !== null && this.#nowMs >= item.valid_to) return 'outside_validity';
    const isCopy = item.content_hash !== hashOfNothing && this.#hashes.has(item.content_hash);
    if (isCopy) return 'duplicate';
    const fits = item.tokens <= this.#tokensLeft && this.chosen.length < ITEMS_MAX;
    return fits ? null : 'over_budget';
  }
}

function omittedOf(item: Candidate, reason: OmittedItem['reason']): OmittedItem {
  return { itemId: item.item_id, title: item.title, reason, tokens: item.tokens };
}
