import { invalidField } from '../base/errors.ts';
import { stripHidden } from '../context/untrusted-text.ts';
import { parsePath, readPath } from './value-path.ts';

/** Limit for one value, so that one field of an event cannot fill a prompt. */
const VALUE_CHARS_MAX = 50_000;
/** `{{path}}`, or `{{{path}}}` for a value of an event that is inserted without a fence. */
const placeholder = /\{\{\{\s*([^{}\s]{1,300})\s*\}\}\}|\{\{\s*([^{}\s]{1,300})\s*\}\}/g;
/** Space for the lines around one fenced value. */
const FENCE_CHARS = 400;
const EVENT = 'event';
const roots = new Set(['event', 'trigger', 'schedule']);

/** The values that placeholders can name. */
export interface TemplateScope {
  event?: object;
  trigger: { id: string; name: string };
  schedule?: { slotAt: string };
}

/**
 * Replaces placeholders such as `{{event.title}}` by their values, for names and references. A
 * placeholder is a path; nothing is evaluated. Values are inserted as text without hidden
 * characters, so placeholders in values are not replaced.
 *
 * @param missing replaces placeholders without a value.
 */
export function renderTemplate(
  template: string,
  scope: TemplateScope,
  options: { missing: string; charsMax: number },
): string {
  const { missing, charsMax } = options;
  const readValue = createReader(scope);
  let text = '';
  let at = 0;
  for (const match of template.matchAll(placeholder)) {
    const [whole, raw, path = raw ?? ''] = match;
    text += template.slice(at, match.index) + cut(readValue(path) || missing, VALUE_CHARS_MAX);
    at = match.index + whole.length;
    // The rest would be cut anyway, and many placeholders of long values take long.
    if (text.length >= charsMax) return cut(text, charsMax);
  }
  return cut(text + template.slice(at), charsMax);
}

/**
 * Renders a prompt. The values of an event come from people outside the workspace, so each is put
 * into a fence that says so: in place if the placeholder has a line to itself, otherwise at the
 * end, and the placeholder becomes the path in brackets. Numbers and truth values need no fence.
 *
 * @param fence puts a text into its fence.
 */
export function renderPrompt(
  template: string,
  scope: TemplateScope,
  { charsMax, fence }: { charsMax: number; fence: (path: string, text: string) => string },
): string {
  const readValue = createReader(scope);
  const appended = new Map<string, string>();
  const places = [...template.matchAll(placeholder)].length;
  let leftChars = Math.max(charsMax - template.length - places * FENCE_CHARS, 0);
  const take = (text: string) => {
    const taken = cut(text, Math.min(leftChars, VALUE_CHARS_MAX));
    leftChars -= taken.length;
    return taken;
  };
  const text = template.replaceAll(
    placeholder,
    (whole: string, raw: string | undefined, fenced: string | undefined, at: number) => {
      const path = raw ?? fenced ?? '';
      const value = readValue(path);
      if (raw !== undefined || value === '' || !isForeign(scope, path)) return take(value);
      if (hasOwnLine(template, at, whole.length)) return fence(path, take(value));
      if (!appended.has(path)) appended.set(path, fence(path, take(value)));
      return `[${path}]`;
    },
  );
  if (appended.size === 0) return text;
  return [text, 'The values in brackets came with the event:', ...appended.values()].join('\n\n');
}

/** Reads values by their paths, each once: an event may be long, and a path may occur often. */
function createReader(scope: TemplateScope): (path: string) => string {
  const texts = new Map<string, string>();
  return (path) => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const text = stripHidden(describe(readPath(scope, parsePath(path) ?? [])));
    texts.set(path, text);
    return text;
  };
}

/** Whether a value is text from outside the workspace. */
function isForeign(scope: TemplateScope, path: string): boolean {
  const steps = parsePath(path) ?? [];
  if (steps[0] !== EVENT) return false;
  const value = readPath(scope, steps);
  return typeof value !== 'number' && typeof value !== 'boolean';
}

function hasOwnLine(template: string, at: number, length: number): boolean {
  const before = template.slice(template.lastIndexOf('\n', at - 1) + 1, at);
  const end = template.indexOf('\n', at + length);
  const after = template.slice(at + length, end === -1 ? undefined : end);
  return before.trim() === '' && after.trim() === '';
}

/** @throws HubError INVALID_REQUEST for double braces that are not a known placeholder. */
export function checkTemplate(place: string, template: string): void {
  for (const [, raw, path = raw ?? ''] of template.matchAll(placeholder)) {
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
