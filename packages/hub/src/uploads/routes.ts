import { endpoints } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import { readPersonNames } from '../people/store.ts';
import { createUpload } from './create.ts';
import { deleteUpload } from './delete.ts';
import type { UploadDeps } from './deps.ts';
import { contentDispositionOf, requireStoredUpload, signDownloadUrl } from './download.ts';
import { presentUpload } from './present.ts';
import { readPatch } from './read-patch.ts';
import { receiveUpload } from './receive.ts';
import { requestPatch } from './request-patch.ts';
import { sharePatch } from './share-patch.ts';
import { openSignedUrl } from './signed-url.ts';
import { listUploads } from './store.ts';
import { readUsage } from './usage.ts';

export function bindUploadRoutes(
  api: Api,
  deps: UploadDeps,
  log: { error(message: string): void },
): void {
  const { uploads } = endpoints;
  const { urlKey, clock } = deps;
  api.bind(uploads.create, (input, { principal }) => createUpload(deps, principal, input));
  api.bind(uploads.delete, async (input, { principal }) => {
    await deleteUpload(deps, principal, input);
    return { deleted: true as const };
  });
  bindReads(api, deps);
  bindPatches(api, deps);
  api.bindReceivedBytes(uploads.storeBytes, {
    prove: (query) => openSignedUrl(urlKey, 'PUT', query, clock.nowMs()),
    async receive(request, bytes) {
      const { sizeBytes, sha256 } = await receiveUpload(deps, request, bytes);
      return { uploadId: request.uploadId, sizeBytes, sha256 };
    },
  });
  api.bind(uploads.getDownloadUrl, async ({ workspaceId, uploadId, jobId }, { principal }) => {
    const row = await requireStoredUpload(deps, workspaceId, uploadId, principal);
    if (jobId !== undefined && row.job_id !== jobId) throw new HubError('UPLOAD_NOT_FOUND');
    return {
      ...(await signDownloadUrl(deps, row)),
      fileName: row.file_name,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
    };
  });
  api.bindServedBytes(uploads.readBytes, {
    prove: (query) => openSignedUrl(urlKey, 'GET', query, clock.nowMs()),
    async serve({ workspaceId, uploadId }) {
      const row = await requireStoredUpload(deps, workspaceId, uploadId);
      return {
        sizeBytes: row.size_bytes,
        contentType: row.content_type,
        contentDisposition: contentDispositionOf(row.file_name),
        etag: `"${row.sha256}"`,
        async open(range) {
          const body = await deps.byteStore.read(row.object_key, range);
          if (body === null) {
            log.error(`The bytes of upload ${uploadId} are missing: object ${row.object_key}.`);
            throw new HubError('UPLOAD_BYTES_MISSING');
          }
          return body;
        },
      };
    },
  });
}

/** The patches of jobs. */
function bindPatches(api: Api, deps: UploadDeps): void {
  const { jobs } = endpoints;
  api.bind(jobs.patch, (input) => readPatch(deps, input));
  api.bind(jobs.requestPatch, async (input, { principal }) => ({
    place: await requestPatch(deps, principal, input),
  }));
  api.bind(jobs.sharePatch, async (input, { principal }) => ({
    request: await sharePatch(deps, principal, input),
  }));
}

function bindReads(api: Api, { database, quotas }: UploadDeps): void {
  const { uploads } = endpoints;
  api.bind(uploads.list, async ({ workspaceId, limit, cursor }) => {
    const before = decodeCursor(cursor, 'upload');
    const rows = await listUploads(database.reader, workspaceId, { limit, before });
    const { items, nextCursor } = pageOf(rows, limit, (row) => row.upload_id);
    const creators = items.map((row) => row.created_by);
    const people = await readPersonNames(database.reader, creators);
    const nameOf = (id: string) => people.get(id)?.name ?? null;
    return { uploads: items.map((row) => presentUpload(row, nameOf(row.created_by))), nextCursor };
  });
  api.bind(uploads.usage, async ({ workspaceId }) => {
    const { sizeBytes, uploadCount } = await readUsage(database.reader, workspaceId);
    return { usedBytes: sizeBytes, quotaBytes: quotas.workspaceBytes, uploadCount };
  });
}
