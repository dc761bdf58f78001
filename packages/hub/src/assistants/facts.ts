/** Of the facts of one answer as JSON: about 6,000 tokens. */
export const FACTS_CHARS_MAX = 24_000;
/** Lengths of lists and objects, tried in turn until the facts fit. */
const ITEMS_MAX = [200, 50, 20, 5] as const;

/**
 * One word, such as an id, a state, a time or the value of a choice. An instruction needs more, so
 * all longer texts are left to the fence.
 */
const word = /^(?:[\w.:+/@-]{1,32}|[0-9a-f]{40}|[0-9a-f]{64})$/;

export interface Facts {
  facts: Record<string, unknown>;
  isCut: boolean;
}

/**
 * The ids, states, numbers and times of an answer, without the texts that agents, tools, people or
 * outsiders wrote: assistants show them to their models unmarked.
 */
export function factsOf(answer: object): Facts {
  for (const itemsMax of ITEMS_MAX) {
    const found = { isCut: false, itemsMax };
    // An object stays one.
    const facts = collect(answer, found) as Record<string, unknown>;
    if (JSON.stringify(facts).length <= FACTS_CHARS_MAX) return { facts, isCut: found.isCut };
  }
  // A tool has filled an object with fields, such as evidence.
  return { facts: {}, isCut: true };
}

/** Undefined: it holds no facts. */
function collect(value: unknown, found: { isCut: boolean; itemsMax: number }): unknown {
  if (typeof value === 'string') return word.test(value) ? value : undefined;
  if (typeof value !== 'object') return value;
  if (value === null) return undefined;
  const parts = Array.isArray(value) ? value.map((part) => ['', part] as const) : fieldsOf(value);
  if (parts.length > found.itemsMax) found.isCut = true;
  const kept = parts
    .slice(0, found.itemsMax)
    .map(([name, part]) => [name, collect(part, found)] as const)
    .filter(([, part]) => part !== undefined);
  if (Array.isArray(value)) return kept.length === 0 ? undefined : kept.map(([, part]) => part);
  return Object.fromEntries(kept);
}

function fieldsOf(value: object): (readonly [string, unknown])[] {
  return Object.entries(value).filter(([name]) => word.test(name));
}
