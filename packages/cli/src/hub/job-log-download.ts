import { endpoints } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import type { Io } from '../terminal/io.ts';
import type { HubSession } from './hub-session.ts';

/**
 * Copies the bytes of a log to standard output as they come, at the pace of its reader.
 * @throws {ApiError} the hub refuses. {UnreachableError} the download breaks off.
 */
export async function printRawLog(
  io: Io,
  { client, baseUrl, token }: HubSession,
  ref: { workspaceId: string; jobId: string; attempt: number | undefined },
): Promise<undefined> {
  // The client reads no bytes. This call refuses as every other does, and finds the attempt.
  const { attempt } = await client.jobs.log({ ...ref, limit: 1 }, { signal: io.signal });
  if (attempt === 0) return;
  try {
    const response = await fetch(baseUrl + endpoints.jobs.downloadLog.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ ...ref, attempt }),
      redirect: 'error',
      signal: io.signal,
    });
    if (!response.ok) {
      const message = `The hub answered with HTTP ${response.status} instead of the log.`;
      throw new ApiError({ code: 'INVALID_RESPONSE', status: response.status, message });
    }
    for await (const chunk of response.body ?? []) await io.writeBytes(chunk);
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    io.signal.throwIfAborted();
    throw new UnreachableError('The download of the log broke off.', { cause });
  }
}
