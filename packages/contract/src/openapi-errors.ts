import type { Endpoint } from './endpoint.ts';
import { groupErrorCodes } from './endpoint-errors.ts';
import {
  conditionOf,
  type ErrorBody,
  type ErrorCode,
  errorCodes,
  statusOf,
} from './error-codes.ts';
import type { JsonValue } from './openapi-schemas.ts';

export const requestIdHeader = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };

/** The headers that answers share, for `components`. */
export const headerComponents: Record<string, JsonValue> = {
  RequestId: {
    description:
      'Identifies this request in the log of the hub. Include it when you report a problem.',
    schema: { type: 'string', maxLength: 100 },
    example: 'req_1j78s1a80003qjivc1sp',
  },
  IgnoredFields: {
    description: 'Names of the request fields that the hub does not know and ignored.',
    schema: { type: 'string', maxLength: 2_000 },
    example: 'promt, prioritty',
  },
  RetryAfter: {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
    example: 2,
  },
  Allow: {
    description: 'The methods that this path accepts.',
    schema: { type: 'string', maxLength: 100 },
    example: 'POST',
  },
  ContentRange: {
    description: 'The range of the bytes, and how many there are.',
    schema: { type: 'string', maxLength: 100 },
    example: 'bytes 0-1023/48213',
  },
};

const headersOfStatus: Record<number, Record<string, JsonValue>> = {
  405: { allow: { $ref: '#/components/headers/Allow' } },
  416: { 'content-range': { $ref: '#/components/headers/ContentRange' } },
  429: { 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
  503: { 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
};

/** Builds the schemas of `ErrorBody` and its code, with the codes that the writer has used. */
export function buildErrorSchemas(writer: ErrorWriter): Record<string, JsonValue> {
  const codes = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => code in writer.examples);
  const conditions = listConditions(codes, (code) => ` (${statusOf(code)})`);
  return {
    ErrorCode: {
      type: 'string',
      enum: codes,
      description: `Stable: codes are added, never renamed.\n\n${conditions}`,
    },
    Error: errorSchema,
  };
}

const errorSchema: JsonValue = {
  type: 'object',
  description: 'The body of every failure.',
  required: ['ok', 'error', 'message', 'requestId'],
  properties: {
    ok: { type: 'boolean', const: false },
    error: { $ref: '#/components/schemas/ErrorCode' },
    message: { type: 'string', maxLength: 2_000, description: 'One sentence for people.' },
    requestId: { type: 'string', maxLength: 100, description: 'The same as in x-request-id.' },
    details: {
      type: 'array',
      maxItems: 100,
      description: 'With INVALID_REQUEST: the fields that are wrong.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', maxLength: 1_000, description: 'A JSON pointer to the field.' },
          message: { type: 'string', maxLength: 1_000 },
        },
      },
    },
  },
};

function listConditions(codes: readonly ErrorCode[], suffix = (_code: ErrorCode) => ''): string {
  return codes.map((code) => `- \`${code}\`${suffix(code)}: ${conditionOf(code)}`).join('\n');
}

function exampleOf(code: ErrorCode): JsonValue {
  const body: Omit<ErrorBody, 'details'> = {
    ok: false,
    error: code,
    message: conditionOf(code),
    requestId: 'req_1j78s1a80003qjivc1sp',
  };
  const details = [{ path: '/workspaceId', message: 'must be a string' }];
  return {
    summary: conditionOf(code),
    value: code === 'INVALID_REQUEST' ? { ...body, details } : { ...body },
  };
}

function buildResponse(status: number, codes: readonly ErrorCode[]): JsonValue {
  return {
    description: listConditions(codes),
    headers: { ...requestIdHeader, ...headersOfStatus[status] },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { error: { type: 'string', enum: [...codes] } } },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  };
}

/** `METHOD_NOT_ALLOWED` → `MethodNotAllowed`. */
function nameOf(code: ErrorCode): string {
  return code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}

/** Writes the failures of endpoints and collects the components that they refer to. */
export interface ErrorWriter {
  write(endpoint: Endpoint): Record<string, JsonValue>;
  readonly responses: Record<string, JsonValue>;
  readonly examples: Record<string, JsonValue>;
}

export function createErrorWriter(): ErrorWriter {
  const responses: Record<string, JsonValue> = {};
  const examples: Record<string, JsonValue> = {};

  function writeStatus(status: number, codes: readonly ErrorCode[]): JsonValue {
    for (const code of codes) examples[code] ??= exampleOf(code);
    const [code] = codes;
    // The codes of 400 differ by endpoint; the other statuses have the same codes everywhere.
    if (status === 400 || code === undefined) return buildResponse(status, codes);
    const name = codes.length === 1 ? nameOf(code) : 'TokenRefused';
    responses[name] ??= buildResponse(status, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    write: (endpoint) =>
      Object.fromEntries(
        [...groupErrorCodes(endpoint)].map(([status, codes]) => [
          String(status),
          writeStatus(status, codes),
        ]),
      ),
    responses,
    examples,
  };
}
