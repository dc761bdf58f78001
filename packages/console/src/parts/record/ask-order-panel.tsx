import type { AskOrder, Member, Repository } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { membersQuery, workspaceSettingsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { ActionButton, viewerReason } from '../form/action-button.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { AskOrderDialog } from './ask-order-dialog.tsx';
import { Panel } from './facts.tsx';

const workspace = getRouteApi('/w/$slug');

/** Who is told of the questions of a repository, in which order. */
export function AskOrderPanel({ repo }: { repo: Repository }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const client = useQueryClient();
  const members = useQuery(membersQuery(workspaceId));
  const settings = useQuery(workspaceSettingsQuery(workspaceId));
  const [isChanging, setChanging] = useState(false);
  const { askOrder, remoteUrlHash } = repo;
  const save = async (next: AskOrder | null) => {
    await callHub('repositories', 'upsert', { workspaceId, remoteUrlHash, askOrder: next });
    await client.invalidateQueries({ queryKey: ['repositories', workspaceId] });
  };
  const known = members.data?.members;
  const isWhole = members.data?.nextCursor === null;
  return (
    <Panel title="Who is told of questions">
      <ReadFailure read={members} />
      {known && <Order askOrder={askOrder} members={known} isWhole={isWhole} />}
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
          onSave={save}
          onClose={() => setChanging(false)}
        />
      )}
    </Panel>
  );
}

interface OrderProps {
  askOrder: AskOrder | null;
  members: readonly Member[];
  isWhole: boolean;
}

function Order({ askOrder, members, isWhole }: OrderProps) {
  if (askOrder === null) {
    return (
      <p className="text-sm">
        The person who enqueued the job. If that person has no channel, every member with one.
      </p>
    );
  }
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
