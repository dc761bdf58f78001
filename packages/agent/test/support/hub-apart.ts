/** A hub as a separate program, for tests that kill it. */
import { createHub, readConfig } from '@signalbox/hub';

const hub = await createHub({ config: readConfig(process.env) });
await hub.listen();
process.stdout.write('listening\n');
