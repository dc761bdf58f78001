import { Readable } from 'node:stream';
import { consoleEndpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeSeqCursor, pageOf, seqCursorKey } from '../http/paging.ts';
import { exportAuditLog } from './export.ts';
import { type AuditDeps, listAuditLog } from './list.ts';
import { presentAuditEntry } from './present.ts';
import { verifyAuditLog } from './verify.ts';

export function bindAuditRoutes(api: Api, deps: AuditDeps): void {
  const { auditLog } = consoleEndpoints;
  api.bind(auditLog.list, async (input, { principal }) => {
    const rows = await listAuditLog(deps, principal, input, decodeSeqCursor(input.cursor));
    const page = pageOf(rows, input.limit, (row) => seqCursorKey(row.seq));
    return { entries: page.items.map(presentAuditEntry), nextCursor: page.nextCursor };
  });
  api.bind(auditLog.verify, async ({ workspaceId }, { principal }) => {
    const verdict = await verifyAuditLog(deps, principal, workspaceId);
    return { whole: verdict.brokenAtSeq === null, ...verdict };
  });
  api.bindStream(auditLog.export, async ({ workspaceId }, { principal }) => ({
    contentType: 'application/x-ndjson; charset=utf-8',
    fileName: 'audit-log.jsonl',
    body: Readable.from(await exportAuditLog(deps, principal, workspaceId)),
  }));
}
