import { compile } from 'html-to-text';
import { ExtractError, type ReadText } from './extract-outcome.ts';

/** Markup grows a hundredfold as a tree; this much of the smallest elements fits into a thread. */
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
 * Text of unknown encoding: by its byte order mark, else UTF-8, else Windows-1252, in which every
 * byte means something.
 *
 * @throws ExtractError wrong_content_type for bytes that are no text.
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

/** The text of a page as a person reads it: no scripts, no styles, no addresses. */
export function readHtml(html: string): ReadText {
  const text = toText(html.slice(0, HTML_CHARS_MAX));
  return { text, truncated: html.length > HTML_CHARS_MAX };
}
