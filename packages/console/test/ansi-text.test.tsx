import { describe, expect, test } from 'vitest';
import { LogLines } from '../src/job/log-lines.tsx';
import { render } from './rendering.ts';
import { xssCorpus } from './xss-corpus.ts';

const output = (text: string) => <LogLines lines={[{ line: 1, text }]} />;

describe('output of a tool', () => {
  test.each(xssCorpus)('%j becomes plain text', async (text) => {
    const { box } = await render(output(text));
    const elements = [...box.querySelectorAll('*')];
    expect(new Set(elements.map((element) => element.localName))).toSatisfy((names: Set<string>) =>
      names.isSubsetOf(new Set(['div', 'span', 'a'])),
    );
    for (const element of elements) {
      for (const { name, value } of element.attributes) {
        expect(['class', 'style', 'href', 'target', 'rel']).toContain(name);
        if (name === 'href') expect(value).toMatch(/^https?:\/\//);
        if (name === 'style') expect(value).not.toContain('url');
      }
    }
    expect('pwned' in globalThis).toBe(false);
  });

  test('shows markup as text', async () => {
    const markup = '<script>alert(1)</script> & <b>bold</b>';
    const { box } = await render(output(markup));
    expect(box.textContent).toBe(markup);
  });

  test('links URLs without a referrer or an opener', async () => {
    const { box } = await render(output('see https://ci.example/builds/1.'));
    const link = box.querySelector('a');
    expect(link?.getAttribute('href')).toBe('https://ci.example/builds/1');
    expect(link?.rel).toContain('noopener');
    expect(link?.rel).toContain('noreferrer');
  });

  test('renders colours as classes and custom properties', async () => {
    const { box } = await render(output('\u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3mown'));
    const [red, own] = box.querySelectorAll('span');
    expect(red?.className).toBe('ansi-fg ansi-bold');
    expect(red?.style.getPropertyValue('--fg')).toBe('var(--ansi-1)');
    expect(own?.style.getPropertyValue('--fg')).toBe('#010203');
  });
});
