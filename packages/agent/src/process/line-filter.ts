/** The frames of an error, and the fields of an object, follow the line that prints it. */
const continuation = /^([ \t]+\S|[)\]}])/;

/**
 * Creates a filter that leaves out whole lines of a stream, with the lines that continue them. The
 * beginning of a line waits for its end, so the last call says that there is no more.
 */
export function createLineFilter(
  noise: RegExp | undefined,
): (text: string, isEnd?: boolean) => string {
  if (noise === undefined) return (text) => text;
  let rest = '';
  let isNoise = false;
  const isKept = (line: string) => {
    isNoise = continuation.test(line) ? isNoise : noise.test(line);
    return !isNoise;
  };
  return (text, isEnd = false) => {
    const lines = (rest + text).split(/(?<=\n)/);
    rest = isEnd || lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    return lines.filter(isKept).join('');
  };
}
