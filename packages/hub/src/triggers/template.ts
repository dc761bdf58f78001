import { invalidField } from '../errors.ts';
import { parsePath, readPath } from './value-path.ts';

/** Limit for one value, so that one field of an event cannot fill a prompt. */
const VALUE_CHARS_MAX = 50_000;
const placeholder = /\{\{\s*([^{}\s]{1,300})\s*\}\}/g;
const roots = new Set(['event', 'trigger', 'schedule']);

/** The values that placeholders can name. */
export interface TemplateScope {
  event?: object;
  trigger: { id: string; name: string };
  schedule?: { slotAt: string };
}

/**
 * Replaces placeholders such as `{{event.title}}` by their values. A placeholder is a path; nothing
 * is evaluated. Values are inserted as text, so placeholders in values are not replaced.
 *
 * @param missing replaces placeholders without a value.
 */
export function renderTemplate(
  template: string,
  scope: TemplateScope,
  options: { missing: string; charsMax: number },
): string {
  const { missing, charsMax } = options;
  const values = new Map<string, string>();
  const textAt = (path: string): string => {
    const known = values.get(path);
    if (known !== undefined) return known;
    const value = cut(describe(readPath(scope, parsePath(path) ?? [])) || missing, VALUE_CHARS_MAX);
    values.set(path, value);
    return value;
  };
  let text = '';
  let at = 0;
  for (const { index, 0: whole, 1: path = '' } of template.matchAll(placeholder)) {
    text += template.slice(at, index) + textAt(path);
    at = index + whole.length;
    // The rest would be cut anyway, and many placeholders of long values take long.
    if (text.length >= charsMax) return cut(text, charsMax);
  }
  return cut(text + template.slice(at), charsMax);
}

/** @throws HubError INVALID_REQUEST for double braces that are not a known placeholder. */
export function checkTemplate(place: string, template: string): void {
  for (const [, path = ''] of template.matchAll(placeholder)) {
    const [root = ''] = parsePath(path) ?? [];
    if (!roots.has(root)) {
      throw invalidField(place, `must use event.…, trigger.… and schedule.… only, not ${path}`);
    }
  }
  if (/\{\{|\}\}/.test(template.replaceAll(placeholder, ''))) {
    throw invalidField(
      place,
      'must use double braces for placeholders such as {{event.title}} only',
    );
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Cuts a text to a number of characters, without splitting a surrogate pair. */
export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '');
}
