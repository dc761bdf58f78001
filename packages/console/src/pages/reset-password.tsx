import { passwordCharsMax, passwordCharsMin } from 'virtual:contract-data';
import type { PasswordResetStatus } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { callHub } from '../api/hub-call.ts';
import { hasCode } from '../api/hub-error.ts';
import {
  type OpenPasswordReset,
  passwordResetQuery,
  sessionQuery,
} from '../api/session-queries.ts';
import { Button, buttonClasses } from '../parts/form/button.tsx';
import { PasswordField } from '../parts/form/field.tsx';
import { findLengthFault, useFormFields } from '../parts/form/form-fields.ts';
import { CardPage } from '../parts/page/card-page.tsx';
import { FixedAddress } from '../parts/page/fixed-address.tsx';
import { useLinkToken } from '../parts/page/link-token.ts';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Loading } from '../parts/status/loading.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

/** The page of a password-reset link: sets a new password in place of a lost one. */
export function ResetPasswordPage() {
  usePageTitle('New password');
  const linkToken = useLinkToken();
  const check = useQuery(passwordResetQuery(linkToken));
  if (linkToken === '') return <ResetEnd status="unknown" />;
  const { data } = check;
  if (data && data.status !== 'open') return <ResetEnd status={data.status} />;
  return (
    <CardPage>
      {check.isPending && <Loading what="the link" />}
      {check.isError && <ErrorNotice error={check.error} />}
      {data?.reset && <ResetForm linkToken={linkToken} reset={data.reset} />}
    </CardPage>
  );
}

function ResetForm({ linkToken, reset }: { linkToken: string; reset: OpenPasswordReset }) {
  const save = useSetPassword(linkToken);
  const fields = useFormFields({
    initial: { newPassword: '' },
    check: ({ newPassword }) => {
      const fault = findLengthFault(newPassword);
      return fault === undefined ? {} : { newPassword: fault };
    },
    act: save,
    send: ({ newPassword }) => save.mutate(newPassword),
  });
  return (
    <>
      <h1 className="text-xl font-semibold">Set a new password</h1>
      <p className="mt-2 text-xs text-muted">
        This link ends <RelativeTime at={reset.expiresAt} />.
      </p>
      <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <FixedAddress email={reset.email} />
        <PasswordField
          label="New password"
          autoComplete="new-password"
          maxLength={passwordCharsMax}
          hint={`At least ${passwordCharsMin} characters. A few unrelated words make a good one.`}
          {...fields.bind('newPassword')}
        />
        <div className="rounded-lg border bg-well p-3 text-sm">
          <p>With the new password, all other access of this account ends:</p>
          <ul className="mt-1.5 grid list-disc gap-1 pl-5 text-muted">
            <li>You are signed out of every other browser.</li>
            <li>
              Your machines are logged out, and agents on them stop. Log them in again with{' '}
              <code className="font-mono text-xs">signalbox login</code>.
            </li>
            <li>Tokens that you created for programs stop working.</li>
            <li>Open invitations that you sent are revoked. Send new ones if you need them.</li>
          </ul>
        </div>
        <Button type="submit" look="primary" className="mt-1 h-9" busy={save.isPending}>
          Set password and sign in
        </Button>
      </form>
    </>
  );
}

/** Sets the password and opens the console. If the link was used meanwhile, checks it again. */
function useSetPassword(linkToken: string) {
  const client = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (newPassword: string) =>
      callHub('passwordResets', 'setPassword', { linkToken, newPassword }),
    onSuccess: async (session) => {
      client.setQueryData(sessionQuery().queryKey, session);
      await router.navigate({ to: '/', replace: true });
    },
    onError: async (error) => {
      if (hasCode(error, 'PASSWORD_RESET_LINK_INVALID')) {
        await client.invalidateQueries(passwordResetQuery(linkToken));
      }
    },
  });
}

type Look = Pick<ComponentProps<typeof EndState>, 'icon' | 'tone' | 'title'> & { text: string };

const ends: Readonly<Record<Exclude<PasswordResetStatus, 'open'>, Look>> = {
  used: {
    icon: 'circle-check',
    tone: 'neutral',
    title: 'This link was used',
    text:
      'A link sets a password once. If you set it, sign in with it. If you did not, somebody else ' +
      'may use your account: ask the operator of this hub for a new link now.',
  },
  replaced: {
    icon: 'ban',
    tone: 'attention',
    title: 'This link was replaced',
    text:
      'There is a newer link, or the password was changed since. Open the latest link that you ' +
      'received, or ask the operator of this hub for a new one.',
  },
  expired: {
    icon: 'clock',
    tone: 'attention',
    title: 'This link has expired',
    text: 'Links are valid for 24 hours. Ask the operator of this hub for a new one.',
  },
  unknown: {
    icon: 'triangle-alert',
    tone: 'attention',
    title: 'There is no such link',
    text:
      'Part of it is missing, or it belongs to another hub. Copy the whole link, or ask the ' +
      'operator of this hub for a new one.',
  },
};

function ResetEnd({ status }: { status: keyof typeof ends }) {
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
