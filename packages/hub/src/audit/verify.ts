import type { AuditBreak, consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import type { Database, Reader } from '../db/engine.ts';
import { invalidField } from '../errors.ts';
import type { Principal } from '../principal.ts';
import { appendAudit, CHAIN_START, hashAuditEntry } from './append.ts';
import { type AuditEntry, type AuditEntryWithName, listAuditEntries, listChain } from './store.ts';

type ListInput = RequestInput<typeof consoleEndpoints.auditLog.list.request>;

/** Entries read at once while a log is walked: some hundred KB. */
const STEP_ENTRIES = 500;

export interface AuditLogDeps {
  database: Database;
}

/** How far a chain is as it should be, and what comes after. */
export interface ChainVerdict {
  lastSeq: number;
  lastHash: string;
  brokenAtSeq: number | null;
  reason: AuditBreak | null;
}

/**
 * Newest first; one more than `limit`.
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export async function listAuditLog(
  { database }: AuditLogDeps,
  principal: Principal,
  input: ListInput,
  before: number | null,
): Promise<AuditEntryWithName[]> {
  const { workspaceId, limit, actor, action, subject } = input;
  await requireAct(database.reader, principal, workspaceId, 'audit.read');
  const filter = {
    actor,
    action,
    subject,
    fromMs: readTime('/fromAt', input.fromAt),
    untilMs: readTime('/untilAt', input.untilAt),
  };
  return listAuditEntries(database, workspaceId, filter, { limit, before });
}

/**
 * Notes an export and begins it; the note is its last entry, whatever is written meanwhile.
 *
 * @returns the lines, one entry each, oldest first.
 * @throws HubError NOT_ALLOWED
 */
export async function exportAuditLog(
  { database }: AuditLogDeps,
  principal: Principal,
  workspaceId: string,
): Promise<AsyncIterable<string>> {
  const lastSeq = await database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'audit.read');
    return appendAudit(tx, {
      workspaceId,
      actor: personId,
      action: 'audit.export',
      subject: workspaceId,
    });
  });
  return writeLines(database.reader, workspaceId, lastSeq);
}

/** @throws HubError NOT_ALLOWED */
export async function verifyAuditLog(
  { database: { reader } }: AuditLogDeps,
  principal: Principal,
  workspaceId: string,
): Promise<ChainVerdict> {
  await requireAct(reader, principal, workspaceId, 'audit.read');
  return verifyChain(reader, workspaceId);
}

/** Hashes every entry of a workspace again. */
export async function verifyChain(reader: Reader, workspaceId: string): Promise<ChainVerdict> {
  let lastSeq = 0;
  let lastHash = CHAIN_START;
  for await (const entry of walkChain(reader, workspaceId)) {
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

async function* walkChain(reader: Reader, workspaceId: string): AsyncGenerator<AuditEntry> {
  let afterSeq = 0;
  for (;;) {
    const step = await listChain(reader, workspaceId, afterSeq, STEP_ENTRIES);
    yield* step;
    const last = step.at(-1);
    if (last === undefined || step.length < STEP_ENTRIES) return;
    afterSeq = last.seq;
  }
}

async function* writeLines(
  reader: Reader,
  workspaceId: string,
  lastSeq: number,
): AsyncGenerator<string> {
  for await (const entry of walkChain(reader, workspaceId)) {
    if (entry.seq > lastSeq) return;
    yield `${JSON.stringify(lineOf(entry))}\n`;
  }
}

/** What is hashed, under its names, and the hash. */
function lineOf(entry: AuditEntry) {
  const { workspace_id: workspaceId, previous_hash: previousHash, ...rest } = entry;
  const { seq, at, actor, action, subject, data, hash } = rest;
  return { workspaceId, seq, at, actor, action, subject, data, previousHash, hash };
}

function readTime(path: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalidField(path, 'is no time');
  return timeMs;
}
