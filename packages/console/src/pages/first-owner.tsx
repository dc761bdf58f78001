import { passwordCharsMax, passwordCharsMin } from 'virtual:contract-data';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { firstOwnerQuery, sessionQuery } from '../api/session-queries.ts';
import { findSlugFault, slugFor } from '../format/slug.ts';
import { Button, buttonClasses } from '../parts/form/button.tsx';
import { PasswordField, TextField } from '../parts/form/field.tsx';
import {
  findAddressFault,
  findEmptyFault,
  findLengthFault,
  foundFaults,
  useFormFields,
} from '../parts/form/form-fields.ts';
import { WorkspaceFields } from '../parts/form/workspace-fields.tsx';
import { CardPage } from '../parts/page/card-page.tsx';
import { useLinkToken } from '../parts/page/link-token.ts';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EndState } from '../parts/status/end-state.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Loading } from '../parts/status/loading.tsx';

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
    <EndState icon="triangle-alert" tone="attention" title="This link is not valid">
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
  const create = useMutation({
    mutationFn: (form: typeof emptyForm) =>
      callHub('firstOwner', 'create', { linkToken, ...form, workspaceSlug: slugFor(form) }),
    onSuccess: async (state) => {
      client.setQueryData(sessionQuery().queryKey, state);
      await router.navigate({ href: '/', replace: true });
    },
  });
  const fields = useFormFields({
    initial: emptyForm,
    check: (form) =>
      foundFaults({
        name: findEmptyFault(form.name, 'your name'),
        email: findAddressFault(form.email),
        password: findLengthFault(form.password),
        workspaceName: findEmptyFault(form.workspaceName, 'a name for the workspace'),
        workspaceSlug: form.workspaceName === '' ? undefined : findSlugFault(slugFor(form)),
      }),
    act: create,
    fieldOfCode: { SLUG_TAKEN: { name: 'workspaceSlug' }, EMAIL_TAKEN: { name: 'email' } },
    send: (form) => create.mutate(form),
  });
  return (
    <>
      <h1 className="text-xl font-semibold">Create the first owner</h1>
      <p className="mt-1 text-sm text-muted">
        You will own this hub and its first workspace. You can invite others later.
      </p>
      <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
        {fields.failure && <ErrorNotice error={fields.failure} />}
        <TextField label="Your name" autoComplete="name" maxLength={200} {...fields.bind('name')} />
        <TextField
          label="E-mail address"
          type="email"
          autoComplete="username"
          maxLength={320}
          {...fields.bind('email')}
        />
        <PasswordField
          label="Password"
          autoComplete="new-password"
          maxLength={passwordCharsMax}
          hint={`At least ${passwordCharsMin} characters. Several unrelated words make a good password.`}
          {...fields.bind('password')}
        />
        <WorkspaceFields fields={fields} />
        <Button type="submit" look="primary" className="mt-1 h-9" busy={create.isPending}>
          Create owner and workspace
        </Button>
      </form>
    </>
  );
}
