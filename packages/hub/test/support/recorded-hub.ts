/**
 * A hub as a program of its own, for tests that record its system calls. It copies its log often,
 * so that a short recording holds many copies and restarts of the log.
 */
import { createHub } from '../../src/start/app.ts';
import { readConfig } from '../../src/start/config.ts';

const hub = await createHub({
  config: readConfig(process.env),
  checkpointPages: Number(process.argv[2]),
});
await hub.listen();
process.stdout.write(`${hub.baseUrl}\n`);
