import { createRequire } from 'node:module';
import { PATTERN_CHARS_MAX, type TriggerCondition, type TriggerMatch } from '@signalbox/contract';
import type { RE2JS } from 're2js';
import { invalidField } from '../base/errors.ts';
import { parsePath, readPath } from './value-path.ts';

/** The fields that all forms of an inbound event have. */
export interface EventFields {
  channel: 'ingest' | 'chat';
  source: string;
  type: string;
  title: string | null;
  /** The text of the context item. Null: `data` as JSON is used. */
  content: string | null;
  actor: string | null;
  threadRef: string | null;
  sourceRef: string | null;
  data: unknown;
  /** Extension attributes of a CloudEvent. */
  extensions: Record<string, unknown>;
}

/** An inbound event as conditions and templates see it. The names are those of their paths. */
export interface EventView extends EventFields {
  id: string;
  occurredAt: string;
  contextItemId: string | null;
}

/**
 * How much of a value a pattern is matched against. RE2 takes time in proportion to text and
 * pattern, so this and the next two limits bound the cost of a hostile event.
 */
export const MATCHED_CHARS_MAX = 10_000;
/** Steps of a compiled pattern. */
const PROGRAM_STEPS_MAX = 500;
const PATTERNS_KEPT_MAX = 500;
/**
 * Work of all patterns for one event, in steps of patterns times characters: some 100 ms. A pattern
 * of 50 steps for a text of 1,000 characters takes a sixtieth of it.
 */
export const MATCH_WORK_MAX = 3_000_000;
/** The mismatch of a trigger whose patterns were not tried any more. */
export const NO_WORK_LEFT = 'budget';

/** The work that is left for the patterns of all triggers and one event. */
export class MatchBudget {
  #left = MATCH_WORK_MAX;
  readonly #texts = new Map<unknown, string>();

  /** @returns false when the work is more than what is left. */
  spend(work: number): boolean {
    if (work > this.#left) return false;
    this.#left -= work;
    return true;
  }

  /** A value as patterns see it; made once for each value of the event. */
  textOf(value: string | number | boolean): string {
    let text = this.#texts.get(value);
    if (text === undefined) {
      text = String(value).slice(0, MATCHED_CHARS_MAX);
      this.#texts.set(value, text);
    }
    return text;
  }
}

class NoWorkLeft extends Error {}

const require = createRequire(import.meta.url);
/** Loaded on first use: RE2 contains Unicode's tables, and most hubs never use a pattern. */
const loadRe2 = (): typeof import('re2js') => require('re2js');

const patterns = new Map<string, RE2JS>();

/**
 * Returns the first part of a match that an event does not fulfil, such as `type` or `where/1`, or
 * `NO_WORK_LEFT`. Null when it fulfils all parts.
 *
 * @param budget shared by all triggers of the event.
 */
export function findMismatch(
  match: TriggerMatch,
  view: EventView,
  budget: MatchBudget,
): string | null {
  if (match.source !== undefined && match.source !== view.source) return 'source';
  if (match.type !== undefined && match.type !== view.type) return 'type';
  try {
    const at = (match.where ?? []).findIndex((condition) => !isFulfilled(condition, view, budget));
    return at === -1 ? null : `where/${at}`;
  } catch (error) {
    if (error instanceof NoWorkLeft) return NO_WORK_LEFT;
    throw error;
  }
}

function isFulfilled(
  { path, op, value: wanted }: TriggerCondition,
  view: EventView,
  budget: MatchBudget,
): boolean {
  const value = readPath(view, parsePath(path) ?? []);
  const isThere = value !== undefined && value !== null;
  switch (op) {
    case 'eq':
      return value !== undefined && value === wanted;
    case 'ne':
      return value !== wanted;
    case 'exists':
      return isThere === (wanted !== false);
    case 'contains':
      if (Array.isArray(value)) return value.includes(wanted);
      return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted);
    case 'matches':
      return typeof wanted === 'string' && isText(value) && matches(wanted, value, budget);
  }
}

function isText(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** @throws NoWorkLeft */
function matches(pattern: string, value: string | number | boolean, budget: MatchBudget): boolean {
  const compiled = compilePattern(pattern);
  const text = budget.textOf(value);
  if (!budget.spend(compiled.programSize() * (text.length + 1))) throw new NoWorkLeft();
  return compiled.matcher(text).find();
}

function compilePattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = loadRe2().RE2JS.compile(pattern);
    if (patterns.size >= PATTERNS_KEPT_MAX) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled;
}

/**
 * Refuses conditions that cannot be evaluated.
 * @throws HubError INVALID_REQUEST
 */
export function checkMatch(match: TriggerMatch): void {
  for (const [at, { path, op, value }] of (match.where ?? []).entries()) {
    const place = `/match/where/${at}`;
    if (parsePath(path) === null) throw invalidField(`${place}/path`, 'must be a path to a value');
    if (op === 'exists') {
      if (value !== undefined && typeof value !== 'boolean') {
        throw invalidField(`${place}/value`, 'must be true or false with exists');
      }
    } else if (value === undefined) {
      throw invalidField(`${place}/value`, `is required with ${op}`);
    } else if (op === 'matches') {
      checkPattern(`${place}/value`, value);
    }
  }
}

function checkPattern(place: string, value: unknown): void {
  if (typeof value !== 'string' || value.length > PATTERN_CHARS_MAX) {
    throw invalidField(place, `must be a pattern of at most ${PATTERN_CHARS_MAX} characters`);
  }
  try {
    if (compilePattern(value).programSize() <= PROGRAM_STEPS_MAX) return;
  } catch (error) {
    if (!(error instanceof loadRe2().RE2JSSyntaxException)) throw error;
    throw invalidField(place, `must be a regular expression of RE2 (${error.getDescription()})`);
  }
  patterns.delete(value);
  throw invalidField(place, 'must have fewer repetitions');
}
