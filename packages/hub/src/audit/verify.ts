import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditBreak } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import type { Principal } from '../base/principal.ts';
import type { Database, Reader } from '../db/engine.ts';
import { CHAIN_START, hashAuditEntry } from './append.ts';
import { type AuditEntry, listAuditEntriesAfter } from './store.ts';

/** Entries read at a time while a log is walked: a few hundred KB. */
const STEP_ENTRIES = 500;

/** The last valid entry of a chain, and the first break after it. */
interface ChainVerdict {
  lastSeq: number;
  lastHash: string;
  brokenAtSeq: number | null;
  reason: AuditBreak | null;
}

/** @throws HubError NOT_ALLOWED */
export async function verifyAuditLog(
  { database: { reader } }: { database: Database },
  principal: Principal,
  workspaceId: string,
): Promise<ChainVerdict> {
  await requireAct(reader, principal, workspaceId, 'audit.read');
  return verifyChain(reader, workspaceId);
}

/** Recomputes the hash of every entry of a workspace. */
export async function verifyChain(reader: Reader, workspaceId: string): Promise<ChainVerdict> {
  let lastSeq = 0;
  let lastHash = CHAIN_START;
  for await (const entry of walkAuditLog(reader, workspaceId)) {
    const reason = judgeEntry(entry, lastSeq, lastHash);
    if (reason !== null) {
      return { lastSeq, lastHash, brokenAtSeq: lastSeq + 1, reason };
    }
    lastSeq = entry.seq;
    lastHash = entry.hash;
  }
  return { lastSeq, lastHash, brokenAtSeq: null, reason: null };
}

function judgeEntry(entry: AuditEntry, lastSeq: number, lastHash: string): AuditBreak | null {
  if (entry.seq !== lastSeq + 1) return 'missing-entry';
  if (entry.previous_hash !== lastHash) return 'broken-link';
  return entry.hash === hashAuditEntry(entry) ? null : 'altered-entry';
}

/** All entries of a workspace, oldest first, read in steps. */
export async function* walkAuditLog(
  reader: Reader,
  workspaceId: string,
): AsyncGenerator<AuditEntry> {
  let afterSeq = 0;
  for (;;) {
    const step = await listAuditEntriesAfter(reader, workspaceId, afterSeq, STEP_ENTRIES);
    yield* step;
    const last = step.at(-1);
    if (last === undefined || step.length < STEP_ENTRIES) return;
    afterSeq = last.seq;
    // On SQLite a read ends within the turn, so a long log would hold up every other request.
    await nextTurn();
  }
}
