const CHARS_MAX = 500;

/** A message id without angle brackets and blanks; null for what is none. */
export function bareId(text: string | undefined): string | null {
  const id = (text ?? '').trim().replace(/^<|>$/g, '');
  return id === '' || id.length > CHARS_MAX || /[\s<>]/.test(id) ? null : id;
}
