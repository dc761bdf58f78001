import type { Cost, PromptResponse } from '@agentclientprotocol/sdk/unstable';
import type { Usage } from '@signalbox/contract';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-fields.ts';

/** Tokens of one model. Cached input counts as input; undefined: the tool does not tell. */
interface Tokens {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number | undefined;
}

const MODELS_MAX = 20;

export interface UsageOptions {
  countsLastCallOnly?: boolean;
  sessionCostUsd?: number;
}

/** Adds up what the turns of an attempt have used, as far as the tool tells. */
export class UsageCount {
  readonly #countsLastCallOnly: boolean;
  readonly #models = new Map<string, Tokens>();
  #costUsd: number | undefined;
  #sessionCostUsd: number;
  #model = '';

  /** @param sessionCostUsd what the session had cost when the attempt began. */
  constructor({ countsLastCallOnly = false, sessionCostUsd = 0 }: UsageOptions = {}) {
    this.#countsLastCallOnly = countsLastCallOnly;
    this.#sessionCostUsd = sessionCostUsd;
  }

  /** The cost of the whole session, by the tool's last words. */
  get sessionCostUsd(): number {
    return this.#sessionCostUsd;
  }

  /** The model that the session uses, in the words of the tool; '' if it does not tell. */
  useModel(model: string): void {
    if (model !== '') this.#model = model;
  }

  /**
   * A cost is of the whole session, and that of the attempt is its growth. A tool that was killed
   * may begin at 0 again. 0 means that the tool knows no price of the model.
   */
  addCost(cost: Cost | null | undefined): void {
    if (cost?.currency !== 'USD' || cost.amount <= 0) return;
    const grownUsd = cost.amount - this.#sessionCostUsd;
    this.#costUsd = (this.#costUsd ?? 0) + (grownUsd >= 0 ? grownUsd : cost.amount);
    this.#sessionCostUsd = cost.amount;
  }

  addTurn(response: PromptResponse): void {
    for (const { model, ...tokens } of this.#tokensOf(response)) {
      const name = model || this.#model;
      const sum = this.#models.get(name);
      this.#models.set(name, sum === undefined ? tokens : addTokens(sum, tokens));
    }
  }

  /** Undefined: the tool has told nothing. */
  sum(): Usage | undefined {
    const cost = this.#costUsd === undefined ? {} : { costUsd: this.#costUsd };
    const rows = [...this.#models].map(([model, tokens]) => ({ model, ...fieldsOf(tokens) }));
    const [first] = rows;
    if (first === undefined) return this.#costUsd === undefined ? undefined : cost;
    const total = [...this.#models.values()].reduce(addTokens);
    // The names of models: `model_usage` has the provider's, and the session may have `default`.
    const main = rows.find(({ model }) => model === this.#model) ?? first;
    return {
      ...fieldsOf(total),
      ...cost,
      ...(main.model === '' ? {} : { model: main.model }),
      ...(rows.length > 1 ? { models: rows.slice(0, MODELS_MAX) } : {}),
    };
  }

  /**
   * Reads the tokens of a turn. `_meta.quota.model_usage` comes first: it is by model and includes
   * sub-agents, while `usage` is the main conversation of Claude alone.
   */
  #tokensOf({ usage, _meta }: PromptResponse): (Tokens & { model: string })[] {
    const quota = objectOf(objectOf(_meta).quota);
    const rows = listOf(quota.model_usage)
      .map(objectOf)
      .map((row) => ({ model: textOf(row.model), ...countTokens(objectOf(row.token_count)) }));
    if (rows.length > 0) return rows.filter(isUsed);
    if (this.#countsLastCallOnly || !usage) return [];
    const { cachedReadTokens: cachedInputTokens, ...counts } = usage;
    return [{ model: '', ...countTokens({ ...counts, cachedInputTokens }) }].filter(isUsed);
  }
}

function isUsed({ inputTokens, outputTokens }: Tokens): boolean {
  return inputTokens + outputTokens > 0;
}

/**
 * Claude and Codex count input without what was read from a cache or written to one, and tell the
 * total. Gemini counts all input as one figure.
 */
function countTokens(counts: JsonObject): Tokens {
  const { totalTokens, cachedInputTokens } = counts;
  const outputTokens = countOf(counts.outputTokens ?? counts.output_tokens);
  const input = countOf(counts.inputTokens ?? counts.input_tokens);
  return {
    inputTokens: isMissing(totalTokens) ? input : Math.max(0, countOf(totalTokens) - outputTokens),
    outputTokens,
    cachedInputTokens: isMissing(cachedInputTokens) ? undefined : countOf(cachedInputTokens),
  };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function addTokens(a: Tokens, b: Tokens): Tokens {
  const isKnown = a.cachedInputTokens !== undefined && b.cachedInputTokens !== undefined;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: isKnown
      ? (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0)
      : undefined,
  };
}

function fieldsOf({ cachedInputTokens, ...tokens }: Tokens): Usage {
  return { ...tokens, ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }) };
}
