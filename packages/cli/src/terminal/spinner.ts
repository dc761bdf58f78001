import type { Io } from './io.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
export const clearLine = { sequence: '\r\u001b[2K' };

/**
 * Shows a spinner on a terminal until the work has ended; elsewhere shows nothing. (The spinner of
 * clack captures the keyboard and exits with code 0 at Ctrl-C.)
 */
export async function withSpinner<T>(io: Io, text: string, work: () => Promise<T>): Promise<T> {
  const { stderr, errorStyles } = io;
  if (!stderr.isTTY || io.json) return await work();
  const startMs = performance.now();
  const draw = () => {
    const frame = frames[Math.floor((performance.now() - startMs) / FRAME_MS) % frames.length];
    io.draw([clearLine, `${errorStyles.cyan(frame ?? '')} ${text}`], 'stderr');
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    io.draw([clearLine], 'stderr');
  }
}
