import type { Target } from './connection.ts';

/** Formats a POST request with JSON. The body is ASCII, so characters equal bytes. */
export function formatPost(target: Target, path: string, token: string, body: string): string {
  return `${formatHead(target, path, token)}${body.length}\r\n\r\n${body}`;
}

/** The request head up to the digits of its content-length. */
export function formatHead(target: Target, path: string, token: string): string {
  return (
    `POST ${path} HTTP/1.1\r\n` +
    `host: ${target.host}:${target.port}\r\n` +
    `authorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\n' +
    'content-length: '
  );
}

const sentence = 'Add a health check to the API and describe it in the documents. ';

/** The prompt of every job of a measure, for hub and peers alike: 400 bytes. */
export const prompt = sentence.repeat(7).slice(0, 400);
