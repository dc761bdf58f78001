import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  consoleEndpointList,
  consoleEndpoints,
  consolePathOf,
  errorCodes,
  listErrorCodes,
  mirroredEndpointList,
  mirroredEndpoints,
} from '../src/index.ts';
import { findUnbounded } from './schema-bounds.ts';

function assertValid(schema: TSchema, value: unknown): void {
  const [first] = [...Compile(schema).Errors(value)];
  assert.equal(first && `${first.instancePath} ${first.message}`, undefined);
}

describe('the table of the console', () => {
  it('has unique names, groups and paths, also among mirrored rows', () => {
    const rows = [...consoleEndpointList, ...mirroredEndpointList];
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
    assert.equal(new Set(rows.map(consolePathOf)).size, rows.length);
    const groups = [...Object.keys(consoleEndpoints), ...Object.keys(mirroredEndpoints)];
    assert.equal(new Set(groups).size, groups.length);
  });

  it('leaves out rows that are not mirrored, in its types too', () => {
    // @ts-expect-error: the types follow the rows, so a screen cannot name this call
    assert.equal(mirroredEndpoints.jobs.heartbeat, undefined);
    // @ts-expect-error: no row of this group is mirrored
    assert.equal(mirroredEndpoints.tokens, undefined);
    assert.equal(mirroredEndpoints.jobs.list.path, '/control-plane/v1/jobs/list');
  });
});

for (const endpoint of consoleEndpointList) {
  describe(endpoint.path, () => {
    it('is a POST under the prefix of the console, with a session or without authentication', () => {
      assert.equal(endpoint.method, 'POST');
      assert.match(endpoint.path, /^\/console-api\/v1\/[a-z-]+\/[a-z-]+$/);
      assert.ok(endpoint.auth === 'session' || endpoint.auth === 'none');
    });

    it('has examples that its schemas accept', () => {
      assertValid(endpoint.request, endpoint.example.request);
      assertValid(endpoint.response, endpoint.example.response);
    });

    it('bounds every string and array, and allows unknown fields', () => {
      assert.deepEqual(findUnbounded(endpoint.request), []);
      assert.deepEqual(findUnbounded(endpoint.response), []);
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
  });
}
