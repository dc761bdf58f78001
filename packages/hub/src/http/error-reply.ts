import { type ErrorBody, type ErrorCode, statusOf } from '@signalbox/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../base/errors.ts';
import type { UnavailableLog } from './unavailable-log.ts';

declare module 'fastify' {
  interface FastifyInstance {
    unavailableLog: UnavailableLog;
  }

  interface FastifyContextConfig {
    /** The challenge of a refusal with the status 401. Default: `Bearer`. */
    challenge?: (refusal: ErrorCode) => string;
  }
}

const RETRY_AFTER_DEFAULT_MS = 1_000;
const MS_PER_SECOND = 1_000;
const BROKEN_OFF = 'The connection broke off before the whole body had arrived.';

/** Node's code for a body whose sender has gone. */
const BROKEN_OFF_CODE = 'ECONNRESET';

/** Translates Fastify's own errors into the codes of the contract. */
function fromFastify(error: FastifyError): HubError | null {
  switch (error.code) {
    case BROKEN_OFF_CODE:
      // An error of this code from elsewhere, such as from a mail server, has no status.
      return error.statusCode === 400 ? new HubError('INVALID_REQUEST', BROKEN_OFF) : null;
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HubError('BODY_TOO_LARGE');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HubError(
        'INVALID_REQUEST',
        'Send the body as JSON with the header content-type: application/json.',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HubError('INVALID_REQUEST', 'The body is shorter or longer than content-length.');
    case 'FST_ERR_BAD_URL':
      return new HubError('NOT_FOUND');
    default:
      // Other errors of Fastify with a status below 500 are faults of the request.
      return error.code?.startsWith('FST_') && (error.statusCode ?? 500) < 500
        ? new HubError(
            'INVALID_REQUEST',
            'The request is not valid HTTP: check its method, path and headers.',
            {
              cause: error,
            },
          )
        : null;
  }
}

/** Turns an error into an HTTP answer; nothing else does. Only the log gets its cause. */
export function replyWithError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = error instanceof HubError ? error : fromFastify(error as FastifyError);
  const refusal =
    known ??
    new HubError(
      'INTERNAL',
      'Internal error. The log of the hub has the cause under the request id.',
      {
        cause: error,
      },
    );
  const status = statusOf(refusal.code);
  request.refusalCode = refusal.code;
  if (status === 503) {
    request.server.unavailableLog.add(request.log, request.id, refusal);
  } else if (status >= 500) {
    request.log.error({ reqId: request.id, err: refusal.cause ?? refusal }, refusal.message);
  }
  if (status === 429 || status === 503) {
    const waitMs = refusal.retryAfterMs ?? RETRY_AFTER_DEFAULT_MS;
    reply.header('retry-after', String(Math.max(1, Math.ceil(waitMs / MS_PER_SECOND))));
  }
  if (status === 401) {
    const { challenge } = request.routeOptions.config;
    reply.header('www-authenticate', challenge?.(refusal.code) ?? 'Bearer');
  }
  const body: ErrorBody = {
    ok: false,
    error: refusal.code,
    message: refusal.message,
    requestId: request.id,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
  };
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}
