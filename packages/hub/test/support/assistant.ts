import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface ToolReply {
  isError: boolean;
  text: string;
  content: Record<string, unknown>;
}

export interface Assistant {
  client: Client;
  /** The pages that the client was asked to open. */
  opened: string[];
  call(name: string, input?: object): Promise<ToolReply>;
}

/** Revisions with `server/discover`, or those with `initialize`. */
export type Era = 'current' | 'before 2026';
export const eras: readonly Era[] = ['current', 'before 2026'];

interface AssistantOptions {
  era?: Era;
  /** How the person answers when the client is asked to open a page; absent: it cannot open one. */
  opens?: 'accept' | 'decline';
}

/** Connects the official client. It is closed at the end of the test. */
export async function connectAssistant(
  t: TestContext,
  baseUrl: string,
  token: string,
  { era = 'current', opens }: AssistantOptions = {},
): Promise<Assistant> {
  const opened: string[] = [];
  const capabilities = opens === undefined ? {} : { elicitation: { url: {} } };
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'current' ? 'auto' : 'legacy' } },
  );
  if (opens !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      assert.equal(params.mode, 'url');
      opened.push(String((params as { url?: unknown }).url));
      return { action: opens };
    });
  }
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), {
    requestInit: { headers },
  });
  await client.connect(transport);
  t.after(() => client.close());
  return {
    client,
    opened,
    async call(name, input = {}) {
      const result = await client.callTool({ name, arguments: { ...input } });
      return replyOf(result);
    },
  };
}

/** Calls a tool by one request, as a program without the library would. */
export async function postToolCall(
  baseUrl: string,
  { token, name, input }: { token: string | null; name: string; input: object },
): Promise<{ status: number; refusal: Record<string, unknown> | null; reply: ToolReply | null }> {
  const params = { name, arguments: input };
  const response = await postMessage(baseUrl, token, { id: 1, method: 'tools/call', params });
  const text = await response.text();
  if (response.status !== 200) {
    return { status: response.status, refusal: JSON.parse(text), reply: null };
  }
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  return { status: 200, refusal: null, reply: replyOf(result) };
}

export function postMessage(
  baseUrl: string,
  token: string | null,
  message: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

interface CallResult {
  isError?: boolean | undefined;
  content?: readonly { type: string; text?: string }[] | undefined;
  structuredContent?: unknown;
}

function replyOf({ isError = false, content = [], structuredContent = {} }: CallResult): ToolReply {
  const [first] = content;
  assert.ok(first?.text !== undefined, 'a tool answers with a text');
  return { isError, text: first.text, content: structuredContent as Record<string, unknown> };
}
