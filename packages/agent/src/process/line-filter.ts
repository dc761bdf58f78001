/**
 * Creates a filter that leaves out whole lines of a stream. The beginning of a line waits for its
 * end, so the last call says that there is no more.
 */
export function createLineFilter(
  noise: RegExp | undefined,
): (text: string, isEnd?: boolean) => string {
  if (noise === undefined) return (text) => text;
  let rest = '';
  return (text, isEnd = false) => {
    const lines = (rest + text).split(/(?<=\n)/);
    rest = isEnd || lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    return lines.filter((line) => !noise.test(line)).join('');
  };
}
