import type { Socket } from 'node:net';
import type { ErrorBody, IdSource } from '@signalbox/contract';
import { STATUS_CODES } from '../base/node-http.ts';
import type { RequestLog } from './request-log.ts';

/** An error below HTTP requests, which no route and no hook sees. */
interface ClientError extends Error {
  code?: string;
}

/** Statuses of plain HTTP; the contract has no codes for these errors. */
const answers: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive: send it again.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KB: send fewer or shorter ones.'],
};
const notHttp: [status: number, message: string] = [
  400,
  'The request is not valid HTTP/1.1: check its request line, headers and length.',
];

/**
 * Answers an invalid request with an error body of the contract and closes the connection.
 * @param onRefused called for each.
 */
export function createClientErrorHandler(
  ids: IdSource,
  onRefused: RequestLog['refuseUnread'],
): (error: ClientError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const [status, message] = answers[error.code ?? ''] ?? notHttp;
    const requestId = ids('request');
    const body: ErrorBody = { ok: false, error: 'INVALID_REQUEST', message, requestId };
    const text = JSON.stringify(body);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
    // It is not known where the next request on this connection would begin.
    socket.destroySoon();
    onRefused(socket, { reqId: requestId, status, error: body.error });
  };
}
