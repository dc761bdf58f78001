/** A line of a changed part of a file, with its numbers before and after the change. */
export interface PatchLine {
  kind: 'same' | 'added' | 'deleted';
  before: number | null;
  after: number | null;
  text: string;
}

/** Lines that changed together, with those around them. */
export interface PatchHunk {
  /** Such as `@@ -1,3 +1,4 @@ function add()`. */
  title: string;
  lines: PatchLine[];
}

export interface PatchFile {
  path: string;
  /** The path before a rename. */
  oldPath: string | null;
  change: 'added' | 'deleted' | 'renamed' | 'changed';
  isBinary: boolean;
  added: number;
  deleted: number;
  hunks: PatchHunk[];
}

/** Reads a unified diff as git prints it. Lines that belong to no file are skipped. */
export function parsePatch(patch: string): PatchFile[] {
  const files: PatchFile[] = [];
  let reader: HunkReader | undefined;
  for (const line of patch.split('\n')) {
    // Inside a hunk, a line such as `--- a` is a deleted line and no header.
    if (reader?.isOpen && hunkLine.test(line)) {
      reader.add(line);
      continue;
    }
    const file = files.at(-1);
    if (line.startsWith('diff --git ')) files.push(emptyFile(line));
    else if (file !== undefined && line.startsWith('@@ ')) reader = openHunk(file, line);
    else if (file !== undefined) readHeader(file, line);
  }
  return files;
}

function emptyFile(line: string): PatchFile {
  // Both names are the same here unless the file was renamed, which its own lines say.
  const names = line.slice('diff --git '.length);
  const path = unquote(names.slice(Math.ceil(names.length / 2)), 'b/');
  const counts = { added: 0, deleted: 0, hunks: [] };
  return { path, oldPath: null, change: 'changed', isBinary: false, ...counts };
}

function readHeader(file: PatchFile, line: string): void {
  const after = (start: string) => (line.startsWith(start) ? line.slice(start.length) : undefined);
  const renamedFrom = after('rename from ');
  const renamedTo = after('rename to ');
  const name = after('+++ ') ?? after('--- ');
  if (line.startsWith('new file')) file.change = 'added';
  else if (line.startsWith('deleted file')) file.change = 'deleted';
  else if (renamedFrom !== undefined) {
    file.oldPath = unquote(renamedFrom, '');
    file.change = 'renamed';
  } else if (renamedTo !== undefined) file.path = unquote(renamedTo, '');
  else if (name !== undefined && name !== '/dev/null' && file.change !== 'renamed') {
    file.path = unquote(name, line.startsWith('+') ? 'b/' : 'a/');
  } else if (line.startsWith('Binary files') || line === 'GIT binary patch') file.isBinary = true;
}

/** Git quotes names with special characters as C does, and ends names with spaces by a tab. */
function unquote(name: string, prefix: string): string {
  let text = name.replace(/\t$/, '');
  if (text.startsWith('"') && text.endsWith('"')) text = decodeQuoted(text.slice(1, -1));
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function decodeQuoted(text: string): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part, octal, letter] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(...encoder.encode(letter === undefined ? part : (escapes[letter] ?? letter)));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** The first character of the lines of a hunk; some programs strip the space of empty lines. */
const hunkLine = /^(?:[ +\-\\]|$)/;
const hunkStart = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

interface HunkReader {
  readonly isOpen: boolean;
  add(line: string): void;
}

/** Reads as many lines as the title of the hunk announces. */
function openHunk(file: PatchFile, title: string): HunkReader | undefined {
  const found = hunkStart.exec(title);
  if (found === null) return undefined;
  const [, beforeStart, beforeCount = '1', afterStart, afterCount = '1'] = found;
  let before = Number(beforeStart);
  let after = Number(afterStart);
  const beforeEnd = before + Number(beforeCount);
  const afterEnd = after + Number(afterCount);
  const hunk: PatchHunk = { title, lines: [] };
  file.hunks.push(hunk);
  return {
    get isOpen() {
      return before < beforeEnd || after < afterEnd;
    },
    add(line) {
      const text = line.slice(1);
      if (line.startsWith('+')) {
        file.added += 1;
        hunk.lines.push({ kind: 'added', before: null, after: after++, text });
      } else if (line.startsWith('-')) {
        file.deleted += 1;
        hunk.lines.push({ kind: 'deleted', before: before++, after: null, text });
      } else if (!line.startsWith('\\')) {
        hunk.lines.push({ kind: 'same', before: before++, after: after++, text });
      }
    },
  };
}
