import type { ChangesPlace } from '@signalbox/contract';
import { formatMoment } from '../terminal/duration.ts';
import { oneLine } from '../terminal/text.ts';

/** Tells what became of the request for the patch of a job; null if it was not asked for. */
export function requestText({ agent, request }: ChangesPlace): string | null {
  if (request === null) return null;
  const who = oneLine(request.askedBy.name ?? request.askedBy.id);
  const asked = `${who} asked ${formatMoment(request.askedAt)}`;
  if (request.answeredAt === null) return `${asked}; ${waitText({ agent })}`;
  if (request.refusal === null) return `${asked}; shared ${formatMoment(request.answeredAt)}`;
  return `${asked}; not shared: ${oneLine(request.refusal)}`;
}

/** Whom a request waits for: `waits for build-7, last seen 2 Nov 09:19`. */
export function waitText({ agent }: Pick<ChangesPlace, 'agent'>): string {
  const name = oneLine(agent.displayName) || agent.agentId;
  const seen = agent.status === 'offline' ? `, last seen ${formatMoment(agent.lastSeenAt)}` : '';
  return `waits for ${name}${seen}`;
}
