import { useState } from 'react';
import { expect, test } from 'vitest';
import { CodeField } from '../src/parts/form/code-field.tsx';
import { render, typeInto } from './rendering.ts';

function Form({ error }: { error?: string }) {
  const [code, setCode] = useState('');
  return <CodeField value={code} onChange={setCode} error={error} />;
}

test('a pasted code is formatted as the terminal shows it', async () => {
  const { box } = await render(<Form />);
  const input = box.querySelector('input') as HTMLInputElement;
  await typeInto(input, ' wdjb mjht\n');
  expect(input.value).toBe('WDJB-MJHT');
});

test('a dash can be deleted like any other character', async () => {
  const { box } = await render(<Form />);
  const input = box.querySelector('input') as HTMLInputElement;
  await typeInto(input, 'WDJB-M');
  await typeInto(input, 'WDJB-');
  expect(input.value).toBe('WDJB');
});

test('the field has an accessible name and description', async () => {
  const { box } = await render(<Form error="The code does not match." />);
  const input = box.querySelector('input') as HTMLInputElement;
  expect(input.labels?.[0]?.textContent).toBe('Code shown in your terminal');
  expect(input.getAttribute('aria-invalid')).toBe('true');
  const described = (input.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent);
  expect(described).toContain('The code does not match.');
  expect(box.querySelector('[role=alert]')?.textContent).toBe('The code does not match.');
});
