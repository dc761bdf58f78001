import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A minimal provider: Anthropic's Messages API over real HTTP. How the executor handles each kind
 * of answer is tested in the agent package.
 */
export interface ModelProvider {
  readonly key: string;
  readonly baseUrl: string;
  /** Makes the next call fail with this status. */
  refuseNext(status: number): void;
  /** Holds the next call; resolves when it has arrived, with a function that answers it. */
  holdNext(): Promise<() => void>;
  stop(): Promise<void>;
}

const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'sonnet-2026',
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 7 },
};

export async function startModelProvider(): Promise<ModelProvider> {
  const key = 'sk-test-0123456789abcdef';
  let refusal: number | null = null;
  let onHeld: ((answerIt: () => void) => void) | null = null;

  const server = createServer(async (request, response) => {
    for await (const _chunk of request) {
      // The question is ignored.
    }
    const given = String(request.headers['x-api-key']);
    if (given !== key) return refuse(response, 401, `Incorrect API key provided: ${given}.`);
    const status = refusal;
    refusal = null;
    if (status !== null) return refuse(response, status, 'Rejected by the test.');
    const hold = onHeld;
    onHeld = null;
    if (hold === null) send(response, 200, answer);
    else hold(() => send(response, 200, answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    key,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    refuseNext(status) {
      refusal = status;
    },
    holdNext: () =>
      new Promise((resolve) => {
        onHeld = resolve;
      }),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, { type: 'error', error: { type: 'invalid_request_error', message } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
