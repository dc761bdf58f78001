import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Id,
  IdempotencyKey,
  Integer,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { ClaimGeneration, claimErrors } from './job-schemas.ts';
import { ContentType, FileName, SizeBytes } from './upload-schemas.ts';

/** The lifetime of a signed URL. */
export const SIGNED_URL_MS = 10 * 60 * 1000;

const Sha256 = Text(64, { pattern: '^[0-9a-f]{64}$', description: 'A SHA-256 in lower-case hex.' });
const SignedUrl = Text(8_000, {
  description: 'Opaque. It needs no bearer token and may be an address of the object store.',
});
const Signature = Text(200, {
  minLength: 1,
  description: 'The signature of the hub over the rest of the URL.',
});

export const uploadStatuses = ['pending', 'stored'] as const;

/** An upload in lists. */
export const UploadSummary = Type.Object(
  {
    uploadId: Id('upload'),
    workspaceId: Id('workspace'),
    fileName: FileName,
    contentType: ContentType,
    sizeBytes: SizeBytes,
    status: OneOf(uploadStatuses, { description: 'pending: not all bytes have arrived.' }),
    createdBy: Type.Object(
      { id: Text(200), name: Nullable(Text(200, { description: 'Null unless it is a person.' })) },
      { description: 'The principal that created it.' },
    ),
    jobId: Nullable(Id('job', 'The job that it belongs to.')),
    createdAt: Timestamp(),
    storedAt: Nullable(Timestamp()),
  },
  { description: 'An upload without its bytes.' },
);
export type UploadSummary = Static<typeof UploadSummary>;

const exampleUploadId = 'upl_1j78s1s00003qjivc1qg';
const exampleUpload = {
  fileName: 'requirements.pdf',
  contentType: 'application/pdf',
  sizeBytes: 48_213,
  sha256: '8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92',
};
const exampleSummary: UploadSummary = {
  uploadId: exampleUploadId,
  workspaceId: exampleIds.workspace,
  fileName: exampleUpload.fileName,
  contentType: exampleUpload.contentType,
  sizeBytes: exampleUpload.sizeBytes,
  status: 'stored',
  createdBy: { id: 'service:importer', name: null },
  jobId: null,
  createdAt: '2026-11-02T09:00:00.000Z',
  storedAt: '2026-11-02T09:00:02.000Z',
};
const exampleExpiresAt = '2026-11-02T09:10:00.000Z';
const exampleQuery = {
  workspaceId: exampleIds.workspace,
  uploadId: exampleUploadId,
  expiresAt: exampleExpiresAt,
  signature: 'q3vXf0m0pY7mO2b9o4JtTtYw8m0l0mJm1r6mCk2uE3s',
};
const exampleAddress = (verb: string) =>
  `https://signalbox.acme.dev/control-plane/v1/uploads/${verb}?${new URLSearchParams(exampleQuery)}`;

/** The query of a signed URL. Clients use the URL unchanged and never build it. */
const signedQuery = {
  workspaceId: Id('workspace'),
  uploadId: Id('upload'),
  expiresAt: Timestamp(),
  signature: Signature,
} as const;

export const uploads = {
  create: defineEndpoint({
    name: 'uploadsCreate',
    path: '/control-plane/v1/uploads/create',
    tag: 'Uploads',
    scopes: ['agent', 'enqueue', 'integrate'],
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    jobToken: 'always',
    summary: 'Announce an upload and get the URL for its bytes',
    description:
      'PUT the bytes to uploadUrl within 10 minutes. The upload is available once all bytes have ' +
      'arrived and match the announced size and hash. With a job token, it belongs to the job of ' +
      'the token. Evidence of a job can show uploads of this job only.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      fileName: FileName,
      contentType: ContentType,
      sizeBytes: SizeBytes,
      sha256: Type.Optional(Sha256),
      job: Type.Optional(
        Type.Object(
          {
            jobId: Id('job'),
            agentId: Id('agent'),
            claimGeneration: Type.Optional(ClaimGeneration),
          },
          {
            description:
              'The job that it belongs to, as its agent holds it, or was asked for its patch.',
          },
        ),
      ),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      uploadId: Id('upload'),
      uploadUrl: SignedUrl,
      expiresAt: Timestamp(),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['JOB_NOT_FOUND', 'LIMIT_REACHED', ...claimErrors],
    example: {
      request: { workspaceId: exampleIds.workspace, ...exampleUpload },
      response: {
        ok: true,
        uploadId: exampleUploadId,
        uploadUrl: exampleAddress('store-bytes'),
        expiresAt: exampleExpiresAt,
      },
    },
  }),
  storeBytes: defineEndpoint({
    name: 'uploadsStoreBytes',
    method: 'PUT',
    path: '/control-plane/v1/uploads/store-bytes',
    tag: 'Uploads',
    auth: 'signed-url',
    scopes: [],
    console: false,
    repeat: 'safe',
    summary: 'Send the bytes of an upload',
    description:
      'The address is the uploadUrl of uploads/create. The bytes are streamed, checked against ' +
      'the announced size and hash, and stored completely or not at all. Sending the same bytes ' +
      'again returns the same answer. With an object store configured, the URL is an address of ' +
      'that store, and the store answers.',
    bytes: 'request',
    request: Type.Object(signedQuery),
    response: Ok({ uploadId: Id('upload'), sizeBytes: SizeBytes, sha256: Sha256 }),
    errors: ['UPLOAD_NOT_FOUND', 'UPLOAD_MISMATCH'],
    example: {
      request: exampleQuery,
      response: {
        ok: true,
        uploadId: exampleUploadId,
        sizeBytes: exampleUpload.sizeBytes,
        sha256: exampleUpload.sha256,
      },
    },
  }),
  getDownloadUrl: defineEndpoint({
    name: 'uploadsGetDownloadUrl',
    path: '/control-plane/v1/uploads/get-download-url',
    tag: 'Uploads',
    scopes: ['read', 'agent'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Get a temporary URL of the bytes of an upload',
    description:
      'The URL is valid for this upload and for 10 minutes, needs no bearer token and serves ' +
      'ranges.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      uploadId: Id('upload'),
      jobId: Type.Optional(Id('job', 'Refuses an upload of another job, or of no job.')),
    }),
    response: Ok({
      downloadUrl: SignedUrl,
      expiresAt: Timestamp(),
      fileName: FileName,
      contentType: ContentType,
      sizeBytes: SizeBytes,
      sha256: Sha256,
    }),
    errors: ['UPLOAD_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, uploadId: exampleUploadId },
      response: {
        ok: true,
        downloadUrl: exampleAddress('read-bytes'),
        expiresAt: exampleExpiresAt,
        ...exampleUpload,
      },
    },
  }),
  list: defineEndpoint({
    name: 'uploadsList',
    path: '/control-plane/v1/uploads/list',
    tag: 'Uploads',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'List uploads',
    description: 'Newest first.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ uploads: List(UploadSummary, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, uploads: [exampleSummary], nextCursor: null },
    },
  }),
  usage: defineEndpoint({
    name: 'uploadsUsage',
    path: '/control-plane/v1/uploads/usage',
    tag: 'Uploads',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'Read how much of its quota a workspace uses',
    description:
      'As the quota counts: announced uploads too, and each as at least 4 KB, so that empty ones ' +
      'are bounded.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({
      usedBytes: Integer(0, Number.MAX_SAFE_INTEGER),
      quotaBytes: Integer(0, Number.MAX_SAFE_INTEGER, 'The setting SVC_UPLOAD_WORKSPACE_MAX.'),
      uploadCount: Integer(0, Number.MAX_SAFE_INTEGER),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        usedBytes: exampleUpload.sizeBytes,
        quotaBytes: 10_000_000_000,
        uploadCount: 1,
      },
    },
  }),
  delete: defineEndpoint({
    name: 'uploadsDelete',
    path: '/control-plane/v1/uploads/delete',
    tag: 'Uploads',
    scopes: ['agent', 'enqueue', 'integrate'],
    console: true,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Delete an upload, its bytes and its extracted text',
    description:
      'For who created the upload, and owners and admins at the console, unless a job has it ' +
      'attached. A job token deletes what the tool of its job created. ' +
      'URLs of the upload stop working. The space counts as free at once.',
    request: Type.Object({ workspaceId: Id('workspace'), uploadId: Id('upload') }),
    response: Ok({ deleted: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['UPLOAD_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, uploadId: exampleUploadId },
      response: { ok: true, deleted: true },
    },
  }),
  readBytes: defineEndpoint({
    name: 'uploadsReadBytes',
    method: 'GET',
    path: '/control-plane/v1/uploads/read-bytes',
    tag: 'Uploads',
    auth: 'signed-url',
    scopes: [],
    console: false,
    repeat: 'safe',
    summary: 'Fetch the bytes of an upload',
    description:
      'The address is the downloadUrl of uploads/get-download-url. The answer is an attachment ' +
      'with nosniff and a sandbox. Range is supported.',
    bytes: 'response',
    request: Type.Object(signedQuery),
    response: Type.Object({}),
    errors: ['UPLOAD_NOT_FOUND', 'UPLOAD_BYTES_MISSING', 'RANGE_NOT_SATISFIABLE'],
    example: { request: exampleQuery, response: {} },
  }),
} as const;
