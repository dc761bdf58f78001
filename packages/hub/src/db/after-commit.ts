/**
 * Makes the calls that actions asked for, now that they are durable. One that throws is a fault of
 * the hub: it ends the process, as any error does that nobody catches, but not before the others
 * are made and those who wait for what is committed have been told of it.
 */
export function makeCalls(calls: readonly (() => void)[]): void {
  for (const call of calls) {
    try {
      call();
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  }
}
