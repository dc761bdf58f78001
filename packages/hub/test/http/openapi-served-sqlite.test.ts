import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Endpoint, endpointList, endpoints, listErrorCodes } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { checkRequestId, exchange } from '../support/http-exchange.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const redocly = join(import.meta.dirname, '../../../../node_modules/.bin/redocly');

interface Description {
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId: string; responses: object }>>;
}

async function describeHub(t: TestContext) {
  const { hub } = await startHomeWorld(t);
  const { path } = endpoints.health.openapi;
  const answer = await exchange(hub.baseUrl, { method: 'GET', path });
  // Other tests compare the answers with the description; this one reads the description.
  const document = answer.body as unknown as Description;
  const isServed = ({ path, method }: Endpoint) =>
    document.paths[path]?.[method.toLowerCase()] !== undefined;
  return { baseUrl: hub.baseUrl, answer, document, isServed };
}

/** Lints in a separate process, in a folder without settings, without network access. */
async function lint(t: TestContext, text: string): Promise<{ failed: boolean; output: string }> {
  const cwd = makeTempDir(t);
  await writeFile(join(cwd, 'openapi.json'), text);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const args = [redocly, 'lint', '--extends=recommended-strict', 'openapi.json'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: stdout + stderr });
    });
  });
}

test('the served description has no findings of the strict linter', async (t) => {
  const { answer } = await describeHub(t);
  const { failed, output } = await lint(t, answer.text);
  assert.ok(!failed, output);
  assert.doesNotMatch(output, /warning/i);
});

test('the description names this hub and only endpoints that have a handler', async (t) => {
  const { baseUrl, document, isServed } = await describeHub(t);
  assert.deepEqual(
    document.servers.map(({ url }) => url),
    [baseUrl],
  );
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = endpointList.filter(isServed).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(described.sort(), served.sort());
  for (const { method, path, auth } of endpointList.filter(isServed)) {
    const answer = await exchange(baseUrl, {
      method,
      path,
      ...(method === 'GET' ? {} : { body: [] }),
    });
    const open = method === 'GET' ? 200 : 400;
    const expected = auth === 'none' ? open : 401;
    assert.equal(answer.status, expected, `${path}: ${answer.text}`);
  }
});

test('an endpoint of the table without a handler is 404 and is not described', async (t) => {
  const { baseUrl, isServed } = await describeHub(t);
  const unbound = endpointList.filter((endpoint) => !isServed(endpoint));
  const servedPaths = new Set(endpointList.filter(isServed).map(({ path }) => path));
  for (const { method, path, name } of unbound) {
    assert.ok(!servedPaths.has(path), `${path} answers another method`);
    const answer = await exchange(baseUrl, {
      method,
      path,
      ...(method === 'GET' ? {} : { body: {} }),
    });
    assert.equal(answer.status, 404, `${name}: ${answer.text}`);
    assert.equal(answer.body.error, 'NOT_FOUND');
    checkRequestId(answer);
  }
});

test('every code that an endpoint may answer is described under it', async (t) => {
  const { document, isServed } = await describeHub(t);
  const { components } = document as unknown as { components: { responses: object } };
  for (const endpoint of endpointList.filter(isServed)) {
    const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    const text = JSON.stringify(operation?.responses);
    const shared = [...text.matchAll(/#\/components\/responses\/(\w+)/g)].map(
      ([, name]) => (components.responses as Record<string, unknown>)[name ?? ''],
    );
    const whole = text + JSON.stringify(shared);
    for (const code of listErrorCodes(endpoint)) {
      assert.ok(whole.includes(`#/components/examples/${code}"`), `${endpoint.name}: ${code}`);
    }
  }
});
