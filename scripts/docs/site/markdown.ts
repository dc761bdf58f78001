import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';

/** A page in HTML, and what the shell around it needs. */
export interface RenderedPage {
  html: string;
  /** The text of the first heading. */
  title: string;
}

/**
 * Renders Markdown of this repository. Raw HTML is left out, because none of the pages needs it and
 * comments are for writers.
 *
 * @param source path of the file; links are relative to it.
 * @param resolveLink returns the address of a file of the repository, or null if it has none on the
 *   site; the text of such a link stays without the link.
 */
export function renderMarkdown(
  text: string,
  source: string,
  resolveLink: (file: string) => string | null,
): RenderedPage {
  let title = '';
  const slugs = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: () => '',
      heading({ tokens, depth, text: plain }: Tokens.Heading) {
        if (depth === 1 && title === '') title = plain.replaceAll('`', '');
        const html = this.parser.parseInline(tokens);
        const id = uniqueSlug(plain, slugs);
        return depth === 1
          ? `<h1 id="${id}">${html}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${html}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const html = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === null ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        // Wide tables scroll in their own box, which the keyboard can reach.
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr>${cells(token.header, 'th')}</tr></thead>
<tbody>${rows}</tbody></table></div>\n`;
      },
      code({ text: code, lang = '' }: Tokens.Code) {
        return `<pre tabindex="0"><code data-language="${escapeHtml(lang)}">${escapeHtml(code)}</code></pre>\n`;
      },
    },
  });

  function targetOf(href: string): string | null {
    if (/^(https?:|mailto:|#)/.test(href)) return href;
    const [path = '', heading] = href.split('#', 2);
    const address = resolveLink(posix.normalize(posix.join(posix.dirname(source), path)));
    if (address === null) return null;
    return heading === undefined ? address : `${address}#${heading}`;
  }

  const html = marked.parse(text, { async: false });
  return { html, title };
}

/** The anchor that GitHub gives a heading, so that links work in both places. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

function uniqueSlug(heading: string, used: Map<string, number>): string {
  const slug = slugOf(heading);
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
