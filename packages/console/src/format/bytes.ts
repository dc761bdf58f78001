const units = ['KB', 'MB', 'GB', 'TB'];

/** Formats a size: `812 bytes`, `4.2 KB`, `71 MB`. A KB has 1,024 bytes. */
export function formatBytes(sizeBytes: number): string {
  if (sizeBytes < 1_024) return `${sizeBytes} ${sizeBytes === 1 ? 'byte' : 'bytes'}`;
  let size = sizeBytes;
  let unit = -1;
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
