/**
 * Makes the calls that actions registered with `afterCommit`, now that they are durable. A call
 * that throws is a fault of the hub and ends the process like any uncaught error, but only after
 * the other calls are made and the callers of the committed actions have their results.
 */
export function callAfterCommit(calls: readonly (() => void)[]): void {
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
