import { act } from 'react';
import { describe, expect, test } from 'vitest';
import { Markdown } from '../src/parts/text/markdown.tsx';
import { render } from './rendering.ts';
import { xssCorpus } from './xss-corpus.ts';

/** Renders a text and waits for the code that shows Markdown. */
async function show(text: string, { hasLinks = true } = {}) {
  const { box } = await render(<Markdown text={text} hasLinks={hasLinks} />);
  await act(async () => {
    await import('../src/parts/text/markdown-body.tsx');
  });
  return box;
}

const allowed = new Set([
  'div',
  'p',
  'a',
  'span',
  'strong',
  'em',
  'ul',
  'ol',
  'li',
  'blockquote',
  'pre',
  'code',
  'hr',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
]);

describe('Markdown of an agent', () => {
  test.each(xssCorpus)('%j becomes no other element than those of text', async (text) => {
    const row = text.replaceAll('\n', ' ');
    const table = `| ${row} | b |\n|---|---|\n| ${row} | [a](${row}) |`;
    for (const source of [
      ...[text, `# ${text}`, `[a](${text})`, `![a](${text})`, `\`${text}\``, table],
    ]) {
      const box = await show(source);
      for (const element of box.querySelectorAll('*')) {
        expect(allowed).toContain(element.localName);
        for (const { name, value } of element.attributes) {
          expect(['class', 'href', 'target', 'rel', 'start']).toContain(name);
          if (name === 'href') expect(value).toMatch(/^https?:\/\//);
        }
      }
    }
    expect('pwned' in globalThis).toBe(false);
  });

  test('HTML is shown as the text that it is', async () => {
    const box = await show('Use <b>bold</b> &amp; `<i>`.\n\n<div>block</div>');
    expect(box.textContent).toContain('<b>bold</b> & <i>');
    expect(box.textContent).toContain('<div>block</div>');
  });

  test('a table is a table', async () => {
    const box = await show('| file | lines |\n|---|--:|\n| `a.ts` | 12 |');
    expect([...box.querySelectorAll('th, td')].map((cell) => cell.textContent)).toEqual([
      ...['file', 'lines', 'a.ts', '12'],
    ]);
  });

  test('a table that would fill the page with cells is shown as it is', async () => {
    const wide = `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${'||\n'.repeat(500)}end`;
    const box = await show(wide);
    expect(box.querySelector('table')).toBeNull();
    expect(box.textContent).toBe(wide);
  });

  test('a question has no link', async () => {
    const text = '[the bank](https://evil.example/login) https://ok.example/a';
    const box = await show(text, { hasLinks: false });
    expect(box.querySelector('a')).toBeNull();
    expect(box.textContent).toBe('the bank (https://evil.example/login) https://ok.example/a');
  });

  test('a link shows where it leads', async () => {
    const box = await show('[the bank](https://evil.example/login) and <https://ok.example/a>');
    expect(box.textContent).toBe('the bank (https://evil.example/login) and https://ok.example/a');
    const links = [...box.querySelectorAll('a')];
    expect(links.map((link) => link.textContent)).toEqual(
      links.map((link) => link.getAttribute('href')),
    );
    for (const link of links) expect(link.rel).toContain('noreferrer');
  });

  test('an address in plain text is a link, and one of another scheme is not', async () => {
    const box = await show(
      'See https://ci.example/1.\n\n[mail](mailto:a@b.c) [x](javascript:alert(1))',
    );
    expect([...box.querySelectorAll('a')].map((link) => link.href)).toEqual([
      'https://ci.example/1',
    ]);
    expect(box.textContent).toContain('mail (mailto:a@b.c) x');
  });

  test('an image is not loaded; its description and address are shown', async () => {
    const box = await show('![A chart](https://evil.example/pixel.png)');
    expect(box.querySelector('img')).toBeNull();
    expect(box.textContent).toBe('[Image: A chart, https://evil.example/pixel.png]');
  });

  test('lists, code and emphasis become elements; headings are no headings of the page', async () => {
    const box = await show('## Done\n\n1. **one**\n2. `two`\n\n```\nnpm test\n```');
    expect(box.querySelectorAll('h1, h2, h3, h4, h5, h6')).toHaveLength(0);
    expect(box.querySelectorAll('ol > li')).toHaveLength(2);
    expect(box.querySelector('pre code')?.textContent).toBe('npm test\n');
    expect(box.querySelector('strong')?.textContent).toBe('one');
  });

  test('text that deceives, is nested without end or is very long is shown as it is', async () => {
    expect((await show('a\u202eb')).textContent).toBe('a\ufffdb');
    const long = `**${'x'.repeat(20_000)}**`;
    const words = `${'*a '.repeat(2_000)}${'a* '.repeat(2_000)}a`;
    for (const text of [long, '>'.repeat(15_000), `${'*'.repeat(5_000)}a`, words]) {
      const box = await show(text);
      expect(box.textContent).toBe(text);
      expect(box.querySelectorAll('em, blockquote')).toHaveLength(0);
    }
  });
});
