import { Readable } from 'node:stream';
import type { endpoints, RequestInput } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import type { StreamedAnswer } from '../http/handlers.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { findMarkBeforeByte, readJobLog, readLogText } from './store-log.ts';
import { joinSegments, type ReadLogRef, requireLog, walkLog } from './walk-log.ts';

type DownloadInput = RequestInput<typeof endpoints.jobs.downloadLog.request>;

/** Segments of 64 KB in one piece of the stream, of which two are in memory at once. */
const JOINED_SEGMENTS = 4;
const PIECES_AHEAD = 2;

/**
 * Streams the text of a log, as far as it was written when the download began.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function downloadLog(
  { database: { reader } }: HubDeps,
  input: DownloadInput,
): Promise<StreamedAnswer> {
  const ref = await requireLog(reader, input);
  const sizeBytes = (await readJobLog(reader, ref))?.size_bytes ?? 0;
  const range = {
    from: input.fromByte,
    until: Math.min(input.untilByte ?? sizeBytes, sizeBytes),
  };
  return {
    contentType: 'text/plain; charset=utf-8',
    fileName: `${ref.jobId}-${ref.attempt}.log`,
    body: Readable.from(readBytes(reader, ref, range), { highWaterMark: PIECES_AHEAD }),
  };
}

async function* readBytes(
  reader: Reader,
  ref: ReadLogRef,
  { from, until }: { from: number; until: number },
): AsyncGenerator<Buffer> {
  if (from >= until) return;
  const mark = await findMarkBeforeByte(reader, ref, from);
  for await (const segment of joinSegments(walkLog(reader, ref, mark), JOINED_SEGMENTS)) {
    if (segment.byte >= until) return;
    const bytes = Buffer.from(await readLogText(reader, ref, segment), 'utf8');
    const piece = bytes.subarray(Math.max(0, from - segment.byte), until - segment.byte);
    if (piece.length > 0) yield piece;
  }
}
