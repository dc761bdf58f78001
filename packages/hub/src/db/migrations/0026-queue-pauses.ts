/** Who paused a queue, and why. Pauses of older versions have neither. */
export function queuePauses(): string[] {
  return ['workspaces', 'repositories'].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN queue_paused_by TEXT`,
    `ALTER TABLE ${table} ADD COLUMN queue_pause_reason TEXT`,
  ]);
}
