import type { Usage } from '@signalbox/contract';
import { formatCost } from './run-words.ts';
import { plainText } from './text.ts';

type Used = Pick<Usage, 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'costUsd'>;

/** Tokens and cost: `48,211 tokens in (40,000 cached), 3,120 out, $0.41`. */
export function usageWords({
  inputTokens,
  cachedInputTokens,
  outputTokens,
  costUsd,
}: Used): string {
  const cached = cachedInputTokens ? ` (${cachedInputTokens.toLocaleString('en')} cached)` : '';
  const parts = [
    inputTokens !== undefined && `${inputTokens.toLocaleString('en')} tokens in${cached}`,
    outputTokens !== undefined &&
      `${outputTokens.toLocaleString('en')} ${inputTokens === undefined ? 'tokens out' : 'out'}`,
    costUsd !== undefined && formatCost(costUsd),
  ];
  return parts.filter(Boolean).join(', ');
}

/** The use of each model, if the tool used more than one. */
export function usageByModel({ models = [] }: Usage): { model: string; used: string }[] {
  return models.length < 2
    ? []
    : models.map((each) => ({ model: plainText(each.model), used: usageWords(each) }));
}
