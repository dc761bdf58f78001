import { type Endpoint, endpointList, errorCodes } from '@signalbox/contract';
import { escapeHtml, slugOf } from './markdown.ts';

/** The requests of one group of endpoints. */
export interface ApiPage {
  path: string;
  title: string;
  html: string;
}

/** The part of a JSON schema that a table of fields shows. */
interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  const?: string | number | boolean;
  enum?: readonly string[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
}

/** Deeper fields are named in the description of their parent. */
const FIELD_DEPTH_MAX = 3;

const authTexts: Record<Exclude<Endpoint['auth'], 'bearer'>, string> = {
  none: 'No token.',
  'integration-secret': 'The shared secret of integrations.',
  'chat-signature': 'The signature of the chat.',
  'signed-url': 'A signed URL, without a token.',
  session: 'The session of the console.',
};

export function writeApiPages(): ApiPage[] {
  const groups = Map.groupBy(endpointList, ({ tag }) => tag);
  return [...groups].map(([tag, endpoints]) => ({
    path: `reference/api/${slugOf(tag)}`,
    title: tag,
    html: `<h1>${escapeHtml(tag)}</h1>\n${endpoints.map(writeEndpoint).join('\n')}`,
  }));
}

function writeEndpoint(endpoint: Endpoint): string {
  const { name, method, path, summary, description, request, response, errors, example } = endpoint;
  return `<section class="endpoint" id="${name}">
<h2><a class="anchor" href="#${name}">${escapeHtml(summary)}</a></h2>
<p><code>${method} ${escapeHtml(path)}</code></p>
<p>${escapeHtml(description)}</p>
<p class="muted">${escapeHtml(accessOf(endpoint))}</p>
${writeFields('Request', request)}
${writeFields('Answer', response)}
${writeErrors(errors)}
${writeExample('Example request', example.request)}
${writeExample('Example answer', example.response)}
</section>`;
}

function writeExample(title: string, value: unknown): string {
  return `<details><summary>${title}</summary>
<pre tabindex="0"><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre></details>`;
}

function accessOf({ auth, scopes, jobToken, repeat, origin }: Endpoint): string {
  const isBearer = auth === 'bearer';
  const scope = isBearer && scopes.length > 0 ? ` with the scope ${scopes.join(' or ')}` : '';
  return [
    auth === 'bearer' ? `A bearer token${scope}.` : authTexts[auth],
    isBearer && jobToken !== 'none' ? 'A job’s own token may call it.' : '',
    repeatText(repeat),
    origin === 'extension' ? 'An extension of the specification.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function repeatText(repeat: Endpoint['repeat']): string {
  if (repeat === 'safe') return 'Safe to repeat when an answer was lost.';
  if (repeat === 'once') return 'Not repeated by clients when an answer was lost.';
  return `Safe to repeat with the same ${repeat.withKey}.`;
}

function writeErrors(errors: Endpoint['errors']): string {
  if (errors.length === 0) return '';
  const rows = errors.map((code) => {
    const [status, condition] = errorCodes[code];
    return `<tr><td><code>${code}</code></td><td>${status}</td><td>${escapeHtml(condition)}</td></tr>`;
  });
  return `<details><summary>Errors of its own</summary>${tableOf(['code', 'status', 'condition'], rows)}</details>`;
}

function writeFields(title: string, schema: Schema): string {
  const rows = fieldsOf(schema, '', 1);
  if (rows.length === 0) return '';
  return `<h3>${title}</h3>${tableOf(['field', 'type', 'meaning'], rows)}`;
}

function tableOf(heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
}

function fieldsOf(schema: Schema, prefix: string, depth: number): string[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const place = `${prefix}${name}`;
    const optional = required.has(name) ? '' : '?';
    const row =
      `<tr><td><code>${escapeHtml(place)}${optional}</code></td><td>${escapeHtml(typeOf(field))}</td>` +
      `<td>${escapeHtml(meaningOf(field))}</td></tr>`;
    const inner = innerObject(field);
    if (inner === undefined || depth === FIELD_DEPTH_MAX) return [row];
    const suffix = isList(field) ? '[].' : '.';
    return [row, ...fieldsOf(inner, place + suffix, depth + 1)];
  });
}

const isList = (schema: Schema): boolean => plainOf(schema).type === 'array';

/** The schema without the alternative `null`. */
function plainOf(schema: Schema): Schema {
  const others = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return others.length === 1 && others[0] !== undefined ? others[0] : schema;
}

function innerObject(schema: Schema): Schema | undefined {
  const plain = plainOf(schema);
  const inner = plain.type === 'array' && plain.items !== undefined ? plainOf(plain.items) : plain;
  return inner.properties === undefined ? undefined : inner;
}

function typeOf(schema: Schema): string {
  const plain = plainOf(schema);
  const nullable = plain === schema ? '' : ' or null';
  if (plain.enum !== undefined) return plain.enum.join(', ') + nullable;
  if (plain.const !== undefined) return String(plain.const) + nullable;
  if (plain.anyOf !== undefined) return plain.anyOf.map(typeOf).join(' or ') + nullable;
  if (plain.type === 'array') return `list of ${typeOf(plain.items ?? {})}${nullable}`;
  return (plain.type ?? 'any JSON') + nullable;
}

function meaningOf(schema: Schema): string {
  const plain = plainOf(schema);
  const bounds = [
    plain.maxLength === undefined
      ? ''
      : `At most ${plain.maxLength.toLocaleString('en')} characters.`,
    plain.maxItems === undefined ? '' : `At most ${plain.maxItems.toLocaleString('en')}.`,
    plain.minimum === undefined || plain.maximum === undefined
      ? ''
      : `From ${plain.minimum.toLocaleString('en')} to ${plain.maximum.toLocaleString('en')}.`,
    schema.default === undefined ? '' : `Default: ${JSON.stringify(schema.default)}.`,
  ];
  return [schema.description ?? plain.description ?? '', ...bounds].filter(Boolean).join(' ');
}
