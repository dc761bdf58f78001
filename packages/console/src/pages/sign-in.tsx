import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { sessionQuery } from '../api/session-queries.ts';
import { Button } from '../parts/form/button.tsx';
import { PasswordField, TextField } from '../parts/form/field.tsx';
import {
  findAddressFault,
  findEmptyFault,
  foundFaults,
  useFormFields,
} from '../parts/form/form-fields.ts';
import { CardPage } from '../parts/page/card-page.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { ErrorNotice } from '../parts/status/error-notice.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  usePageTitle('Sign in');
  const { data: session } = useQuery(sessionQuery());
  const search = route.useSearch();
  return (
    <CardPage>
      <h1 className="mb-1 text-xl font-semibold">Sign in</h1>
      {search.return?.startsWith('/device') && (
        <p className="text-sm text-muted">
          After signing in, you can answer the login request of your machine.
        </p>
      )}
      {session?.firstOwnerPending && (
        <p className="mt-3 rounded-lg border bg-well p-3 text-sm">
          This hub has no owner yet. Open the one-time link that it printed at its start; a restart
          prints a new one.
        </p>
      )}
      <SignInForm />
      {session?.firstOwnerPending === false && (
        <p className="mt-4 text-xs text-muted">
          Lost your password? Ask the operator of this hub for a link to set a new one.
        </p>
      )}
    </CardPage>
  );
}

function SignInForm() {
  const client = useQueryClient();
  const router = useRouter();
  const search = route.useSearch();
  const signIn = useMutation({
    mutationFn: ({ email, password }: { email: string; password: string }) =>
      callHub('session', 'signIn', { email: email.trim(), password }),
    onSuccess: async (state) => {
      client.setQueryData(sessionQuery().queryKey, state);
      await router.navigate({ href: search.return ?? '/', replace: true });
    },
  });
  const fields = useFormFields({
    initial: { email: '', password: '' },
    check: ({ email, password }) =>
      foundFaults({
        email: findAddressFault(email),
        password: findEmptyFault(password, 'your password'),
      }),
    act: signIn,
    send(values) {
      signIn.mutate(values, { onError: () => fields.clear('password') });
    },
  });
  return (
    <form {...fields.form} className="mt-5 grid grid-cols-[minmax(0,1fr)] gap-4">
      {fields.failure && <ErrorNotice error={fields.failure} />}
      <TextField
        label="E-mail address"
        type="email"
        autoComplete="username"
        {...fields.bind('email')}
      />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        {...fields.bind('password')}
      />
      <Button type="submit" look="primary" className="mt-1 h-9" busy={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}
