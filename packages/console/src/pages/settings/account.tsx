import { passwordCharsMax, passwordCharsMin } from 'virtual:contract-data';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { sessionQuery, sessionsQuery } from '../../api/session-queries.ts';
import type { ConsoleSession } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { describeBrowser } from '../../format/user-agent.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { PasswordField, TextField } from '../../parts/form/field.tsx';
import { FieldsForm } from '../../parts/form/fields-form.tsx';
import {
  findEmptyFault,
  findLengthFault,
  foundFaults,
  useFormFields,
} from '../../parts/form/form-fields.ts';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { CheckField } from '../../parts/settings/controls.tsx';
import { Mark, RecordRows, Row, Section, Sheet } from '../../parts/settings/section.tsx';
import { Moment } from '../../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** The account of the person, the same in all workspaces: name, password, browsers. */
export function AccountPage() {
  usePageTitle('Your account');
  return (
    <>
      <NameSection />
      <PasswordSection />
      <SessionsSection />
    </>
  );
}

function NameSection() {
  const { person } = workspace.useRouteContext();
  const client = useQueryClient();
  const router = useRouter();
  const rename = useMutation({
    mutationFn: (name: string) => callHub('account', 'update', { name: name.trim() }),
    onSuccess: async ({ person: changed }) => {
      client.setQueryData(sessionQuery().queryKey, (now) => now && { ...now, person: changed });
      await router.invalidate();
      showToast({ title: `Your name is ${plainText(changed.name)} now` });
    },
  });
  const fields = useFormFields({
    initial: { name: person.name },
    check: ({ name }) => foundFaults({ name: findEmptyFault(name, 'your name') }),
    act: rename,
    send: ({ name }) => rename.mutate(name),
    takesFocus: false,
  });
  return (
    <Section title="Name" description={`Your account is ${plainText(person.email)}.`}>
      <Sheet>
        <FieldsForm
          fields={fields}
          submit="Save the name"
          look="plain"
          isDisabled={fields.values.name === person.name}
        >
          <TextField
            label="Your name"
            autoComplete="name"
            maxLength={200}
            {...fields.bind('name')}
          />
        </FieldsForm>
      </Sheet>
    </Section>
  );
}

function PasswordSection() {
  const client = useQueryClient();
  const [logOutMachines, setLogOut] = useState(true);
  const change = useMutation({
    mutationFn: (values: { password: string; newPassword: string }) =>
      callHub('account', 'changePassword', { ...values, logOutMachines }),
    onSuccess: async ({ sessionsEnded, machinesLoggedOut }) => {
      await client.invalidateQueries({ queryKey: sessionsQuery().queryKey });
      showToast({
        title: 'Your password is changed',
        detail: `${sessionsEnded} other browsers signed out, ${machinesLoggedOut} machines logged out.`,
      });
    },
  });
  const fields = useFormFields({
    initial: { password: '', newPassword: '' },
    check: ({ password, newPassword }) =>
      foundFaults({
        password: findEmptyFault(password, 'your present password'),
        newPassword: findLengthFault(newPassword),
      }),
    act: change,
    fieldOfCode: {
      SIGN_IN_FAILED: { name: 'password', message: 'This is not your present password.' },
    },
    send(values) {
      change.mutate(values, { onSuccess: () => fields.reset() });
    },
    takesFocus: false,
  });
  return (
    <Section title="Password" description="A new password signs you out of every other browser.">
      <Sheet>
        <FieldsForm fields={fields} submit="Change the password" look="plain">
          <PasswordField
            label="Present password"
            autoComplete="current-password"
            maxLength={passwordCharsMax}
            {...fields.bind('password')}
          />
          <PasswordField
            label="New password"
            autoComplete="new-password"
            maxLength={passwordCharsMax}
            hint={`At least ${passwordCharsMin} characters. A few unrelated words make a good one.`}
            {...fields.bind('newPassword')}
          />
          <CheckField
            label="Log out all my machines"
            hint="Somebody who knew the old password may have logged one in."
            checked={logOutMachines}
            onChange={setLogOut}
          />
        </FieldsForm>
      </Sheet>
    </Section>
  );
}

function SessionsSection() {
  const query = useQuery(sessionsQuery());
  return (
    <Section title="Signed-in browsers" description="End what you do not recognize.">
      <RecordRows
        what="the browsers"
        query={query}
        label="Signed-in browsers"
        items={({ sessions }) => sessions}
      >
        {(session) => <SessionRow key={session.sessionId} session={session} />}
      </RecordRows>
    </Section>
  );
}

function SessionRow({ session }: { session: ConsoleSession }) {
  const client = useQueryClient();
  const name = describeBrowser(session.userAgent);
  const end = async () => {
    await callHub('session', 'revoke', { sessionId: session.sessionId });
    await client.invalidateQueries({ queryKey: sessionsQuery().queryKey });
  };
  return (
    <Row
      title={
        <>
          <span title={plainText(session.userAgent)}>{name}</span>
          {session.current && <Mark>this browser</Mark>}
        </>
      }
      facts={[
        session.ip,
        <Moment key="signed in" word="signed in" at={session.createdAt} />,
        <Moment key="used" word="used" at={session.lastSeenAt} />,
      ]}
      action={
        !session.current && (
          <ConfirmButton label="Sign out" of={name} title="Sign this browser out?" onConfirm={end}>
            It has to sign in again with your password.
          </ConfirmButton>
        )
      }
    />
  );
}
