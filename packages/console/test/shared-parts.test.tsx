import { act } from 'react';
import { expect, test, vi } from 'vitest';
import { showToast } from '../src/parts/dialog/toast.ts';
import { ToastHost } from '../src/parts/dialog/toast-host.tsx';
import { ActionButton, viewerReason } from '../src/parts/form/action-button.tsx';
import { FilterChip } from '../src/parts/form/filter-chip.tsx';
import { SkeletonRows } from '../src/parts/status/skeleton.tsx';
import { click, render } from './rendering.ts';

function find(root: ParentNode, selector: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`nothing matches ${selector}`);
  return found;
}

test('a button without the permission stays, does nothing and says why', async () => {
  const retry = vi.fn();
  const button = (role: string) => (
    <ActionButton disabledReason={viewerReason(role)} onClick={retry}>
      Retry
    </ActionButton>
  );
  const { box, update } = await render(button('viewer'));
  await click(find(box, 'button'));
  expect(retry).not.toHaveBeenCalled();
  expect(find(box, 'button').getAttribute('aria-disabled')).toBe('true');
  const reasonId = find(box, 'button').getAttribute('aria-describedby');
  expect(document.getElementById(reasonId ?? '')?.textContent).toContain('Viewers can read only.');
  await update(button('member'));
  await click(find(box, 'button'));
  expect(retry).toHaveBeenCalledOnce();
});

test('a filter says what it filters and is cleared by its cross', async () => {
  const change = vi.fn();
  const options = [{ value: 'running', word: 'Running' }] as const;
  const { box, update } = await render(
    <FilterChip label="Status" value={undefined} options={options} onChange={change} />,
  );
  expect(box.querySelector('button')).toBeNull();
  await update(<FilterChip label="Status" value="running" options={options} onChange={change} />);
  expect(box.textContent).toContain('Status is Running');
  await click(find(box, 'button'));
  expect(change).toHaveBeenCalledExactlyOnceWith(undefined);
});

test('a skeleton names what is loading and has the rows of the list', async () => {
  const { box } = await render(<SkeletonRows what="the jobs" rows={3} height="compact" />);
  expect(find(box, '[role=status]').textContent).toBe('Loading the jobs …');
  expect(box.querySelectorAll('.h-row-compact')).toHaveLength(3);
});

test('a message is shown once and its action is undone once', async () => {
  const undo = vi.fn();
  await import('../src/parts/dialog/toaster.tsx');
  await render(<ToastHost />);
  await act(async () => showToast({ title: 'Answered', undo }));
  await vi.waitFor(() => expect(document.body.textContent).toContain('Answered'));
  const action = [...document.querySelectorAll('button')].find(
    (button) => button.textContent === 'Undo',
  );
  if (!action) throw new Error('the message has no button Undo');
  await click(action);
  expect(undo).toHaveBeenCalledOnce();
});
