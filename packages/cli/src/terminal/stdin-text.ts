import { BODY_BYTES_MAX } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from './io.ts';

/**
 * Reads standard input as text.
 * @param bytesMax the size limit of one request unless given.
 * @throws {CliError} USAGE: it is not UTF-8, or exceeds the limit.
 */
export async function readText(
  { stdin, signal }: Io,
  bytesMax: number = BODY_BYTES_MAX,
): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const reading = (async () => {
    for await (const chunk of stdin) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) {
        const message = `Standard input exceeds the limit of ${bytesMax} bytes.`;
        throw new CliError(exitCodes.usage, 'USAGE', message);
      }
    }
  })();
  await Promise.race([reading, interrupted]);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    const message = 'Standard input must be UTF-8 text.';
    throw new CliError(exitCodes.usage, 'USAGE', message, { cause });
  }
}
