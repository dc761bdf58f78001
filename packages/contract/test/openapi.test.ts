import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { listErrorCodes } from '../src/endpoint-errors.ts';
import { consoleEndpointList, endpointList } from '../src/index.ts';
import { buildOpenApi, type OpenApiDocument } from '../src/openapi.ts';

const redocly = path.resolve(import.meta.dirname, '../../../node_modules/.bin/redocly');

function build(
  options: { endpoints?: typeof endpointList; baseUrl?: string } = {},
): OpenApiDocument {
  return buildOpenApi({
    endpoints: endpointList,
    baseUrl: 'http://127.0.0.1:4400',
    ...options,
  });
}

/** Lints with the strictest preset. Without a network, the linter reports nothing home. */
async function lint(document: OpenApiDocument): Promise<{ exitCode: number; output: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalbox-openapi-'));
  try {
    await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(document));
    return await new Promise((resolve) => {
      const args = [redocly, 'lint', '--extends=recommended-strict', 'openapi.json'];
      const env = {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      };
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) => {
        // Without a numeric code, the process did not start or was killed.
        const failed = typeof error?.code === 'number' ? error.code : -1;
        const exitCode = error === null ? 0 : failed;
        resolve({ exitCode, output: stdout + stderr });
      });
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lists every `$ref` of the document. */
function listRefs(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' ? [String(value)] : listRefs(value),
  );
}

function resolveRef(document: OpenApiDocument, ref: string): unknown {
  return ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
}

describe('openapi.json', () => {
  it('satisfies the strict linter without errors or warnings', async () => {
    const { exitCode, output } = await lint(build());
    assert.equal(exitCode, 0, output);
    assert.doesNotMatch(output, /warning/i);
  });

  it('satisfies the strict linter at localhost, where the host becomes a variable', async () => {
    const document = build({ baseUrl: 'http://localhost:4400/' });
    assert.deepEqual(document.servers, [
      {
        url: 'http://{host}:4400',
        description: 'This hub.',
        variables: {
          host: { default: 'localhost', description: 'The host on which the hub runs.' },
        },
      },
    ]);
    const { exitCode, output } = await lint(document);
    assert.equal(exitCode, 0, output);
  });

  it('fails the linter if an example does not match its schema', async () => {
    const [first] = endpointList.filter(({ name }) => name === 'workspacesResolve');
    assert.ok(first);
    const spoiled = { ...first, example: { ...first.example, request: { slug: 5 } } };
    const { exitCode, output } = await lint(build({ endpoints: [spoiled] }));
    assert.equal(exitCode, 1, output);
    assert.match(output, /no-invalid-media-type-examples/);
  });

  it('describes exactly the given endpoints', () => {
    const given = endpointList.filter(({ tag }) => tag === 'Runs' || tag === 'Health');
    const document = build({ endpoints: given });
    const described = Object.entries(document.paths).flatMap(([address, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${address}`),
    );
    assert.deepEqual(
      described,
      given.map((endpoint) => `${endpoint.method} ${endpoint.path}`),
    );
    assert.deepEqual(
      document.tags.map(({ name }) => name),
      ['Health', 'Runs'],
    );
  });

  it('documents every error code of every endpoint under its status', () => {
    const document = build();
    for (const endpoint of endpointList) {
      const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
      const codes = Object.values(operation?.responses ?? {}).flatMap((response) => {
        const [ref] = listRefs(response).filter((target) => target.includes('/responses/'));
        const whole = ref === undefined ? response : resolveRef(document, ref);
        return listRefs(whole)
          .filter((target) => target.startsWith('#/components/examples/'))
          .map((target) => target.slice('#/components/examples/'.length));
      });
      assert.deepEqual(codes.sort(), listErrorCodes(endpoint).sort(), endpoint.name);
    }
  });

  it('has no broken references, and shares the schemas of records', () => {
    const document = build();
    const refs = new Set(listRefs(document));
    for (const ref of refs) assert.notEqual(resolveRef(document, ref), undefined, ref);
    for (const name of ['Job', 'Run', 'Uncertainty', 'CloudAiJob', 'ContextItem', 'Error']) {
      assert.ok(refs.has(`#/components/schemas/${name}`), name);
    }
  });

  it('requires the authentication of the table', () => {
    const document = build();
    const securityOf = (name: string) => {
      const endpoint = endpointList.find((row) => row.name === name);
      return document.paths[endpoint?.path ?? '']?.[endpoint?.method.toLowerCase() ?? ''];
    };
    assert.deepEqual(securityOf('health')?.security, []);
    assert.deepEqual(securityOf('jobsList')?.security, [{ bearerToken: [] }]);
    assert.deepEqual(securityOf('integrationsIngest')?.security, [{ integrationSecret: [] }]);
    assert.deepEqual(securityOf('uploadsReadBytes')?.security, [{ signedUrl: [] }]);
  });

  it('rejects console endpoints and tags without a description', () => {
    const [row] = endpointList;
    assert.ok(row);
    assert.throws(() => build({ endpoints: [{ ...row, auth: 'session' }] }), /console endpoint/);
    assert.throws(() => build({ endpoints: [{ ...row, tag: 'Nothing' }] }), /no description/);
    assert.ok(consoleEndpointList.length > 0);
    assert.throws(() => build({ endpoints: consoleEndpointList }));
  });
});
