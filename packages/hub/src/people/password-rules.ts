import { commonPasswords, commonWords } from './common-passwords.ts';

/** Up to this many digits or signs at the end of a common word do not make it harder to guess. */
const SUFFIX_CHARS_MAX = 4;
/** A password with fewer distinct characters is a pattern. */
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
 * Why a new password is too easy to guess; null if it is not. The schema checks the length. The hub
 * must work offline, so it does not query a service for leaked passwords.
 */
export function findPasswordFault(
  password: string,
  person: { email: string; name: string },
): string | null {
  const folded = password.normalize('NFKC').toLowerCase().trim();
  if (isPersonal(folded, person)) return 'must not be the e-mail address or the name';
  if (new Set(folded).size < DISTINCT_CHARS_MIN) return 'must use more different characters';
  if (isSequence(folded)) return 'must not be a simple sequence';
  if (commonPasswords.has(folded) || isCommonWord(folded)) {
    return 'must not be a common password: choose several unrelated words';
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

/** Whether each character follows the previous one: `12345678`, `abcdefgh`, `98765432`. */
function isSequence(password: string): boolean {
  const codes = [...password].map((char) => char.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

/** Whether it is a common word in disguise: guessing programs try `P@ssw0rd1!` for `password`. */
function isCommonWord(password: string): boolean {
  const bare = stripSuffix(password);
  const plain = [...bare].map((char) => lookAlikes[char] ?? char).join('');
  return commonWords.has(bare) || commonWords.has(plain);
}

function stripSuffix(text: string): string {
  const bare = text.replace(/[^\p{L}]+$/u, '');
  return text.length - bare.length <= SUFFIX_CHARS_MAX ? bare : text;
}
