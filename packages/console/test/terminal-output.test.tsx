import { describe, expect, test } from 'vitest';
import { TerminalOutput } from '../src/parts/text/terminal-output.tsx';
import { click, render } from './rendering.ts';
import { xssCorpus } from './xss-corpus.ts';

const logOf = (box: HTMLElement) => box.querySelector('[role=log]') as HTMLElement;
const output = (text: string, live = false) => (
  <TerminalOutput label="Output of attempt 1" text={text} live={live} />
);

describe('output of a tool', () => {
  test.each(xssCorpus)('%j becomes plain text', async (text) => {
    const { box } = await render(output(text));
    const elements = [...logOf(box).querySelectorAll('*')];
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
    expect(logOf(box).textContent).toBe(markup);
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
    const [red, own] = logOf(box).querySelectorAll('span');
    expect(red?.className).toBe('ansi-fg ansi-bold');
    expect(red?.style.getPropertyValue('--fg')).toBe('var(--ansi-1)');
    expect(own?.style.getPropertyValue('--fg')).toBe('#010203');
  });

  test('shows the last lines of long output, and earlier ones on request', async () => {
    const lines = Array.from({ length: 2_500 }, (_, index) => `line ${index}`);
    const { box } = await render(output(lines.join('\n')));
    expect(logOf(box).textContent).toContain('line 2499');
    expect(logOf(box).textContent).not.toContain('line 499line');
    const button = box.querySelector('button') as HTMLButtonElement;
    expect(button.textContent).toBe('Show 500 earlier lines');
    await click(button);
    expect(logOf(box).textContent).toContain('line 0line 1line');
    expect(box.querySelector('button')).toBeNull();
  });

  test('can be followed only while more may arrive', async () => {
    const { box, update } = await render(output('x', true));
    expect(box.querySelector('input')?.checked).toBe(true);
    await update(output('x', false));
    expect(box.querySelector('input')).toBeNull();
  });
});
