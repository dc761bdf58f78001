/** Formats a cost: `$0.84`, `$1,204.00`; below a cent `<$0.01`. */
export function formatCost(costUsd: number): string {
  if (costUsd > 0 && costUsd < 0.005) return '<$0.01';
  return `$${costUsd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
