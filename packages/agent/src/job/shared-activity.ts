import {
  ACTIVITIES_MAX,
  ACTIVITY_FILES_MAX,
  ACTIVITY_ID_CHARS_MAX,
  ACTIVITY_PATH_CHARS_MAX,
  ACTIVITY_TITLE_CHARS_MAX,
  type Activity,
  PLAN_ENTRIES_MAX,
  type ToolCall,
  type UsageSoFar,
} from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Redactor } from './redaction.ts';
import { visibleText } from './visible-text.ts';

/** Calls whose start is remembered; one that is older gets no duration. */
const RUNNING_MAX = 500;
const NAME_CHARS_MAX = 128;
/** Larger figures of a tool are left out: the hub would refuse them together with the output. */
const COUNT_MAX = 1_000_000_000_000;
const COST_USD_MAX = 1_000_000_000;
const EXIT_CODE_MAX = 2_147_483_647;

/** Prepares the activities of one attempt for the hub: redacted, bounded, and only what is new. */
export class SharedActivities {
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  /** When each running call began. */
  readonly #began = new Map<string, number>();
  #last = { plan: '', usage: '' };
  #count = 0;

  constructor({ redactor, clock }: { redactor: Redactor; clock: Clock }) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /** Returns the activity as it may leave the machine; undefined if it says nothing new. */
  share(activity: Activity): Activity | undefined {
    const { toolCall, plan, usage, session, isMessage } = activity;
    if (this.#count >= ACTIVITIES_MAX) return undefined;
    if (usage !== undefined && !this.#isNew('usage', usage)) return undefined;
    const entries = plan?.entries.slice(0, PLAN_ENTRIES_MAX).map((entry) => ({
      ...entry,
      text: this.#clean(entry.text, ACTIVITY_TITLE_CHARS_MAX),
    }));
    if (entries !== undefined && !this.#isNew('plan', entries)) return undefined;
    this.#count += 1;
    return {
      ...(toolCall && { toolCall: this.#shareCall(toolCall) }),
      ...(entries && { plan: { entries } }),
      ...(usage && { usage: knownFigures(usage) }),
      ...(session && {
        session: {
          sessionId: this.#clean(session.sessionId, ACTIVITY_ID_CHARS_MAX),
          ...(session.tool && { tool: this.#clean(session.tool, NAME_CHARS_MAX) }),
          ...(session.model && { model: this.#clean(session.model, NAME_CHARS_MAX) }),
        },
      }),
      ...(isMessage && { isMessage }),
    };
  }

  #isNew(what: 'plan' | 'usage', value: object): boolean {
    const text = JSON.stringify(value);
    const isNew = text !== this.#last[what];
    this.#last[what] = text;
    return isNew;
  }

  #shareCall({ title, locations, changes, exitCode, ...call }: ToolCall): ToolCall {
    const path = (text: string) => this.#clean(text, ACTIVITY_PATH_CHARS_MAX);
    return {
      ...call,
      id: this.#clean(call.id, ACTIVITY_ID_CHARS_MAX) || '-',
      title: this.#clean(title, ACTIVITY_TITLE_CHARS_MAX),
      ...(locations?.length && { locations: locations.slice(0, ACTIVITY_FILES_MAX).map(path) }),
      ...(changes?.length && {
        changes: changes
          .slice(0, ACTIVITY_FILES_MAX)
          .map((change) => ({ ...change, path: path(change.path) })),
      }),
      ...(isWithin(exitCode, -EXIT_CODE_MAX, EXIT_CODE_MAX) && { exitCode }),
      ...this.#durationOf(call),
    };
  }

  #durationOf({ id, status }: Pick<ToolCall, 'id' | 'status'>): { durationMs?: number } {
    const nowMs = this.#clock.monotonicMs();
    const began = this.#began.get(id);
    this.#began.delete(id);
    if (status !== 'running') {
      return began === undefined ? {} : { durationMs: Math.round(nowMs - began) };
    }
    this.#began.set(id, nowMs);
    const [oldest] = this.#began.keys();
    if (this.#began.size > RUNNING_MAX && oldest !== undefined) this.#began.delete(oldest);
    return {};
  }

  /** Redacts before it cuts, because a secret that is cut is not recognized. */
  #clean(text: string, charsMax: number): string {
    const line = this.#redactor.redact(text).replace(/\s+/g, ' ');
    const clean = visibleText(line).text.toWellFormed().trim();
    return clean.length <= charsMax ? clean : `${clean.slice(0, charsMax - 1).toWellFormed()}…`;
  }
}

function knownFigures({ costUsd, ...counts }: UsageSoFar): UsageSoFar {
  const known = Object.entries(counts).filter(([, count]) => isWithin(count, 0, COUNT_MAX));
  const isPrice = costUsd !== undefined && costUsd >= 0 && costUsd <= COST_USD_MAX;
  return { ...Object.fromEntries(known), ...(isPrice && { costUsd }) };
}

function isWithin(value: number | undefined, min: number, max: number): value is number {
  return value !== undefined && Number.isInteger(value) && value >= min && value <= max;
}
