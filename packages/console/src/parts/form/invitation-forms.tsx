import { passwordCharsMax, passwordCharsMin } from 'virtual:contract-data';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { hasCode } from '../../api/hub-error.ts';
import { invitationQuery, type OpenInvitation, sessionQuery } from '../../api/session-queries.ts';
import { roleWords } from '../../format/role-words.ts';
import { plainText } from '../../format/text.ts';
import { FixedAddress } from '../page/fixed-address.tsx';
import { EndState } from '../status/end-state.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { RelativeTime } from '../text/relative-time.tsx';
import { Button, buttonClasses } from './button.tsx';
import { PasswordField, TextField } from './field.tsx';
import { findLengthFault, useFormFields } from './form-fields.ts';

interface Props {
  linkToken: string;
  invitation: OpenInvitation;
}
/** `signedInAs` is the address of another person who is signed in at this browser, or null. */
type GuestProps = Props & {
  signedInAs: string | null;
  /** Changes between the forms for people with and without an account. */
  onSwitch: () => void;
};

/** For the invited person who is signed in. */
export function AcceptSignedIn({ linkToken, invitation }: Props) {
  const accept = useAccept(linkToken);
  if (hasCode(accept.error, 'ALREADY_MEMBER')) return <AlreadyMember invitation={invitation} />;
  return (
    <>
      <InvitationText invitation={invitation} />
      <div className="mt-5 grid gap-4">
        {accept.error && <ErrorNotice error={accept.error} />}
        <p className="text-sm wrap-anywhere">
          You are signed in as <span className="font-medium">{plainText(invitation.email)}</span>.
        </p>
        <Button
          look="primary"
          className="h-9"
          busy={accept.isPending}
          onClick={() => accept.mutate({})}
        >
          Accept invitation
        </Button>
      </div>
    </>
  );
}

/** For an invited person with an account who is not signed in: the password does both. */
export function AcceptWithPassword({ linkToken, invitation, signedInAs, onSwitch }: GuestProps) {
  const accept = useAccept(linkToken);
  const fields = useFormFields({
    initial: { password: '' },
    check: ({ password }) => (password === '' ? { password: 'Enter your password.' } : {}),
    act: accept,
    fieldOfCode: {
      SIGN_IN_FAILED: {
        name: 'password',
        message: 'This is not the password of an account with this address.',
      },
    },
    send: accept.mutate,
  });
  if (hasCode(accept.error, 'ALREADY_MEMBER')) return <AlreadyMember invitation={invitation} />;
  return (
    <>
      <InvitationText invitation={invitation} />
      <p className="mt-3 text-sm text-muted">Sign in with your account to accept.</p>
      <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <SignsInInstead signedInAs={signedInAs} />
        <FixedAddress email={invitation.email} />
        <PasswordField
          label="Password"
          autoComplete="current-password"
          maxLength={passwordCharsMax}
          hint="Forgot it? Ask the operator of this hub for a link to set a new one."
          {...fields.bind('password')}
        />
        <Button type="submit" look="primary" className="mt-1 h-9" busy={accept.isPending}>
          Sign in and accept
        </Button>
        <Button type="button" onClick={onSwitch}>
          I have no account yet
        </Button>
      </form>
    </>
  );
}

/** For an invited person without an account: a name and a password create one. */
export function AcceptAsNewPerson({ linkToken, invitation, signedInAs, onSwitch }: GuestProps) {
  const accept = useAccept(linkToken);
  const fields = useFormFields({
    initial: { name: '', password: '' },
    check: ({ name, password }) => {
      const fault = findLengthFault(password);
      return {
        ...(name.trim() === '' && { name: 'Enter your name.' }),
        ...(fault && { password: fault }),
      };
    },
    act: accept,
    fieldOfCode: {
      EMAIL_TAKEN: {
        name: 'password',
        message: 'You have an account with this password. Use the button for people with one.',
      },
    },
    send: ({ name, password }) => accept.mutate({ name: name.trim(), password }),
  });
  return (
    <>
      <InvitationText invitation={invitation} />
      <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <SignsInInstead signedInAs={signedInAs} />
        <TextField label="Your name" autoComplete="name" maxLength={200} {...fields.bind('name')} />
        <FixedAddress email={invitation.email} />
        <PasswordField
          label="Password"
          autoComplete="new-password"
          maxLength={passwordCharsMax}
          hint={`At least ${passwordCharsMin} characters. A few unrelated words make a good one.`}
          {...fields.bind('password')}
        />
        <Button type="submit" look="primary" className="mt-1 h-9" busy={accept.isPending}>
          Accept and create account
        </Button>
        <Button type="button" onClick={onSwitch}>
          I have an account already
        </Button>
      </form>
    </>
  );
}

/** Accepts, and opens the workspace. If the link was used or revoked meanwhile, checks it again. */
function useAccept(linkToken: string) {
  const client = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (proof: { name?: string; password?: string }) =>
      callHub('invitations', 'accept', { linkToken, ...proof }),
    onSuccess: async ({ workspaceId, ...session }) => {
      client.setQueryData(sessionQuery().queryKey, session);
      const joined = session.workspaces.find((each) => each.workspaceId === workspaceId);
      await (joined
        ? router.navigate({ to: '/w/$slug/jobs', params: { slug: joined.slug }, replace: true })
        : router.navigate({ to: '/', replace: true }));
    },
    onError: async (error) => {
      if (hasCode(error, 'INVITATION_LINK_INVALID', 'EMAIL_TAKEN')) {
        await client.invalidateQueries(invitationQuery(linkToken));
      }
    },
  });
}

function InvitationText({ invitation }: { invitation: OpenInvitation }) {
  const { workspaceName, role, invitedBy, expiresAt } = invitation;
  const inviter = invitedBy === 'operator' ? 'The operator of this hub' : plainText(invitedBy);
  const { withArticle, may } = roleWords[role];
  return (
    <>
      <h1 className="text-xl font-semibold wrap-anywhere">Join {plainText(workspaceName)}</h1>
      <p className="mt-2 text-sm wrap-anywhere">
        {inviter} invites you to this workspace as {withArticle}. {may}
      </p>
      <p className="mt-2 text-xs text-muted">
        The invitation ends <RelativeTime at={expiresAt} />.
      </p>
    </>
  );
}

function SignsInInstead({ signedInAs }: { signedInAs: string | null }) {
  if (signedInAs === null) return null;
  return (
    <p className="rounded-lg border bg-well p-3 text-sm wrap-anywhere">
      You are signed in as {plainText(signedInAs)}. If you accept, you are signed out, and signed in
      with the address below.
    </p>
  );
}

function AlreadyMember({ invitation }: { invitation: OpenInvitation }) {
  return (
    <EndState icon="check" tone="good" title="You are a member already">
      <p className="wrap-anywhere">
        You belong to {plainText(invitation.workspaceName)}, so there is nothing to accept.
      </p>
      <p>
        <Link to="/" className={buttonClasses('primary')}>
          Go to the console
        </Link>
      </p>
    </EndState>
  );
}
