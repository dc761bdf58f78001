import { MutationObserver, onlineManager } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import { HubError } from '../src/api/hub-error.ts';
import { createQueryClient } from '../src/api/query-client.ts';

afterEach(() => onlineManager.setOnline(true));

test('a browser that believes to be offline still asks the hub', async () => {
  onlineManager.setOnline(false);
  const client = createQueryClient(() => {});
  const jobs = await client.query({ queryKey: ['jobs'], queryFn: async () => ['a job'] });
  expect(jobs).toEqual(['a job']);
  const cancel = new MutationObserver(client, { mutationFn: async () => 'canceled' });
  expect(await cancel.mutate()).toBe('canceled');
});

test('the end of the session is reported, other refusals are not', async () => {
  let ends = 0;
  const client = createQueryClient(() => {
    ends += 1;
  });
  for (const code of ['NOT_ALLOWED', 'SESSION_REQUIRED'] as const) {
    const queryFn = () => Promise.reject(new HubError(code, 'Refused.'));
    await expect(client.query({ queryKey: [code], queryFn })).rejects.toThrow('Refused.');
  }
  expect(ends).toBe(1);
});
