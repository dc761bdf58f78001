import { type IndexedItem, indexedTermsOf, TITLE_WEIGHT } from './search-index.ts';
import { stemOf } from './search-stem.ts';

/*
 * The keys of the word index on PostgreSQL. An item has two for each of its words: one says, for
 * the whole workspace, how often the item has the word; the other names the item's era. All begin
 * with the workspace's number and with whether the item is current, and are free of spaces.
 */

/** Items of an era: as many postings as any word may have in it. */
export const ERA_ROWS = 4_096;

/** Frequencies that keys tell apart, the highest first, and what each of them ranks as. */
export const frequencies = [
  { level: 5, from: 11, ranksAs: 16 },
  { level: 4, from: 6, ranksAs: 7.5 },
  { level: 3, from: 4, ranksAs: 4.5 },
  { level: 2, from: 3, ranksAs: 3 },
  { level: 1, from: 2, ranksAs: 2 },
  { level: 0, from: 0, ranksAs: 1 },
];

/** Whose items a key is about. */
export interface KeyScope {
  /** Shorter than an id, and no other workspace's. */
  workspaceNo: number;
  isCurrent: boolean;
}

/** All keys of an item, with spaces between them. */
export function keysOf(item: IndexedItem, workspaceNo: number, rowNo: number): string {
  const scope = { workspaceNo, isCurrent: item.isCurrent };
  const weights = new Map<string, number>();
  const count = (terms: readonly string[], weight: number) => {
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + weight);
  };
  count(indexedTermsOf(item.title), TITLE_WEIGHT);
  count(indexedTermsOf(item.text), 1);
  const stems = new Map<string, number>();
  for (const [term, weight] of weights) {
    const stem = stemOf(term);
    stems.set(stem, (stems.get(stem) ?? 0) + weight);
  }
  const era = eraOf(rowNo);
  const keys: string[] = [];
  for (const [stem, weight] of stems) {
    const { level } = frequencies.find(({ from }) => weight >= from) ?? { level: 0 };
    keys.push(frequencyKey(scope, level, stem), eraKey(scope, era, stem));
  }
  return keys.join(' ');
}

/** @param rowNo which of the workspace's writes the item's was. */
export function eraOf(rowNo: number): number {
  return Math.floor(rowNo / ERA_ROWS);
}

export function frequencyKey(scope: KeyScope, level: number, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '.' : ','}${level}${stem}`;
}

export function eraKey(scope: KeyScope, era: number, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '+' : '-'}${era}.${stem}`;
}
