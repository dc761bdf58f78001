import { TITLE_WEIGHT } from './rank.ts';
import type { IndexedItem, SplitText } from './word-index.ts';

/*
 * The keys of the word index on PostgreSQL. An item has two keys for each of its words. One is
 * searched over the whole workspace and says where the item has the word (title, text or both).
 * The other contains the item's era, a range of consecutive writes. All keys begin with the
 * workspace's number and whether the item is current, and contain no spaces.
 */

/** Items in an era, and so the maximum of postings that a word has in one. */
export const ERA_ROWS = 4_096;

/** Where an item may have a word, and the frequency that this counts as. */
export const places = [
  { place: 'text', frequency: 1 },
  { place: 'title', frequency: TITLE_WEIGHT },
  { place: 'both', frequency: TITLE_WEIGHT + 1 },
] as const;
export type Place = (typeof places)[number]['place'];

const placeMarks: Readonly<Record<Place, string>> = { text: 'x', title: 't', both: 'b' };

/** The items that a key applies to. */
export interface KeyScope {
  /** Unique, and shorter than the workspace's id. */
  workspaceNo: number;
  isCurrent: boolean;
}

/** Returns all keys of an item, separated by spaces. */
export function keysOf(item: IndexedItem, workspaceNo: number, rowNo: number): string {
  const scope = { workspaceNo, isCurrent: item.isCurrent };
  const inTitle = stemsOf(item.title);
  const inText = stemsOf(item.text);
  const era = eraOf(rowNo);
  const keys: string[] = [];
  const add = (place: Place, stems: ReadonlySet<string>) => {
    for (const stem of stems) keys.push(placeKey(scope, place, stem), eraKey(scope, era, stem));
  };
  add('both', inTitle.intersection(inText));
  add('title', inTitle.difference(inText));
  add('text', inText.difference(inTitle));
  return keys.join(' ');
}

function stemsOf({ words }: SplitText): Set<string> {
  return new Set(words === '' ? [] : words.split(' '));
}

/** @param rowNo the item's number in the order of the workspace's writes. */
export function eraOf(rowNo: number): number {
  return Math.floor(rowNo / ERA_ROWS);
}

export function placeKey(scope: KeyScope, place: Place, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '.' : ','}${placeMarks[place]}${stem}`;
}

export function eraKey(scope: KeyScope, era: number, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '+' : '-'}${era}.${stem}`;
}
