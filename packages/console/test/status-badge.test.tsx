import { expect, test } from 'vitest';
import { StatusBadge } from '../src/parts/status-badge.tsx';
import { render } from './rendering.ts';

test('a job that is done without its change is not shown as done', () => {
  for (const changed of [true, null, undefined]) {
    expect(render(<StatusBadge status="done" changed={changed} />).textContent).toBe('Done');
  }
  const unchanged = render(<StatusBadge status="done" changed={false} />);
  expect(unchanged.textContent).toBe('No changes');
});
