import assert from 'node:assert/strict';
import { rowsOf } from './row.ts';
import { type Body, paths, type SpecClient } from './spec-client.ts';

const GET_PATHS: readonly string[] = [paths.health, paths.openapi];
/** The paths by which a client gets a token, which cannot require one. */
const TOKENLESS_PATHS: readonly string[] = [paths.startDevice, paths.pollDevice];
/** All paths except the documents. */
export const callPaths = Object.values(paths).filter((path) => !GET_PATHS.includes(path));

export const BODY_BYTES = 262_144;

/** A resolve request of exactly so many bytes, characters of two bytes among them. */
export function resolveOfBytes(spec: SpecClient, sizeBytes: number): string {
  const bare = JSON.stringify({ slug: spec.slug, padding: 'ä' });
  const text = bare.replace('ä', `ä${'x'.repeat(sizeBytes - Buffer.byteLength(bare))}`);
  assert.equal(Buffer.byteLength(text), sizeBytes);
  return text;
}

function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

export const generalRows = rowsOf('Endpoints', [
  [
    'general-1',
    'Methods are POST except the health check and the description document (GET).',
    async (spec) => {
      const { body } = await spec.get(paths.openapi);
      for (const [path, operations] of Object.entries(body.paths as Record<string, Body>)) {
        const specified = Object.entries(operations).filter(
          ([, operation]) => operation['x-origin'] === 'specification',
        );
        for (const [method] of specified) {
          assert.equal(method, GET_PATHS.includes(path) ? 'get' : 'post', path);
        }
      }
      for (const path of callPaths) assert.equal((await spec.get(path)).status, 405, path);
      for (const path of GET_PATHS) assert.equal((await spec.post(path, {})).status, 405, path);
    },
  ],
  [
    'general-2',
    'Request bodies are JSON.',
    async (spec) => {
      for (const body of ['slug=home', '<slug/>', '{"slug":', '\u0000']) {
        await spec.fail(paths.resolveWorkspace, body, 400);
      }
    },
  ],
  [
    'general-3',
    'Request bodies must not exceed 256 KB: exactly 262,144 bytes pass.',
    async (spec) => {
      const { workspaceId } = await spec.ok(
        paths.resolveWorkspace,
        resolveOfBytes(spec, BODY_BYTES),
      );
      assert.equal(workspaceId, spec.workspaceId);
    },
  ],
  [
    'general-4',
    'Request bodies must not exceed 256 KB: 262,145 bytes are refused.',
    async (spec) => {
      await spec.fail(paths.resolveWorkspace, resolveOfBytes(spec, BODY_BYTES + 1), 413);
    },
  ],
  [
    'general-5',
    'Request bodies must not exceed 256 KB, however they are sent: the bytes of a body without ' +
      'content-length are counted as they come.',
    async (spec) => {
      const fits = halves(resolveOfBytes(spec, BODY_BYTES));
      assert.equal((await spec.postChunked(paths.resolveWorkspace, fits)).status, 200);
      const exceeds = halves(resolveOfBytes(spec, BODY_BYTES + 1));
      assert.equal((await spec.postChunked(paths.resolveWorkspace, exceeds)).status, 413);
    },
  ],
  [
    'general-6',
    'Responses are JSON. Success carries ok: true, and endpoint-specific responses carry their ' +
      'fields next to ok.',
    async (spec) => {
      const { headers, body } = await spec.post(paths.resolveWorkspace, { slug: spec.slug });
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.deepEqual(Object.keys(body).sort(), ['ok', 'workspace', 'workspaceId']);
      assert.equal(body.ok, true);
    },
  ],
  [
    'general-7',
    'Failure carries ok: false and error (string code).',
    async (spec) => {
      for (const path of callPaths) {
        const { headers, body } = await spec.post(path, [], null);
        assert.match(headers.get('content-type') ?? '', /^application\/json/);
        assert.equal(body.ok, false);
        assert.match(body.error, /^[A-Z_]+$/);
      }
    },
  ],
  [
    'general-8',
    'Every endpoint except the two GET endpoints and the two integration endpoints requires ' +
      'Authorization: Bearer <ACCESS_TOKEN>. (Of the device flow, that is how a client gets it.)',
    async (spec) => {
      for (const path of callPaths.filter((path) => !TOKENLESS_PATHS.includes(path))) {
        await spec.fail(path, {}, 401, null);
      }
      for (const path of GET_PATHS) assert.equal((await spec.get(path)).status, 200);
      // A client that sends its token with every request is served as well.
      await spec.ok(paths.startDevice, { workspaceSlug: spec.slug });
    },
  ],
  [
    'general-9',
    'Only the fields marked optional are known to be optional: a request with all the others is ' +
      'complete, and so is one with the optional ones too.',
    async (spec) => {
      const { workspaceId } = spec;
      const repoId = await spec.addRepository();
      const agentId = await spec.addAgent();
      await spec.ok(paths.startDevice, { workspaceSlug: spec.slug });
      await spec.ok(paths.startDevice, { workspaceSlug: spec.slug, machineName: 'build-7' });
      await spec.ok(paths.listJobs, { workspaceId });
      for (const more of [{}, { requirements: 'None.' }]) {
        const jobId = await spec.addJob(repoId, more);
        await spec.claim(agentId);
        const ref = { workspaceId, jobId, agentId };
        await spec.ok(paths.jobHeartbeat, { ...ref, leaseMs: 600_000 });
        await spec.ok(paths.jobHeartbeat, { ...ref, leaseMs: 600_000, message: 'On it.' });
        const evidence = { commitSha: 'abc', changedFiles: [] };
        await spec.ok(paths.complete, { ...ref, outcome: 'done', message: 'Done.', evidence });
      }
    },
  ],
  [
    'general-10',
    'Paths are relative to {base_url}.',
    async (spec) => {
      for (const path of callPaths) {
        assert.notEqual((await spec.post(path, {})).status, 404, path);
        assert.equal((await spec.post(`/nowhere${path}`, {})).status, 404, path);
      }
    },
  ],
  [
    'health-1',
    'GET /control-plane/health: no request, no auth; {ok: true}.',
    async (spec) => {
      const { status, text } = await spec.get(paths.health);
      assert.equal(status, 200);
      assert.equal(text, '{"ok":true}');
    },
  ],
  [
    'health-2',
    'GET /control-plane/openapi.json: no request, no auth; the machine-readable description.',
    async (spec) => {
      const { status, headers, body } = await spec.get(paths.openapi);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      assert.ok(body.info.title && body.paths && body.components);
    },
  ],
]);
