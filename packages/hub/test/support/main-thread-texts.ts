import type { TestContext } from 'node:test';

/**
 * Notes the length of every text that this thread folds into words or searches for secrets until
 * the test ends. Threads that the hub starts have a `String.prototype` of their own.
 */
export function watchMainThreadTexts(t: TestContext): { readonly longest: number } {
  const seen = { longest: 0 };
  const { normalize, replace } = String.prototype;
  const note = (text: unknown) => {
    if (typeof text === 'string') seen.longest = Math.max(seen.longest, text.length);
  };
  // Words are folded by `normalize`; secrets are replaced by patterns.
  t.mock.method(String.prototype, 'normalize', function (this: string, form?: string) {
    note(this.valueOf());
    return normalize.call(this, form as 'NFC');
  });
  t.mock.method(String.prototype, 'replace', function (this: string, pattern: RegExp, by: string) {
    if (pattern instanceof RegExp) note(this.valueOf());
    return replace.call(this, pattern, by as never);
  });
  return seen;
}
