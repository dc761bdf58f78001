const CHARS_MAX = 500;

/** Returns a message id without angle brackets and blanks. Null when the text is not an id. */
export function parseMessageId(text: string | undefined): string | null {
  const id = (text ?? '').trim().replace(/^<|>$/g, '');
  return id === '' || id.length > CHARS_MAX || /[\s<>]/.test(id) ? null : id;
}
