import { TITLE_WEIGHT } from './rank.ts';
import { stemOf } from './stem.ts';
import { type IndexedItem, indexedTermsOf } from './word-index.ts';

/*
 * The keys of the word index on PostgreSQL. An item has two for each of its words: one says, for
 * the whole workspace, where the item has the word; the other names the item's era. All begin
 * with the workspace's number and with whether the item is current, and are free of spaces.
 */

/** Items of an era: as many postings as any word may have in it. */
export const ERA_ROWS = 4_096;

/** Where an item may have a word, and how often it then counts. */
export const places = [
  { place: 'text', frequency: 1 },
  { place: 'title', frequency: TITLE_WEIGHT },
  { place: 'both', frequency: TITLE_WEIGHT + 1 },
] as const;
export type Place = (typeof places)[number]['place'];

const placeMarks: Readonly<Record<Place, string>> = { text: 'x', title: 't', both: 'b' };

/** Whose items a key is about. */
export interface KeyScope {
  /** Shorter than an id, and no other workspace's. */
  workspaceNo: number;
  isCurrent: boolean;
}

/** All keys of an item, with spaces between them. */
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

function stemsOf(text: string): Set<string> {
  return new Set(Array.from(new Set(indexedTermsOf(text)), stemOf));
}

/** @param rowNo which of the workspace's writes the item's was. */
export function eraOf(rowNo: number): number {
  return Math.floor(rowNo / ERA_ROWS);
}

export function placeKey(scope: KeyScope, place: Place, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '.' : ','}${placeMarks[place]}${stem}`;
}

export function eraKey(scope: KeyScope, era: number, stem: string): string {
  return `${scope.workspaceNo}${scope.isCurrent ? '+' : '-'}${era}.${stem}`;
}
