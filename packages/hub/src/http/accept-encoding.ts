import type { FastifyRequest } from 'fastify';

export type Encoding = 'br' | 'gzip';

/** The encoding that a client accepts and that makes the answer smallest; null: none. */
export function chooseEncoding(request: Pick<FastifyRequest, 'headers'>): Encoding | null {
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map((part) => part.replace(/;.*$/, '').trim());
  return (['br', 'gzip'] as const).find((known) => accepted.includes(known)) ?? null;
}
