import { compile } from 'html-to-text';
import { ExtractError, type ReadText } from './extract-outcome.ts';

/** A parsed tree takes about a hundred times its markup; this much fits the thread's memory. */
const HTML_CHARS_MAX = 2_000_000;
const HTML_DEPTH_MAX = 200;
const HTML_CHILDREN_MAX = 100_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const toText = compile({
  wordwrap: false,
  limits: { maxDepth: HTML_DEPTH_MAX, maxChildNodes: HTML_CHILDREN_MAX, ellipsis: '' },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'title', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'table', format: 'dataTable' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
});

/**
 * Decodes text of unknown encoding: by its byte order mark, else as UTF-8, else as Windows-1252, in
 * which every byte is valid.
 *
 * @throws ExtractError wrong_content_type for bytes that are not text.
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0)) throw new ExtractError('wrong_content_type');
  try {
    return utf8.decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Returns the visible text of a page, without scripts, styles and link addresses. */
export function readHtml(html: string): ReadText {
  const text = toText(html.slice(0, HTML_CHARS_MAX));
  return { text, truncated: html.length > HTML_CHARS_MAX };
}
