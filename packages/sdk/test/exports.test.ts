import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { AgentProtocol, endpoints, RequestOf, ResponseOf } from '@signalbox/contract';
import type { Client } from '@signalbox/sdk';

const source = new URL('../src/', import.meta.url);

test('the SDK uses nothing that browsers lack', async () => {
  const files = (await readdir(source)).filter((name) => name.endsWith('.ts'));
  assert.ok(files.includes('index.ts'));
  for (const name of files) {
    const text = await readFile(new URL(name, source), 'utf8');
    assert.doesNotMatch(text, /from 'node:|\bimport\('node:/, name);
    assert.doesNotMatch(text, /\b(process|Buffer|require|setImmediate|__dirname)\b[.(]/, name);
  }
});

// Types only: `tsc` fails if a call loses the types of its row.
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Given<Fields> = { [Name in keyof Fields]-?: Exclude<Fields[Name], undefined> };
type Enqueue = Client['jobs']['enqueue'];
const requestIsTyped: Equal<
  Given<Parameters<Enqueue>[0]>,
  Given<RequestOf<typeof endpoints.jobs.enqueue>>
> = true;
const responseIsTyped: Equal<
  Awaited<ReturnType<Enqueue>>,
  ResponseOf<typeof endpoints.jobs.enqueue>
> = true;
const bodyIsNeeded: Equal<undefined extends Parameters<Enqueue>[0] ? true : false, false> = true;
const bodyMayBeLeftOut: Equal<
  undefined extends Parameters<Client['tokens']['revoke']>[0] ? true : false,
  true
> = true;

test('calls have the types of the endpoint table', () => {
  assert.ok(requestIsTyped && responseIsTyped && bodyIsNeeded && bodyMayBeLeftOut);
});

// Compiles only while the client has every call of the agent protocol, with its types.
const speaksTheAgentProtocol: Client extends AgentProtocol ? true : false = true;

test('a client has every call of the agent protocol', () => {
  assert.ok(speaksTheAgentProtocol);
});
