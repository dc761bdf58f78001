// A process between a local PostgreSQL and its starter. The starter may be killed at any time
// without a chance to clean up. The keeper then sees its standard input close, ends the server and
// removes its files.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type KeeperMessage,
  type KeeperOrder,
  type KeeperRequest,
  keeperSocketName,
} from './keeper-protocol.ts';
import { ServerProcess } from './server-process.ts';

const input = createInterface({ input: process.stdin });
// The output has no reader once the starter has ended.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

input.once('line', (line) => keep(JSON.parse(line) as KeeperOrder));

function keep(order: KeeperOrder): void {
  const server = new ServerProcess(order);
  let isOver = false;
  const endOnce = async () => {
    await server.stop();
    rmSync(order.folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  };
  const end = () => {
    if (!isOver) void endOnce();
    isOver = true;
  };
  const run = async () => {
    await server.create();
    await server.start();
    say({ port: server.port });
    const output = await server.ended();
    if (!isOver) process.stderr.write(`signalbox: the local PostgreSQL ended:\n${output}\n`);
  };
  // A connection proves that this process is alive; see `stale-folders.ts`.
  createServer((connection) => connection.resume()).listen(join(order.folder, keeperSocketName));
  process.stdin.on('end', end).on('close', end);
  process.once('SIGTERM', end);
  const sayFailure = (error: unknown) => {
    // Ignore failures caused by the shutdown.
    if (!isOver) say({ failure: error instanceof Error ? error.message : String(error) });
  };
  input.on('line', (line) => void answer(server, line).then(say, sayFailure));
  void run().catch(sayFailure).then(end);
}

async function answer(server: ServerProcess, line: string): Promise<KeeperMessage> {
  const request = JSON.parse(line) as KeeperRequest;
  if ('start' in request) await server.startAgain();
  else await server.end(request.end);
  return { port: server.port };
}

function say(message: KeeperMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
