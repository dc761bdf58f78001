import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * From now on, stacks of errors name the sources of the bundles in a folder. A map is read when a
 * stack is first printed: Node's own support reads all of them at each start, which costs 45 ms and
 * 15 MB.
 *
 * @param folderUrl with a slash at its end.
 */
export function nameSourcesInStacks(folderUrl: string): void {
  /** A map takes 60 MB, so it may go when memory is collected. */
  const maps = new Map<string, WeakRef<SourceMap>>();
  const mapOf = (url: string): SourceMap | null => {
    const known = maps.get(url)?.deref();
    if (known !== undefined) return known;
    const map = readMap(`${fileURLToPath(url)}.map`);
    if (map !== null) maps.set(url, new WeakRef(map));
    return map;
  };
  const locate = (frame: NodeJS.CallSite): string => {
    const [url, line, column] = [
      frame.getFileName(),
      frame.getLineNumber(),
      frame.getColumnNumber(),
    ];
    // oxlint-disable-next-line typescript/no-base-to-string -- a frame describes itself
    const text = String(frame);
    if (!url?.startsWith(folderUrl) || line === null || column === null) return text;
    const found = mapOf(url)?.findEntry(line - 1, column - 1);
    if (found === undefined || !('originalSource' in found)) return text;
    const source = resolve(dirname(fileURLToPath(url)), found.originalSource);
    const place = `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
    return text.replace(`${url}:${line}:${column}`, place);
  };
  Error.prepareStackTrace = (error, frames) =>
    [describe(error), ...frames.map((frame) => `    at ${locate(frame)}`)].join('\n');
}

/** Null: the bundle was removed since this process started, and the stack names its lines. */
function readMap(path: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** As Node does: its own errors have their code in the first line of the stack. */
function describe(error: Error & { code?: unknown }): string {
  const { name, code, message } = error;
  return typeof code === 'string' && code.startsWith('ERR_')
    ? `${name} [${code}]: ${message}`
    : Error.prototype.toString.call(error);
}
