import { invalidField } from '../errors.ts';
import { parsePath, readPath } from './value-path.ts';

/** Of one value, so that an event cannot fill a prompt with one field. */
const VALUE_CHARS_MAX = 50_000;
const placeholder = /\{\{\s*([^{}\s]{1,300})\s*\}\}/g;
const roots = new Set(['event', 'trigger', 'schedule']);

/** What placeholders may name. */
export interface TemplateScope {
  event?: object;
  trigger: { id: string; name: string };
  schedule?: { slotAt: string };
}

/**
 * Puts values where `{{event.title}}` and the like stand. Values are text, never templates
 * themselves, and nothing is evaluated: a placeholder is a path.
 *
 * @param missing stands where there is no value.
 */
export function renderTemplate(
  template: string,
  scope: TemplateScope,
  options: { missing: string; charsMax: number },
): string {
  const text = template.replaceAll(placeholder, (_whole, path: string) => {
    const value = readPath(scope, parsePath(path) ?? []);
    return cut(describe(value) || options.missing, VALUE_CHARS_MAX);
  });
  return cut(text, options.charsMax);
}

/** @throws HubError INVALID_REQUEST for braces that are no placeholder, or name nothing known. */
export function checkTemplate(place: string, template: string): void {
  for (const [, path = ''] of template.matchAll(placeholder)) {
    const [root = ''] = parsePath(path) ?? [];
    if (!roots.has(root)) {
      throw invalidField(place, `names ${path}: it takes event.…, trigger.… and schedule.…`);
    }
  }
  if (/\{\{|\}\}/.test(template.replaceAll(placeholder, ''))) {
    throw invalidField(place, 'has double braces that are no placeholder such as {{event.title}}');
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The first characters of a text, never half of a surrogate pair. */
export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '');
}
