// Loaded into a measured hub: counts the statements that it runs on SQLite.
import { StatementSync } from 'node:sqlite';

let statements = 0;
const { prototype } = StatementSync;
for (const name of ['get', 'all', 'run'] as const) {
  const original: (this: StatementSync, ...values: never[]) => unknown = prototype[name];
  prototype[name] = function counted(this: StatementSync, ...values: never[]) {
    statements += 1;
    return original.apply(this, values);
    // One function for three signatures, each of which passes its values on as they are.
  } as never;
}

process.on('message', () => process.send?.(statements));
// The channel must not keep the hub from ending.
process.channel?.unref();
