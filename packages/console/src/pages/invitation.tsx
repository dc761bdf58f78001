import type { InvitationLinkStatus } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentProps, useState } from 'react';
import { invitationQuery, type OpenInvitation, sessionQuery } from '../api/session-queries.ts';
import { buttonClasses } from '../parts/form/button.tsx';
import {
  AcceptAsNewPerson,
  AcceptSignedIn,
  AcceptWithPassword,
} from '../parts/form/invitation-forms.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { useLinkToken } from '../parts/page/link-token.ts';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Loading } from '../parts/status/loading.tsx';

/** The page of an invitation link: shows what it is for, and accepts it. */
export function InvitationPage() {
  usePageTitle('Invitation');
  const linkToken = useLinkToken();
  const check = useQuery(invitationQuery(linkToken));
  const session = useQuery(sessionQuery());
  if (linkToken === '') return <InvitationEnd status="unknown" />;
  const { data } = check;
  if (data && data.status !== 'open') return <InvitationEnd status={data.status} />;
  const isPending = check.isPending || session.isPending;
  return (
    <CardPage>
      {isPending && <Loading what="the invitation" />}
      {check.isError && <ErrorNotice error={check.error} />}
      {session.isError && <ErrorNotice error={session.error} />}
      {data?.invitation && session.data && (
        <OpenInvitationForm
          linkToken={linkToken}
          invitation={data.invitation}
          signedInAs={session.data.person?.email ?? null}
        />
      )}
    </CardPage>
  );
}

interface OpenInvitationFormProps {
  linkToken: string;
  invitation: OpenInvitation;
  /** The e-mail address of the signed-in person, or null. */
  signedInAs: string | null;
}

function OpenInvitationForm({ signedInAs, ...rest }: OpenInvitationFormProps) {
  const [hasAccount, setHasAccount] = useState(false);
  if (signedInAs === rest.invitation.email) return <AcceptSignedIn {...rest} />;
  const form = { ...rest, signedInAs, onSwitch: () => setHasAccount(!hasAccount) };
  return hasAccount ? <AcceptWithPassword {...form} /> : <AcceptAsNewPerson {...form} />;
}

type Look = Pick<ComponentProps<typeof EndState>, 'icon' | 'tone' | 'title'> & { text: string };

const ends: Readonly<Record<Exclude<InvitationLinkStatus, 'open'>, Look>> = {
  used: {
    icon: 'circle-check',
    tone: 'neutral',
    title: 'This invitation was used',
    text:
      'An invitation works once. If you accepted it, sign in. If you did not, inform the person ' +
      'who sent it, and ask for a new one.',
  },
  revoked: {
    icon: 'ban',
    tone: 'attention',
    title: 'This invitation was revoked',
    text:
      'It was revoked, or replaced by a newer one. Open the latest link that you received, or ' +
      'ask for a new one.',
  },
  expired: {
    icon: 'clock',
    tone: 'attention',
    title: 'This invitation has expired',
    text: 'Invitations are valid for 7 days. Ask the person who sent it for a new one.',
  },
  unknown: {
    icon: 'triangle-alert',
    tone: 'attention',
    title: 'There is no such invitation',
    text:
      'Part of the link is missing, or it belongs to another hub. Copy the whole link, or ask ' +
      'for a new one.',
  },
};

function InvitationEnd({ status }: { status: keyof typeof ends }) {
  const { text, ...look } = ends[status];
  return (
    <CardPage>
      <EndState {...look}>
        <p>{text}</p>
        <p>
          <Link to="/sign-in" className={buttonClasses(status === 'used' ? 'primary' : 'plain')}>
            Go to sign-in
          </Link>
        </p>
      </EndState>
    </CardPage>
  );
}
