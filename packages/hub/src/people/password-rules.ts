import { commonPasswords, commonWords } from './common-passwords.ts';

/** So many digits or signs at the end of a common word add nothing to guess. */
const SUFFIX_CHARS_MAX = 4;
/** A password of fewer different characters is a pattern. */
const DISTINCT_CHARS_MIN = 4;

const lookAlikes: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Why a new password would be among the first that somebody tries; null when it would not. Its
 * length is the schema's part. A hub works offline, so it asks no service for leaked passwords.
 */
export function findPasswordFault(
  password: string,
  person: { email: string; name: string },
): string | null {
  const folded = password.normalize('NFKC').toLowerCase().trim();
  if (isPersonal(folded, person)) return 'must not be the e-mail address or the name';
  if (new Set(folded).size < DISTINCT_CHARS_MIN) return 'uses too few different characters';
  if (isSequence(folded)) return 'must not be a simple sequence';
  if (commonPasswords.has(folded) || isCommonWord(folded)) {
    return 'is among the most common ones: take several unrelated words';
  }
  return null;
}

function isPersonal(password: string, { email, name }: { email: string; name: string }): boolean {
  const address = email.toLowerCase();
  const [mailbox = '', domain = ''] = address.split('@');
  const spoken = name.toLowerCase();
  return [address, mailbox, domain, spoken, spoken.replaceAll(/\s/g, '')].some(
    (known) => known !== '' && stripSuffix(password) === stripSuffix(known),
  );
}

/** `12345678`, `abcdefgh`, `98765432`: each character next to the one before. */
function isSequence(password: string): boolean {
  const codes = [...password].map((char) => char.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

/** `P@ssw0rd1!` is `password` to those who guess. */
function isCommonWord(password: string): boolean {
  const bare = stripSuffix(password);
  const plain = [...bare].map((char) => lookAlikes[char] ?? char).join('');
  return commonWords.has(bare) || commonWords.has(plain);
}

function stripSuffix(text: string): string {
  const bare = text.replace(/[^\p{L}]+$/u, '');
  return text.length - bare.length <= SUFFIX_CHARS_MAX ? bare : text;
}
