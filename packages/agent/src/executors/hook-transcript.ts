import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { listOf, objectOf, parseObject, textOf } from './json-fields.ts';

/** The call that a hook is about. */
export interface AskedCall {
  toolName: string;
  /** Where the tool writes the session down; '' if it does not tell. */
  transcript: string;
  input: Record<string, unknown>;
}

const INTERVAL_MS = 250;
/** The call that is asked about is at the end; it may have the content of a file. */
const TAIL_BYTES = 4 * 1_024 * 1_024;
const LINE_END = 0x0a;

/**
 * Resolves when the transcript of Claude Code has the result of the call that a hook is about. The
 * tool asks at its terminal at the same time, and does not tell the hook that the person has
 * answered there. Never resolves where the transcript cannot be read.
 *
 * @param sinceMs when the hook was started: results before it are of earlier calls.
 * @throws the reason of the signal
 */
export async function untilCallEnded(
  { transcript, toolName, input }: AskedCall,
  { signal, sinceMs = performance.timeOrigin }: { signal: AbortSignal; sinceMs?: number },
): Promise<void> {
  const file = await openTranscript(transcript);
  try {
    const pending = new Set<string>();
    let offset = file === null ? 0 : Math.max(0, (await file.stat()).size - TAIL_BYTES);
    for (;;) {
      const { lines, end } = file === null ? { lines: [], end: 0 } : await readLines(file, offset);
      offset = end;
      for (const { use, result, atMs } of lines.flatMap(callsIn)) {
        const isAsked = use?.name === toolName && isDeepStrictEqual(use.input, input);
        if (isAsked) pending.add(use.id);
        if (result !== null && pending.delete(result) && atMs >= sinceMs) return;
      }
      await sleep(INTERVAL_MS, undefined, { signal });
    }
  } finally {
    await file?.close();
  }
}

async function openTranscript(path: string): Promise<FileHandle | null> {
  if (path === '') return null;
  return await open(path).catch(() => null);
}

/** The whole lines from an offset on, and where the next one begins. */
async function readLines(file: FileHandle, offset: number) {
  const chunks: Buffer[] = [];
  for (let at = offset; ; ) {
    const { bytesRead, buffer } = await file.read({ position: at });
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  const bytes = Buffer.concat(chunks);
  const whole = bytes.subarray(0, bytes.lastIndexOf(LINE_END) + 1);
  return { lines: whole.toString('utf8').split('\n'), end: offset + whole.length };
}

interface Call {
  use: { id: string; name: string; input: unknown } | null;
  /** The id of the call that it is the result of. */
  result: string | null;
  atMs: number;
}

function callsIn(line: string): Call[] {
  const entry = objectOf(parseObject(line));
  const message = objectOf(entry.message);
  const atMs = Date.parse(textOf(entry.timestamp));
  return listOf(message.content)
    .map(objectOf)
    .map(({ type, id, name, input, tool_use_id }) => ({
      use: type === 'tool_use' ? { id: textOf(id), name: textOf(name), input } : null,
      result: type === 'tool_result' ? textOf(tool_use_id) : null,
      atMs,
    }));
}
