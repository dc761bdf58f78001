// Two costs of node:test that a process of many tests need not pay. Together they were a quarter of
// the processor time of the hub's tests.
import { createHook } from 'node:async_hooks';
import { before, beforeEach, type TestContext } from 'node:test';

type AsyncHook = ReturnType<typeof createHook>;
type Cleanup = NonNullable<Parameters<TestContext['after']>[0]>;

/** The hooks of node:test; it enables them when the first suite of a process is declared. */
const tracking = new Set<AsyncHook>();
let dropsCleanups = false;

/**
 * Calls `declare`, which declares a suite with `lighten` in it. node:test follows every promise by
 * an async hook, from its creation to its collection. It needs that while a file loads, to find the
 * suite around each test.
 */
export function declareTracked<Result>(declare: () => Result): Result {
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
  const { enable } = prototype;
  prototype.enable = function (this: AsyncHook) {
    tracking.add(this);
    return enable.call(this);
  };
  try {
    for (const hook of tracking) hook.enable();
    return declare();
  } finally {
    prototype.enable = enable;
  }
}

/**
 * Call it first in a suite. While its tests run, promises are not followed: node:test would only
 * learn the name of the test that an uncaught error belongs to.
 */
export function lighten(): void {
  before(() => {
    for (const hook of tracking) hook.disable();
  });
  if (dropsCleanups) return;
  dropsCleanups = true;
  beforeEach((t) => dropCleanups(Object.getPrototypeOf(t) as TestContext));
}

/**
 * Lets go of each function given to `t.after` when it has run. node:test keeps it as long as the
 * test, which lasts as long as the process; and with it all that the function refers to, such as a
 * hub of 3 MB.
 */
function dropCleanups(prototype: TestContext): void {
  const { after } = prototype;
  prototype.after = function (cleanup, options) {
    let kept: Cleanup | undefined = cleanup;
    const run = (...given: Parameters<Cleanup>) => {
      const once = kept;
      kept = undefined;
      return once?.(...given);
    };
    // By its length, node:test tells a function that takes a callback.
    Object.defineProperty(run, 'length', { value: cleanup?.length ?? 0 });
    after.call(this, run, options);
  };
}
