import { passwordCharsMax, passwordCharsMin } from 'virtual:contract-data';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { HubError, hasCode } from '../api/hub-error.ts';
import { firstOwnerQuery, sessionQuery } from '../api/session-queries.ts';
import { slugOf } from '../format/slug.ts';
import { Button, buttonClasses } from '../parts/button.tsx';
import { CardPage } from '../parts/card-page.tsx';
import { EndState } from '../parts/end-state.tsx';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { PasswordField, TextField } from '../parts/field.tsx';
import { useLinkToken } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { usePageTitle } from '../parts/page-title.ts';

/** The page of the one-time link that a new hub prints. */
export function FirstOwnerPage() {
  usePageTitle('First owner');
  const linkToken = useLinkToken();
  const check = useQuery(firstOwnerQuery(linkToken));
  return (
    <CardPage>
      {linkToken !== '' && check.isPending && <Loading what="the link" />}
      {check.isError && <ErrorNotice error={check.error} />}
      {(linkToken === '' || check.data?.valid === false) && <LinkInvalid />}
      {check.data?.valid && <FirstOwnerForm linkToken={linkToken} />}
    </CardPage>
  );
}

function LinkInvalid() {
  return (
    <EndState icon="alert" tone="attention" title="This link is not valid">
      <p>
        It was already used, it is not the latest one, or a part of it is missing. If this hub has
        no owner yet, restart it to print a new link.
      </p>
      <Link to="/sign-in" className={buttonClasses('plain')}>
        Go to sign-in
      </Link>
    </EndState>
  );
}

const emptyForm = { name: '', email: '', password: '', workspaceName: '', workspaceSlug: '' };

function FirstOwnerForm({ linkToken }: { linkToken: string }) {
  const client = useQueryClient();
  const router = useRouter();
  const [form, setForm] = useState(emptyForm);
  const create = useMutation({
    mutationFn: () =>
      callHub('firstOwner', 'create', { linkToken, ...form, workspaceSlug: slugFor(form) }),
    onSuccess: async (state) => {
      client.setQueryData(sessionQuery().queryKey, state);
      await router.navigate({ href: '/', replace: true });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const bind = (name: keyof typeof emptyForm) => ({
    name,
    required: true,
    value: form[name],
    error: errorFor(name, create.error),
    onChange: (event: { target: { value: string } }) =>
      setForm({ ...form, [name]: event.target.value }),
  });
  return (
    <>
      <h1 className="text-xl font-semibold">Create the first owner</h1>
      <p className="mt-1 text-sm text-muted">
        You will own this hub and its first workspace. You can invite others later.
      </p>
      <form onSubmit={submit} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {create.isError && !isFieldError(create.error) && <ErrorNotice error={create.error} />}
        <TextField label="Your name" autoComplete="name" maxLength={200} {...bind('name')} />
        <TextField
          label="E-mail address"
          type="email"
          autoComplete="username"
          maxLength={320}
          {...bind('email')}
        />
        <PasswordField
          label="Password"
          autoComplete="new-password"
          minLength={passwordCharsMin}
          maxLength={passwordCharsMax}
          hint={`At least ${passwordCharsMin} characters. Several unrelated words make a good password.`}
          {...bind('password')}
        />
        <TextField label="Workspace name" maxLength={200} {...bind('workspaceName')} />
        <TextField
          label="Workspace slug"
          hint="Part of addresses and commands: lower-case letters, digits and inner dashes."
          pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
          maxLength={63}
          autoCapitalize="none"
          spellCheck={false}
          {...bind('workspaceSlug')}
          value={slugFor(form)}
        />
        <Button type="submit" look="primary" className="mt-1 h-9" busy={create.isPending}>
          Create owner and workspace
        </Button>
      </form>
    </>
  );
}

/** The slug is derived from the name until the person enters one. */
function slugFor(form: typeof emptyForm): string {
  return form.workspaceSlug === '' ? slugOf(form.workspaceName) : form.workspaceSlug;
}

const fieldOfCode: Readonly<Record<string, keyof typeof emptyForm>> = {
  SLUG_TAKEN: 'workspaceSlug',
  EMAIL_TAKEN: 'email',
};

function errorFor(name: keyof typeof emptyForm, error: unknown): string | undefined {
  if (!(error instanceof HubError)) return undefined;
  if (fieldOfCode[error.code] === name) return error.message;
  return error.details.find((detail) => detail.path === `/${name}`)?.message;
}

/** Whether the failure is shown at a field instead of above the form. */
function isFieldError(error: unknown): boolean {
  if (hasCode(error, 'SLUG_TAKEN', 'EMAIL_TAKEN')) return true;
  return (
    error instanceof HubError &&
    error.details.length > 0 &&
    error.details.every((detail) => detail.path.slice(1) in emptyForm)
  );
}
