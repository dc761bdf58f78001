import type { DeviceToken } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { deviceTokensQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { adminReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { FilterChip } from '../../parts/form/filter-chip.tsx';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { RecordRows, Row, Section } from '../../parts/settings/section.tsx';
import { EmptyState } from '../../parts/status/empty-state.tsx';
import { Moment, RelativeTime } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/settings/machines');
const everybody = [{ value: 'everybody', word: 'Everybody' }] as const;

/** The machines that people have logged in with `signalbox login`, and their assistants. */
export function MachinesPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Machines · ${membership.name}`);
  const { of = 'me' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(deviceTokensQuery(membership.workspaceId, of));
  const isAdmin = adminReason(membership.role) === undefined;
  return (
    <Section
      title={of === 'me' ? 'Your machines' : 'Machines of all members'}
      description="Machines that were logged in with signalbox login, whose agents use that login, and assistants that were connected."
      action={
        isAdmin && (
          <FilterChip
            label="Whose"
            value={of === 'everybody' ? of : undefined}
            options={everybody}
            onChange={(value) => navigate({ search: value ? { of: value } : {} })}
          />
        )
      }
    >
      <RecordRows
        what="the machines"
        query={query}
        label="Machines"
        items={({ tokens }) => tokens}
        empty={
          <EmptyState
            icon="monitor-smartphone"
            title="No machine is logged in"
            command={`signalbox login --url ${window.location.origin} --workspace ${membership.slug}`}
          >
            On the machine that has your clone, run:
          </EmptyState>
        }
      >
        {(token) => (
          <MachineRow key={token.tokenId} token={token} showsPerson={of === 'everybody'} />
        )}
      </RecordRows>
    </Section>
  );
}

function MachineRow({ token, showsPerson }: { token: DeviceToken; showsPerson: boolean }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId } = membership;
  const client = useQueryClient();
  const name = plainText(token.machineName);
  const isAssistant = token.kind === 'assistant';
  const logOut = async () => {
    await callHub('deviceTokens', 'revoke', { workspaceId, tokenId: token.tokenId });
    await client.invalidateQueries({ queryKey: ['device-tokens', workspaceId] });
    showToast({ title: `${name} is ${isAssistant ? 'disconnected' : 'logged out'}` });
  };
  return (
    <Row
      title={name}
      facts={[
        showsPerson && plainText(token.personName),
        <>
          {isAssistant ? 'an assistant, connected ' : 'logged in '}
          <RelativeTime at={token.createdAt} />
        </>,
        <Moment key="used" word="used" at={token.lastUsedAt} never="never used" />,
        <>
          {Date.parse(token.expiresAt) < Date.now() ? 'ended ' : 'ends '}
          <RelativeTime at={token.expiresAt} />
        </>,
      ]}
      action={
        isAssistant ? (
          <ConfirmButton
            label="Disconnect"
            of={name}
            title={`Disconnect ${name}?`}
            onConfirm={logOut}
          >
            It can do nothing more in this workspace, until you connect it again.
          </ConfirmButton>
        ) : (
          <ConfirmButton label="Log out" of={name} title={`Log ${name} out?`} onConfirm={logOut}>
            Agents on it stop, and their jobs are recovered. Log in again with signalbox login.
          </ConfirmButton>
        )
      }
    />
  );
}
