import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CompleteBody } from '../hub-client.ts';
import type { Attempt } from '../job/attempt.ts';
import type { CommentAnswer } from '../job/tool-report.ts';
import { renameIfThere } from '../missing-file.ts';
import {
  isDiskFull,
  readJsonFile,
  type StateDirectory,
  syncDirectory,
  writeFileDurably,
} from '../state-directory.ts';

/** A patch in the job's directory that the evidence is to name. */
export interface PatchToUpload {
  filesOmitted: number;
  failures?: number;
}

export interface SharedPatches {
  patch?: PatchToUpload;
  /** Of a later round alone. */
  roundPatch?: PatchToUpload;
}

/** A result to deliver, and where its remaining output begins. */
export interface OutboxEntry extends SharedPatches {
  attempt: Attempt;
  completion: CompleteBody;
  /** Of the tool, to review comments. */
  answers?: readonly CommentAnswer[];
  /** Bytes of the attempt's log file that the hub has received. */
  logOffset: number;
  createdAt: string;
}

interface Refusal {
  code: string;
  message: string;
  at: string;
}

/** A rejected result, kept for the person. */
interface RefusedEntry extends OutboxEntry {
  refusal: Refusal;
}

/** Results on disk. They survive the agent's process and stay until the hub has answered. */
export interface Outbox {
  /** Durable on disk when this resolves, unless the disk is full. */
  put(entry: OutboxEntry): Promise<void>;
  /** Oldest first. */
  list(): Promise<OutboxEntry[]>;
  /** The hub accepted the result. */
  remove(entry: OutboxEntry): Promise<void>;
  /** The hub rejected the result: keeps it under `outbox/refused`, with its log if there is one. */
  refuse(entry: OutboxEntry, refusal: Refusal, logFile: string): Promise<void>;
  /** The hub rejected the result, and another one replaces it. */
  replace(entry: OutboxEntry, refusal: Refusal, substitute: OutboxEntry): Promise<void>;
}

export function openOutbox(state: StateDirectory): Outbox {
  const fileOf = (entry: OutboxEntry) => join(state.outbox, `${entry.attempt.key}.json`);

  /**
   * Results for which the disk has no room. After a kill they are lost, and their jobs are done
   * again, as if this agent had been killed before their end.
   */
  const inMemory = new Map<string, OutboxEntry>();

  async function remove(entry: OutboxEntry): Promise<void> {
    inMemory.delete(entry.attempt.key);
    await rm(fileOf(entry), { force: true });
    await syncDirectory(state.outbox);
  }

  async function put(entry: OutboxEntry): Promise<void> {
    try {
      await writeFileDurably(fileOf(entry), `${JSON.stringify(entry, null, 2)}\n`);
      inMemory.delete(entry.attempt.key);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      inMemory.set(entry.attempt.key, entry);
    }
  }

  async function keepRefused(entry: OutboxEntry, refusal: Refusal): Promise<string> {
    const target = join(state.refused, basename(fileOf(entry)));
    const refused: RefusedEntry = { ...entry, refusal };
    await writeFileDurably(target, `${JSON.stringify(refused, null, 2)}\n`);
    return target;
  }

  return {
    put,
    async list() {
      const names = (await readdir(state.outbox)).filter((name) => name.endsWith('.json'));
      const entries = await Promise.all(
        // Only `put` writes these files; one with invalid JSON was never completed.
        names.map((name) => readJsonFile(join(state.outbox, name)) as Promise<OutboxEntry | null>),
      );
      const onDisk = entries
        .filter((entry) => entry !== null)
        .filter(({ attempt }) => !inMemory.has(attempt.key));
      const all = [...onDisk, ...inMemory.values()];
      return all.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    },
    remove,
    async refuse(entry, refusal, logFile) {
      const target = await keepRefused(entry, refusal);
      await renameIfThere(logFile, target.replace(/\.json$/, '.log.ndjson'));
      await remove(entry);
    },
    async replace(entry, refusal, substitute) {
      await keepRefused(entry, refusal);
      await put(substitute);
    },
  };
}
