import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { expect, test, vi } from 'vitest';
import { decisionCountsQuery } from '../src/api/decision-queries.ts';
import { ArrivedDecisions } from '../src/shell/open-decisions.tsx';
import { render } from './rendering.ts';

const WAIT_MS_MAX = 30_000;

test(
  'questions that arrive are said to screen readers; those that are there are not',
  async () => {
    const client = new QueryClient({
      defaultOptions: { queries: { staleTime: Infinity, refetchInterval: false } },
    });
    const { queryKey } = decisionCountsQuery('ws_1');
    const counted = (open: number) =>
      act(async () => {
        client.setQueryData(queryKey, {
          ok: true,
          counts: { open, assumed: 0, resolved: 0 },
          capped: [],
        });
      });
    await counted(2);
    const { box } = await render(
      <QueryClientProvider client={client}>
        <ArrivedDecisions workspaceId="ws_1" />
      </QueryClientProvider>,
    );
    const said = () => box.querySelector('[role=status]')?.textContent;
    const waitUntilSaid = (text: string) =>
      vi.waitFor(() => act(async () => expect(said()).toBe(text)), { timeout: WAIT_MS_MAX });
    expect(said()).toBe('');
    await counted(3);
    await waitUntilSaid('A question has arrived in the inbox. 3 open.');
    await counted(2);
    await waitUntilSaid('');
    await counted(5);
    await waitUntilSaid('3 questions have arrived in the inbox. 5 open.');
  },
  WAIT_MS_MAX,
);
