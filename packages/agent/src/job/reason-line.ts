/** A line of a stack trace: of Node and the JVM, of Python, and of Go. */
const frame = /^\s+at\s|^\s+File ".*", line \d+|^\s+\S+\.go:\d+/;
/** Lines around a trace that are not indented: what Node and Go print after it. */
const around =
  /^(?:Node\.js v\d|Emitted 'error' event|goroutine \d|exit status \d|[\w./*()]+\(.*\)$|[}\])]+[,;]?$)/;

/**
 * The line that says why a command failed: the last one, or before a stack trace at the end of the
 * output the line with the error.
 */
export function reasonLineOf(lines: readonly string[]): string | undefined {
  const said = lines.filter((line) => line.trim() !== '');
  const end = said.findLastIndex((line) => !/^\s/.test(line) && !around.test(line));
  const hasTrace = said.slice(end + 1).some((line) => frame.test(line));
  return hasTrace && end !== -1 ? said[end] : said.at(-1);
}
