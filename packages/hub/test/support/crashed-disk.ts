import type { FileCall, FileChange } from './system-calls.ts';

/** The unit in which a disk writes; a power cut may leave any of them out. */
const SECTOR_BYTES = 512;

/** A change that a file has got; `order` compares it with the begins of syncs. */
interface PendingChange {
  order: number;
  change: FileChange;
}

/** The part that a power cut leaves of the changes that no sync has confirmed. */
export const leftovers = [
  'nothing',
  'everything',
  'random changes',
  'random sectors',
  'those of the log',
  'those of the database file',
] as const;
export type Leftover = (typeof leftovers)[number];

/**
 * The files of a process on a disk that promises nothing but its syncs: what was written before a
 * sync began is durable when the sync has ended; of the rest a power cut may leave any part.
 */
export class CrashedDisk {
  readonly #durable = new Map<string, Buffer>();
  readonly #pending = new Map<string, PendingChange[]>();
  /** The order at the begin of each sync in progress. */
  readonly #syncs = new Map<number, number>();
  #order = 0;

  /** Applies the next recorded call. */
  take(call: FileCall): void {
    if (call.kind === 'sync-begin') this.#syncs.set(call.number, this.#order);
    if (call.kind === 'sync-end') this.#confirm(call.file, this.#syncs.get(call.number) ?? 0);
    if (call.kind === 'write' || call.kind === 'truncate') {
      const pending = this.#pending.get(call.file) ?? [];
      pending.push({ order: ++this.#order, change: call });
      this.#pending.set(call.file, pending);
    }
  }

  /** The files as the next start finds them after a power cut at this moment. */
  cut(leftover: Leftover, random: () => number): Map<string, Buffer> {
    const files = new Set([...this.#durable.keys(), ...this.#pending.keys()]);
    return new Map(
      [...files].map((file) => {
        const bytes = new GrowingFile(this.#durable.get(file));
        for (const { change } of this.#pending.get(file) ?? []) {
          for (const part of choose(change, leftover, random)) bytes.apply(part);
        }
        return [file, bytes.content()];
      }),
    );
  }

  #confirm(file: string, order: number): void {
    const pending = this.#pending.get(file) ?? [];
    const bytes = new GrowingFile(this.#durable.get(file));
    for (const one of pending) if (one.order <= order) bytes.apply(one.change);
    this.#durable.set(file, bytes.content());
    this.#pending.set(
      file,
      pending.filter((one) => one.order > order),
    );
  }
}

function choose(change: FileChange, leftover: Leftover, random: () => number): FileChange[] {
  const isLog = change.file.endsWith('-wal');
  switch (leftover) {
    case 'nothing':
      return [];
    case 'everything':
      return [change];
    case 'random changes':
      return random() < 0.5 ? [change] : [];
    case 'random sectors':
      return change.kind === 'write'
        ? sectorsOf(change).filter(() => random() < 0.5)
        : choose(change, 'random changes', random);
    case 'those of the log':
      return isLog ? [change] : [];
    case 'those of the database file':
      return isLog ? [] : [change];
  }
}

function sectorsOf(change: Extract<FileChange, { kind: 'write' }>): FileChange[] {
  const { file, offset, bytes } = change;
  const sectors: FileChange[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES));
    const part = bytes.subarray(from, to);
    sectors.push({ kind: 'write', file, offset: offset + from, bytes: part });
    from = to;
  }
  return sectors;
}

/** A file's content with room to grow. */
class GrowingFile {
  #bytes: Buffer;
  #size: number;

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(content);
    this.#size = content.length;
  }

  apply(change: FileChange): void {
    const end = change.kind === 'write' ? change.offset + change.bytes.length : change.size;
    if (end > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(end + 65_536 - this.#bytes.length)]);
    }
    if (change.kind === 'truncate') {
      this.#bytes.fill(0, end);
      this.#size = end;
    } else {
      change.bytes.copy(this.#bytes, change.offset);
      this.#size = Math.max(this.#size, end);
    }
  }

  content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}
