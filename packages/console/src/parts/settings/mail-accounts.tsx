import type { MailAccount } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { mailAccountsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { PasswordField, TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { EmptyState } from '../status/empty-state.tsx';
import { SelectInput } from './controls.tsx';
import { RecordRows, Row, Section, Sheet } from './section.tsx';

/** The mail accounts from which live threads are read. */
export function MailAccounts({ workspaceId }: { workspaceId: string }) {
  const query = useQuery(mailAccountsQuery(workspaceId));
  const [isAdding, setAdding] = useState(false);
  return (
    <Section
      title="Mail accounts"
      description="From them the hub reads the latest messages of the mail threads in a job's context."
      action={
        !isAdding && (
          <Button look="primary" onClick={() => setAdding(true)}>
            Add an account
          </Button>
        )
      }
    >
      {isAdding && <AccountForm workspaceId={workspaceId} onClose={() => setAdding(false)} />}
      <RecordRows
        what="the mail accounts"
        query={query}
        label="Mail accounts"
        items={({ accounts }) => accounts}
        empty={
          <EmptyState icon="inbox" title="No mail accounts yet">
            Begin with “Add an account”: an IMAP server, and a password made for this purpose. The
            hub only reads, and stores the password encrypted.
          </EmptyState>
        }
      >
        {(account) => (
          <AccountRow key={account.accountId} workspaceId={workspaceId} account={account} />
        )}
      </RecordRows>
    </Section>
  );
}

function AccountRow({ workspaceId, account }: { workspaceId: string; account: MailAccount }) {
  const client = useQueryClient();
  const { accountId, userName, host, port } = account;
  const name = plainText(account.name);
  const remove = async () => {
    await callHub('mailAccounts', 'remove', { workspaceId, accountId });
    await client.invalidateQueries(mailAccountsQuery(workspaceId));
    showToast({ title: `${name} is removed` });
  };
  return (
    <Row
      title={name}
      facts={[plainText(userName), plainText(`${host}:${port}`)]}
      action={
        <ConfirmButton label="Remove" of={name} title={`Remove ${name}?`} onConfirm={remove}>
          Its password is deleted. Items from it stay, with their cached text.
        </ConfirmButton>
      }
    />
  );
}

const tlsModes = [
  { value: 'tls', word: 'TLS (port 993)' },
  { value: 'starttls', word: 'STARTTLS (port 143)' },
];

function AccountForm({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (
      values: Readonly<Record<'name' | 'host' | 'tls' | 'userName' | 'secret', string>>,
    ) =>
      callHub('mailAccounts', 'put', {
        workspaceId,
        name: values.name.trim(),
        host: values.host.trim(),
        ...(values.tls === 'starttls'
          ? ({ tlsMode: 'starttls', port: 143 } as const)
          : ({ tlsMode: 'tls', port: 993 } as const)),
        userName: values.userName.trim(),
        authKind: 'password',
        secret: values.secret,
      }),
    onSuccess: async () => {
      await client.invalidateQueries(mailAccountsQuery(workspaceId));
      onClose();
    },
  });
  const fields = useFormFields({
    initial: { name: '', host: '', tls: 'tls', userName: '', secret: '' },
    check: ({ name, host, userName, secret }) =>
      foundFaults({
        name: findEmptyFault(name, 'a name'),
        host: findEmptyFault(host, 'the server, such as imap.acme.dev'),
        userName: findEmptyFault(userName, 'the user name'),
        secret: findEmptyFault(secret, 'the password'),
      }),
    act: add,
    send: (values) => add.mutate(values),
  });
  return (
    <Sheet>
      <FieldsForm fields={fields} submit="Add the account" onCancel={onClose}>
        <TextField label="Account name" maxLength={100} {...fields.bind('name')} />
        <TextField label="IMAP server" autoComplete="off" {...fields.bind('host')} />
        <SelectInput label="Encryption" options={tlsModes} {...fields.bind('tls')} />
        <TextField label="User name" autoComplete="off" {...fields.bind('userName')} />
        <PasswordField
          label="Password"
          hint="The hub stores it encrypted, and never shows it again."
          autoComplete="off"
          {...fields.bind('secret')}
        />
      </FieldsForm>
    </Sheet>
  );
}
