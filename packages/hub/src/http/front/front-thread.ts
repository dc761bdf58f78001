import { parentPort, workerData } from 'node:worker_threads';
import { createIdSource, endpointList } from '@signalbox/contract';
import { systemClock } from '../../clock.ts';
import { assert } from '../../errors.ts';
import { Api } from '../bind.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import { Limiter } from '../limiter.ts';
import { listenShared } from '../listen.ts';
import { createServer } from '../server.ts';
import { SharedAnswers } from '../shared-answers.ts';
import { Core } from './core.ts';
import type { FrontStart, ToCore, ToFront } from './messages.ts';
import { relayOthers } from './relay.ts';

/* A front thread: receives requests, validates them and sends answers; the core performs them. */

assert(parentPort !== null, 'this file runs as a worker thread only');
const port = parentPort;
// `FrontThreads` starts this thread with it.
const start = workerData as FrontStart;

const core = new Core(port);
const draining = { isDraining: false };
let hubs = 1;
const limiter = new Limiter({ limits: start.limits, clock: systemClock, hubs: () => hubs });
const server = createServer({
  limiter,
  draining,
  ids: createIdSource(systemClock.nowMs),
  secure: start.secure,
  trustedProxies: start.trustedProxies,
  logger: { level: start.logLevel, stream: process.stderr },
});
const api = new Api(server, {
  limiter,
  gatekeeper: createFrontGatekeeper(),
  sharedAnswers: new SharedAnswers(() => false),
});
const callable = new Set(start.callable);
for (const row of endpointList.filter(({ name }) => callable.has(name))) {
  api.bindRemote(row, (input, request, reply) => core.call(row, input, request, reply));
}
relayOthers(server, start.socketPath);

port.on('message', (message: ToFront) => {
  if (message.kind === 'hubs') hubs = message.hubs;
  else if (message.kind === 'drain') draining.isDraining = true;
  else if (message.kind === 'close') void close();
  else core.receive(message);
});
await listenShared(server, start);
post({ kind: 'listening' });

async function close(): Promise<void> {
  await server.close();
  post({ kind: 'closed' });
}

function post(message: ToCore): void {
  port.postMessage(message);
}

/** The callable rows are those of callers with a token, whom the core authorizes. */
function createFrontGatekeeper(): Gatekeeper {
  const refuse = async (): Promise<never> => {
    throw new Error('the core authenticates other callers');
  };
  return {
    authenticate: {
      bearer: (head) => core.authenticate(head),
      none: refuse,
      session: refuse,
      'integration-secret': refuse,
      'chat-signature': refuse,
      'signed-url': refuse,
    },
    enterWorkspace: async () => null,
    actAs: (_principal, _cost, run) => run(),
    accessVersion: () => 0,
    watchAccess: () => () => undefined,
  };
}
