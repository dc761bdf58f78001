import { expect, test } from 'vitest';
import { StatusBadge } from '../src/parts/status/status-badge.tsx';
import { render } from './rendering.ts';

test('a job that is done without its change is not shown as done', async () => {
  for (const changed of [true, null, undefined]) {
    const { box } = await render(<StatusBadge status="done" changed={changed} />);
    expect(box.textContent).toBe('Done');
  }
  const { box } = await render(<StatusBadge status="done" changed={false} />);
  expect(box.textContent).toBe('No changes');
});
