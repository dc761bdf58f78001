/** Looks again and again, and gives up after some time, so that a test that fails also ends. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`it never came about that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
