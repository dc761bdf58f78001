import { compile } from 'html-to-text';
import type { ReadText } from './extract-outcome.ts';

/** A parsed tree takes about a hundred times its markup; this much fits the thread's memory. */
const HTML_CHARS_MAX = 2_000_000;
const HTML_DEPTH_MAX = 200;
const HTML_CHILDREN_MAX = 100_000;

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

/** Returns the visible text of a page, without scripts, styles and link addresses. */
export function readHtml(html: string): ReadText {
  const text = toText(html.slice(0, HTML_CHARS_MAX));
  return { text, truncated: html.length > HTML_CHARS_MAX };
}
