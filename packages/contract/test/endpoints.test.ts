import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { endpointList, endpoints, errorCodes, listErrorCodes } from '../src/index.ts';
import { findUnbounded } from './schema-bounds.ts';

/** Method and path of every endpoint that the specification names. */
const specified = [
  'GET /control-plane/health',
  'GET /control-plane/openapi.json',
  'POST /control-plane/v1/auth/device/poll',
  'POST /control-plane/v1/auth/device/start',
  'POST /control-plane/v1/auth/token/revoke',
  'POST /control-plane/v1/cloud-ai-jobs/claim-next',
  'POST /control-plane/v1/cloud-ai-jobs/complete',
  'POST /control-plane/v1/cloud-ai-jobs/heartbeat',
  'POST /control-plane/v1/context-packs/build-run-v1',
  'POST /control-plane/v1/context-packs/resolve-run-v1',
  'POST /control-plane/v1/job-events/list-for-job',
  'POST /control-plane/v1/jobs/claim-next',
  'POST /control-plane/v1/jobs/complete',
  'POST /control-plane/v1/jobs/enqueue',
  'POST /control-plane/v1/jobs/heartbeat',
  'POST /control-plane/v1/jobs/list',
  'POST /control-plane/v1/repos/get',
  'POST /control-plane/v1/repos/resolve',
  'POST /control-plane/v1/repos/upsert',
  'POST /control-plane/v1/runs/upsert',
  'POST /control-plane/v1/uncertainties/add-resolution',
  'POST /control-plane/v1/uncertainties/create-with-auto-promotion',
  'POST /control-plane/v1/uploads/get-download-url',
  'POST /control-plane/v1/workspaces/resolve',
  'POST /control-plane/v2/agents/heartbeat',
  'POST /control-plane/v2/runs/upsert',
  'POST /integrations/chat/events/v1',
  'POST /integrations/events/v1/ingest',
];

/** Required fields (docs/reference/protocol.md, section 1.4); all others are optional. */
const requiredByPath: Record<string, readonly string[]> = {
  '/control-plane/v1/runs/upsert': ['workspaceId', 'repoId', 'runRef', 'status'],
  '/control-plane/v2/runs/upsert': ['workspaceId', 'runId', 'status'],
  // runId too, unless jobId is sent (section 5.2).
  '/control-plane/v1/uncertainties/create-with-auto-promotion': [
    'workspaceId',
    'prompt',
    'kind',
    'confidence',
  ],
  '/control-plane/v1/uncertainties/add-resolution': [
    'workspaceId',
    'uncertaintyId',
    'mode',
    'value',
    'confidence',
  ],
  '/control-plane/v1/cloud-ai-jobs/claim-next': ['workspaceId', 'agentId'],
  '/control-plane/v1/cloud-ai-jobs/heartbeat': ['workspaceId', 'cloudAiJobId', 'agentId'],
  '/control-plane/v1/cloud-ai-jobs/complete': ['workspaceId', 'cloudAiJobId', 'agentId', 'outcome'],
  '/control-plane/v1/context-packs/build-run-v1': ['workspaceId', 'runId'],
  '/control-plane/v1/context-packs/resolve-run-v1': ['workspaceId', 'runId'],
  '/control-plane/v1/uploads/get-download-url': ['workspaceId', 'uploadId'],
  '/control-plane/v1/jobs/enqueue': ['workspaceId', 'repoId', 'kind', 'prompt'],
  '/control-plane/v1/jobs/claim-next': ['workspaceId', 'agentId'],
  '/control-plane/v1/jobs/heartbeat': ['workspaceId', 'jobId', 'agentId'],
  '/control-plane/v1/jobs/complete': ['workspaceId', 'jobId', 'agentId', 'outcome'],
  '/control-plane/v1/jobs/list': ['workspaceId'],
  '/control-plane/v1/job-events/list-for-job': ['workspaceId', 'jobId'],
  '/control-plane/v2/agents/heartbeat': ['workspaceId', 'machineFingerprint'],
  '/control-plane/v1/repos/upsert': ['workspaceId', 'remoteUrlHash'],
  '/control-plane/v1/auth/device/start': ['workspaceSlug'],
};

function assertValid(schema: TSchema, value: unknown): void {
  const [first] = [...Compile(schema).Errors(value)];
  assert.equal(first && `${first.instancePath} ${first.message}`, undefined);
}

describe('the endpoint table', () => {
  it('marks exactly the endpoints of the specification as such', () => {
    const rows = endpointList.filter(({ origin }) => origin === 'specification');
    assert.deepEqual(rows.map(({ method, path }) => `${method} ${path}`).sort(), specified);
  });

  it('has unique names and unique pairs of method and path', () => {
    const names = endpointList.map(({ name }) => name);
    const addresses = endpointList.map(({ method, path }) => `${method} ${path}`);
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(addresses).size, addresses.length);
  });

  it('has extensions under the control plane prefix, as group and verb', () => {
    const extensions = endpointList.filter(({ origin }) => origin === 'extension');
    // The checks of a hub's health are beside the one of the specification.
    for (const { path } of extensions.filter(({ tag }) => tag !== 'Health')) {
      assert.match(path, /^\/control-plane\/v1\/[a-z-]+(\/[a-z-]+){1,2}$/);
    }
  });

  it('requires only the fields of protocol.md, section 1.4', () => {
    for (const [path, required] of Object.entries(requiredByPath)) {
      const row = endpointList.find((endpoint) => endpoint.path === path);
      assert.deepEqual([...(row?.request.required ?? [])].sort(), [...required].sort(), path);
    }
  });
});

for (const endpoint of endpointList) {
  describe(`${endpoint.method} ${endpoint.path}`, () => {
    it('has an example request that its schema accepts', () => {
      assertValid(endpoint.request, endpoint.example.request);
    });

    it('has an example response that its schema accepts', () => {
      assertValid(endpoint.response, endpoint.example.response);
    });

    it('bounds every string and array, and allows unknown fields', () => {
      assert.deepEqual(findUnbounded(endpoint.request), []);
      assert.deepEqual(findUnbounded(endpoint.response), []);
    });

    it('has defaults that their schemas accept', () => {
      for (const schema of Object.values(endpoint.request.properties)) {
        if ('default' in schema) assertValid(schema, schema.default);
      }
    });

    it('is a POST unless it is a document, a stream or raw bytes', () => {
      const isSigned = endpoint.auth === 'signed-url';
      if (isSigned) assert.ok(endpoint.bytes !== undefined);
      else if (endpoint.streams) assert.equal(endpoint.method, 'GET');
      else assert.equal(endpoint.method, endpoint.tag === 'Health' ? 'GET' : 'POST');
    });

    it('lists error codes that exist, each once, and none that it implies', () => {
      assert.equal(new Set(endpoint.errors).size, endpoint.errors.length);
      for (const code of endpoint.errors) assert.ok(code in errorCodes, code);
      const implied = listErrorCodes({ ...endpoint, errors: [] });
      assert.deepEqual(
        endpoint.errors.filter((code) => implied.includes(code)),
        [],
      );
    });

    it('says idempotent exactly when it has an optional key', () => {
      const keyed = 'idempotencyKey' in endpoint.request.properties && endpoint.auth === 'bearer';
      assert.equal('idempotent' in endpoint.response.properties, keyed);
    });
  });
}

describe('an ingested event', () => {
  const ingest = Compile(endpoints.integrations.ingest.request);
  const ownEvent = { idempotencyKey: 'k1', source: 'tracker', type: 'issue.opened' };
  const cloudEvent = { specversion: '1.0', id: '1', source: '/tracker', type: 'issue.opened' };

  it("has the hub's own fields, with the id or the slug of its workspace", () => {
    assert.equal(ingest.Check({ ...ownEvent, workspaceId: 'ws_1' }), true);
    assert.equal(ingest.Check({ ...ownEvent, workspaceSlug: 'acme' }), true);
    assert.equal(ingest.Check(ownEvent), false);
    assert.equal(ingest.Check({ workspaceId: 'ws_1', source: 'tracker', type: 'x' }), false);
  });

  it('or is a CloudEvent with the workspace as an extension attribute', () => {
    assert.equal(ingest.Check({ ...cloudEvent, workspaceid: 'ws_1', customattribute: 1 }), true);
    assert.equal(ingest.Check(cloudEvent), false);
    assert.equal(ingest.Check({ ...cloudEvent, workspaceid: 'ws_1', specversion: '0.3' }), false);
  });
});
