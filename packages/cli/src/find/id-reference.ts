import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { collectPages, type Page, type PageRequest } from '../terminal/pages.ts';
import { oneLine } from '../terminal/text.ts';

/** Short IDs are searched among this number of latest rows. */
const SEARCHED_MAX = 1_000;
/** Shorter endings would soon be ambiguous. */
const SHORT_CHARS_MIN = 4;

/** The form of the IDs of a kind, and the next steps of its errors. */
export interface IdKind {
  /** Without its underscore, such as `job`. */
  prefix: string;
  name: string;
  /** The beginning of the codes of errors, such as `JOB`. */
  code: string;
  /** The next step if there is no such ID. */
  fix: string;
  /** The next step if there are several; gets one of the IDs. */
  fixAmbiguous: (id: string) => string;
}

/**
 * Resolves a reference to an ID: a full ID, or the end of one as printed by lists, if it matches
 * exactly one of the latest 1,000.
 * @throws {CliError} …_NOT_FOUND, …_AMBIGUOUS.
 */
export async function findIdByEnding(
  kind: IdKind,
  text: string,
  readIds: (page: PageRequest) => Promise<Page<string>>,
): Promise<string> {
  if (new RegExp(`^${kind.prefix}_[0-9a-z]{26,}$`).test(text)) return text;
  const ending = text.replace(new RegExp(`^${kind.prefix}_`), '').toLowerCase();
  if (ending.length < SHORT_CHARS_MIN || !/^[0-9a-z]+$/.test(ending)) throw notFound(kind, text);
  const { rows } = await collectPages(SEARCHED_MAX, readIds);
  const [first, ...others] = rows.filter((id) => id.endsWith(ending));
  if (first === undefined) throw notFound(kind, text);
  if (others.length === 0) return first;
  const message = `Several ${kind.name}s end in "${ending}": ${[first, ...others].join(', ')}.`;
  throw new CliError(exitCodes.usage, `${kind.code}_AMBIGUOUS`, message, {
    fix: kind.fixAmbiguous(first),
  });
}

function notFound({ name, code, fix }: IdKind, text: string): CliError {
  const shown = oneLine(text).slice(0, 60);
  return new CliError(
    exitCodes.refused,
    `${code}_NOT_FOUND`,
    `No ${name} has the ID "${shown}", and none of the latest ${SEARCHED_MAX} IDs ends with it.`,
    { fix },
  );
}
