import type { AskOrder, Member } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { membersQuery, workspaceSettingsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { ActionButton, viewerReason } from '../form/action-button.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { AskOrderDialog } from './ask-order-dialog.tsx';
import { Panel } from './facts.tsx';

const workspace = getRouteApi('/w/$slug');

interface AskOrderPanelProps {
  askOrder: AskOrder | null;
  /** Who is told without an order. */
  byDefault: string;
  onSave: (next: AskOrder | null) => Promise<void>;
}

/** Who is told of the questions of a repository or a run, in which order. */
export function AskOrderPanel({ askOrder, byDefault, onSave }: AskOrderPanelProps) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const members = useQuery(membersQuery(workspaceId));
  const settings = useQuery(workspaceSettingsQuery(workspaceId));
  const [isChanging, setChanging] = useState(false);
  const known = members.data?.members;
  const isWhole = members.data?.nextCursor === null;
  return (
    <Panel title="Who is told of questions">
      <ReadFailure read={members} />
      {askOrder === null && <p className="text-sm">{byDefault}</p>}
      {known && askOrder && <Order askOrder={askOrder} members={known} isWhole={isWhole} />}
      {settings.data && (
        <p className="text-sm text-muted">
          {ownersWords(settings.data.attention.askOwnersAfterMinutes)}
        </p>
      )}
      <ActionButton
        disabledReason={viewerReason(membership.role)}
        className="justify-self-start"
        onClick={() => setChanging(true)}
      >
        Change the order
      </ActionButton>
      {isChanging && known && (
        <AskOrderDialog
          askOrder={askOrder}
          members={known}
          isWhole={isWhole}
          onSave={onSave}
          onClose={() => setChanging(false)}
        />
      )}
    </Panel>
  );
}

interface OrderProps {
  askOrder: AskOrder;
  members: readonly Member[];
  isWhole: boolean;
}

function Order({ askOrder, members, isWhole }: OrderProps) {
  const { personIds, minutes } = askOrder;
  return (
    <>
      <ol className="grid list-decimal gap-1 pl-5 text-sm" aria-label="Order">
        {personIds.map((personId) => (
          <li key={personId} className="wrap-anywhere">
            {nameOfPlace(personId, members) ?? (isWhole ? 'A person who left' : 'Another member')}
          </li>
        ))}
      </ol>
      {personIds.length > 1 && (
        <p className="text-sm text-muted">
          The next one after {minutes === 1 ? 'a minute' : `${minutes} minutes`} without an answer.
        </p>
      )}
    </>
  );
}

function nameOfPlace(personId: string | null, members: readonly Member[]): string | undefined {
  if (personId === null) return 'The person who enqueued the job';
  const member = members.find((one) => one.personId === personId);
  return member && plainText(member.name);
}

function ownersWords(minutes: number): string {
  if (minutes === 0) return 'The owners are not told.';
  return `Then the owners, after ${minutes === 1 ? 'a minute' : `${minutes} minutes`} more.`;
}
