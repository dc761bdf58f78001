/** Characters kept of the beginning and the end of one command's output. */
const HEAD_CHARS = 800;
const TAIL_CHARS = 2_000;

/**
 * Shortens the output of a command to its beginning and its end, where commands say what failed.
 */
export function shortenOutput(
  text: string,
  headChars = HEAD_CHARS,
  tailChars = TAIL_CHARS,
): string {
  const left = text.length - headChars - tailChars;
  if (left <= 0) return text;
  const head = text.slice(0, headChars).toWellFormed();
  const tail = text.slice(-tailChars).toWellFormed();
  return `${head}\n… ${left} characters left out …\n${tail}`;
}

export function indent(text: string, by = '  '): string {
  if (text.trim() === '') return '';
  return `${text.trimEnd().replace(/^/gm, by)}\n`;
}

/** A text of the tool without secrets, and without the place of its files on this machine. */
export function cleanOutput(
  text: string,
  means: { redact(text: string): string; worktree: string },
): string {
  return withoutWorktree(means.redact(text), means.worktree);
}

/** Shows paths in the worktree as people know them: relative to the repository. */
export function withoutWorktree(text: string, worktree: string): string {
  return text.replaceAll(`${worktree}/`, '').replaceAll(worktree, '.');
}
