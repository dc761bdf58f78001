import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { testableEventsQuery } from '../api/trigger-queries.ts';
import { plainText } from '../format/text.ts';
import { formatAbsolute } from '../format/time.ts';
import { mismatchWords, refusalWord } from '../format/trigger-words.ts';
import { ConnectionsLink } from '../parts/record/connections-link.tsx';
import { Facts } from '../parts/record/facts.tsx';
import { SelectInput } from '../parts/settings/controls.tsx';
import { Records, Section, Sheet } from '../parts/settings/section.tsx';

interface TriggerTestProps {
  slug: string;
  workspaceId: string;
  triggerId: string;
}

/** Shows what a trigger would enqueue for an event that arrived earlier. */
export function TriggerTest({ workspaceId, slug, triggerId }: TriggerTestProps) {
  const [eventId, setEventId] = useState('');
  const query = useQuery(testableEventsQuery(workspaceId));
  return (
    <Section
      title="Test against a past event"
      description="Shows what the trigger would enqueue for an event. Nothing is enqueued."
    >
      <Records what="the events" query={query}>
        {({ events }) => {
          const options = events
            .filter(({ isForgotten }) => !isForgotten)
            .map((event) => ({
              value: event.eventId,
              word: plainText(
                `${event.type}: ${event.title ?? event.eventId} (${formatAbsolute(event.receivedAt)})`,
              ),
            }));
          if (options.length === 0) {
            return (
              <p className="text-sm text-muted">
                No event has arrived yet. A system that sends events needs a secret, from{' '}
                <ConnectionsLink slug={slug} />.
              </p>
            );
          }
          return (
            <Sheet>
              <SelectInput
                label="Event"
                options={[{ value: '', word: 'Choose …' }, ...options]}
                value={eventId}
                onChange={(event) => setEventId(event.target.value)}
              />
              {eventId !== '' && (
                <TestResult workspaceId={workspaceId} triggerId={triggerId} eventId={eventId} />
              )}
            </Sheet>
          );
        }}
      </Records>
    </Section>
  );
}

interface TestResultProps {
  workspaceId: string;
  triggerId: string;
  eventId: string;
}

function TestResult({ workspaceId, triggerId, eventId }: TestResultProps) {
  const query = useQuery({
    queryKey: ['triggers', workspaceId, 'test', triggerId, eventId],
    queryFn: ({ signal }) =>
      callHub('integrationEvents', 'testTrigger', { workspaceId, triggerId, eventId }, signal),
  });
  return (
    <Records what="the result" query={query}>
      {({ test: { failed, refused, job } }) => (
        <div role="status" className="grid gap-3 text-sm">
          {failed !== null && <p>It would enqueue nothing: {mismatchWords(failed)}.</p>}
          {refused !== null && <p>It would enqueue nothing. {refusalWord(refused)}.</p>}
          {job !== null && (
            <>
              <p>It would enqueue this job:</p>
              <Facts
                rows={[
                  ['Run', plainText(`${job.runTitle} (${job.runRef})`)],
                  [
                    'Prompt',
                    <pre
                      key="prompt"
                      className="max-h-80 overflow-y-auto rounded-md bg-well p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere"
                    >
                      {plainText(job.prompt)}
                    </pre>,
                  ],
                ]}
              />
            </>
          )}
        </div>
      )}
    </Records>
  );
}
