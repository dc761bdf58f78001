/** A hub that plants a text into every string that a schema allows it to send. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { consoleEndpoints, consolePathOf, type Endpoint, endpoints } from '@signalbox/contract';

/** The parts of JSON Schema that schemas of answers use. */
interface Schema {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

/** Fields that end a loop over pages or lines. */
const ends: Readonly<Record<string, unknown>> = { nextCursor: null, nextLine: 1_000 };
const states = ['open', 'done', 'passed', 'failed', 'online'];

/** A value of a schema, with the text in every string that is neither of a set nor a time. */
export function plant(schema: Schema, text: string): unknown {
  const { type, anyOf, properties, items, format } = schema;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) {
    return states.find((state) => schema.enum?.includes(state)) ?? schema.enum[0];
  }
  if (anyOf !== undefined) {
    const [first = {}] = anyOf.filter((each) => each.type !== 'null');
    return plant(anyOf.find(({ type: each }) => each === 'object') ?? first, text);
  }
  if (format === 'date-time') return '2026-11-02T09:00:00.000Z';
  if (type === 'string') return text;
  if (type === 'integer' || type === 'number') return 2;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array') return plantEach(items ?? {}, text);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => {
    // A page of matches is the last one without a next line.
    const isEnd = name in ends && !(name === 'nextLine' && 'matches' in (properties ?? {}));
    if (name in ends) return [name, isEnd ? ends[name] : null];
    return [name, plant(field, text)];
  });
  return { ...open(text), ...Object.fromEntries(fields) };
}

/** Items of all kinds, where the schema has kinds. */
function plantEach(items: Schema, text: string): unknown[] {
  const kinds = items.properties?.kind?.enum;
  const each = [plant(items, text), plant(items, text)];
  return kinds === undefined ? each : kinds.map((kind) => Object.assign({}, each[0], { kind }));
}

/** Fields that agents send beside those of a schema, such as in evidence. */
function open(text: string): Record<string, unknown> {
  return {
    [text]: text,
    branch: text,
    byName: text,
    executor: { name: text, version: text, sessionId: text, denied: [text, text] },
    reported: [{ check: text, outcome: 'passed', detail: text, link: text }],
    attachments: [{ fileName: text, sizeBytes: 2, uploadId: text }],
    findings: [{ file: text, line: 2, severity: text, message: text }],
  };
}

const rows: ReadonlyMap<string, Endpoint> = new Map(
  [...Object.values(endpoints), ...Object.values(consoleEndpoints)]
    .flatMap((group): Endpoint[] => Object.values(group))
    .flatMap((row) => [[row.path, row] as const, [consolePathOf(row), row] as const]),
);

/** Starts the hub. While it refuses, the text is in every field of the refusal. */
export async function startHostileHub(text: string, isRefusing: () => boolean) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://hub').pathname;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    const row = rows.get(path);
    response.setHeader('content-type', 'application/json');
    if (row === undefined || isRefusing()) {
      response.statusCode = 400;
      const details = [{ path: text, message: text }];
      const refusal = { ok: false, error: text, message: text, requestId: text, details };
      response.end(JSON.stringify(refusal));
      return;
    }
    const answer = plant(row.response, text) as Record<string, unknown>;
    // A second page is empty, where only that ends the reading.
    if (Array.isArray(answer.items) && sent.after > 0) answer.items = [];
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has this form.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}
