import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
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
  readIds: (idsMax: number) => Promise<string[]>,
): Promise<string> {
  if (isFullId(kind, text)) return text;
  const ending = text.replace(new RegExp(`^${kind.prefix}_`), '').toLowerCase();
  if (ending.length < SHORT_CHARS_MIN || !/^[0-9a-z]+$/.test(ending)) throw notFound(kind, text);
  const ids = await readIds(SEARCHED_MAX);
  const [first, ...others] = ids.filter((id) => id.endsWith(ending));
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

function isFullId({ prefix }: Pick<IdKind, 'prefix'>, text: string): boolean {
  return new RegExp(`^${prefix}_[0-9a-z]{26,}$`).test(text);
}

/** A row that is found by its name, too. */
interface NamedRow {
  id: string;
  name: string;
  /** Counts only if no other row matches. */
  isPast?: boolean;
}

/**
 * Resolves a name, an ID, or the end of an ID to an ID, if it matches one row only.
 *
 * @param named the words before a name that no row has: `No run has the ID or reference`.
 * @throws {CliError} …_NOT_FOUND, …_AMBIGUOUS.
 */
export async function findIdByName(
  kind: Omit<IdKind, 'fixAmbiguous'> & { named: string },
  text: string,
  readRows: () => Promise<readonly NamedRow[]>,
): Promise<string> {
  if (isFullId(kind, text)) return text;
  const rows = await readRows();
  const named = rows.filter(({ name }) => name === text);
  const isEnding = named.length === 0 && text.length >= SHORT_CHARS_MIN;
  const matching = isEnding ? rows.filter(({ id }) => id.endsWith(text.toLowerCase())) : named;
  const present = matching.filter(({ isPast }) => !isPast);
  const [first, ...others] = present.length > 0 ? present : matching;
  const shown = oneLine(text).slice(0, 60);
  if (first === undefined) {
    const message = `${kind.named} "${shown}".`;
    throw new CliError(exitCodes.refused, `${kind.code}_NOT_FOUND`, message, { fix: kind.fix });
  }
  if (others.length === 0) return first.id;
  const ids = [first, ...others].map(({ id }) => id).join(', ');
  const message = `Several ${kind.name}s match "${shown}": ${ids}.`;
  throw new CliError(exitCodes.usage, `${kind.code}_AMBIGUOUS`, message, {
    fix: 'Give the whole ID.',
  });
}
