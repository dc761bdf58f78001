import { connect } from 'node:net';

/** The bytes that the hub sent on a connection until it closed it. */
export interface RawAnswer {
  /** Everything, as it came. */
  text: string;
  /** The status of each answer, in order. */
  statuses: number[];
}

/**
 * Writes bytes to a new connection and reads until the hub closes it. Send `connection: close`
 * to make the hub close after a valid request.
 */
export function sendRaw(baseUrl: string, ...parts: (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part);
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The hub may close while we still write: what it said before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve({ text, statuses: statusesOf(text) }));
  });
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
