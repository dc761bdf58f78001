import type { JobEvent } from '@signalbox/contract';
import { describe, expect, test } from 'vitest';
import { mergeEvents } from '../src/api/job-queries.ts';
import { foldEvents } from '../src/format/timeline.ts';
import { Timeline } from '../src/parts/text/timeline.tsx';
import { render } from './rendering.ts';
import { xssCorpus } from './xss-corpus.ts';

let seq = 0;
function event(kind: JobEvent['kind'], rest: Partial<JobEvent> = {}): JobEvent {
  seq += 1;
  return {
    eventId: `evt_${seq}`,
    seq,
    jobId: 'job_1',
    kind,
    at: new Date(Date.parse('2026-11-02T09:00:00.000Z') + seq * 1_000).toISOString(),
    attempt: 1,
    agentId: null,
    message: null,
    data: null,
    ...rest,
  };
}

const typesOf = (events: JobEvent[]) =>
  foldEvents(events).map(({ attempt, entries }) => [attempt, ...entries.map(({ type }) => type)]);

describe('folding', () => {
  test('groups events by attempt', () => {
    const events = [
      event('enqueued', { attempt: 0 }),
      event('claimed'),
      event('recovered'),
      event('claimed', { attempt: 2 }),
    ];
    expect(typesOf(events)).toEqual([
      [0, 'event'],
      [1, 'event', 'event'],
      [2, 'event'],
    ]);
  });

  test('joins output that was split within a line or an escape sequence', () => {
    const [attempt] = foldEvents([
      event('log', { message: 'one \u001b[3' }),
      event('heartbeat'),
      event('log', { message: '1mred\ntw' }),
      event('log', { message: 'o' }),
    ]);
    expect(attempt?.entries[0]).toMatchObject({ type: 'output', text: 'one \u001b[31mred\ntwo' });
    expect(attempt?.entries).toHaveLength(2);
  });

  test("dims the agent's own lines", () => {
    const [attempt] = foldEvents([
      event('log', { message: 'cloning\n', data: { stream: 'agent' } }),
      event('log', { message: 'ok\n', data: { stream: 'stdout' } }),
    ]);
    expect(attempt?.entries[0]).toMatchObject({ text: '\u001b[0;2mcloning\n\u001b[0mok\n' });
  });

  test('counts heartbeats without a message, and shows those with one', () => {
    const beats = [
      event('heartbeat', { data: { count: 12 } }),
      event('heartbeat', { message: 'Running the tests.' }),
      event('heartbeat'),
    ];
    const [attempt] = foldEvents(beats);
    expect(attempt?.entries).toMatchObject([
      { type: 'event', event: { message: 'Running the tests.' } },
      { type: 'heartbeats', count: 13, lastAt: beats[2]?.at },
    ]);
  });

  test('places folded heartbeats where the latest stands, in the order of time', () => {
    const claimed = event('claimed');
    const beats = event('heartbeat', { data: { count: 2 } });
    const [second, third] = [
      event('heartbeat', { message: 'b' }),
      event('heartbeat', { message: 'c' }),
    ];
    // The hub changes the event of the first heartbeat in place.
    const folded = { ...beats, at: second.at };
    const typesIn = (events: JobEvent[]) => foldEvents(events)[0]?.entries.map(({ type }) => type);
    expect(typesIn([claimed, folded, second, third])).toEqual([
      ...['event', 'event', 'heartbeats', 'event'],
    ]);
    expect(typesIn([claimed, { ...beats, at: third.at }, second])?.at(-1)).toBe('heartbeats');
    expect(typesIn([claimed, beats, second])).toEqual(['event', 'heartbeats', 'event']);
  });

  test('separates late evidence from the output of the attempt', () => {
    const events = [event('log', { message: 'x' }), event('log', { data: { late: true } })];
    expect(typesOf(events)).toEqual([[1, 'output', 'event']]);
  });

  test('cuts the beginning of very long output at a line end, and counts the removed characters', () => {
    const line = `${'x'.repeat(99)}\n`;
    const message = line.repeat(500);
    const events = Array.from({ length: 30 }, () => event('log', { message }));
    const [entry] = foldEvents(events)[0]?.entries ?? [];
    expect(entry).toMatchObject({ type: 'output', skippedChars: 500_100 });
    expect(entry?.type === 'output' && entry.text.length).toBe(999_900);
  });

  test('of no events is empty', () => {
    expect(foldEvents([])).toEqual([]);
  });
});

describe('merging', () => {
  test('replaces a changed event in place and keeps the order of seq', () => {
    const first = event('claimed');
    const beat = event('heartbeat', { data: { count: 1 } });
    const log = event('log');
    const merged = mergeEvents([first, beat], [log, { ...beat, data: { count: 9 } }]);
    expect(merged.map(({ kind }) => kind)).toEqual(['claimed', 'heartbeat', 'log']);
    expect(merged[1]?.data).toEqual({ count: 9 });
  });
});

describe('the timeline', () => {
  const show = (events: JobEvent[]) =>
    render(<Timeline events={events} isFull nameOfAgent={(id) => `agent ${id}`} />);

  test('shows attempts, agents and events', async () => {
    const { box } = await show([
      event('enqueued', { attempt: 0 }),
      event('claimed', { agentId: 'agt_7' }),
      event('completed', { message: 'All tests pass.' }),
    ]);
    expect(box.querySelector('h3')?.textContent).toBe('Attempt 1by agent agt_7');
    expect(box.textContent).toMatch(/Enqueued.*Claimed.*Completed.*All tests pass\./);
  });

  test('gives every event its exact time', async () => {
    const claimed = event('claimed');
    const { box } = await show([claimed]);
    const time = box.querySelector('time');
    expect(time?.dateTime).toBe(claimed.at);
    expect(time?.title).toContain('2026');
  });

  test.each(xssCorpus)('shows %j in messages and data as text', async (text) => {
    const { box } = await show([event('failed', { message: text, data: { [text]: text } })]);
    expect(box.querySelector('script, img, iframe, style, math, [onload], [onerror]')).toBeNull();
    for (const link of box.querySelectorAll('a')) expect(link.href).toMatch(/^https?:/);
    expect('pwned' in globalThis).toBe(false);
  });
});
