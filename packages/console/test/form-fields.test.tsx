import { act } from 'react';
import { expect, test } from 'vitest';
import { HubError } from '../src/api/hub-error.ts';
import { TextField } from '../src/parts/form/field.tsx';
import { useFormFields } from '../src/parts/form/form-fields.ts';
import { render, typeInto } from './rendering.ts';

const sent: Record<string, string>[] = [];

function Form({ failure = null }: { failure?: Error | null }) {
  const fields = useFormFields({
    initial: { name: '', password: '' },
    check: ({ name, password }) => ({
      ...(name === '' && { name: 'Enter your name.' }),
      ...(password === '' && { password: 'Enter your password.' }),
    }),
    act: { isPending: false, error: failure },
    fieldOfCode: { SIGN_IN_FAILED: { name: 'password', message: 'The password is wrong.' } },
    send: (values) => sent.push(values),
  });
  return (
    <form {...fields.form}>
      {fields.failure && <p data-failure>{fields.failure.message}</p>}
      <input readOnly value="ada@acme.dev" />
      <TextField label="Name" {...fields.bind('name')} />
      <TextField label="Password" {...fields.bind('password')} />
    </form>
  );
}

const inputOf = (box: Element, name: string) =>
  box.querySelector(`input[name=${name}]`) as HTMLInputElement;
const alerts = (box: Element) =>
  [...box.querySelectorAll('[role=alert]')].map((each) => each.textContent);
const submit = (box: Element) =>
  act(async () => {
    const event = new Event('submit', { bubbles: true, cancelable: true });
    box.querySelector('form')?.dispatchEvent(event);
  });

test('the first editable field has the focus', async () => {
  const { box } = await render(<Form />);
  expect(document.activeElement).toBe(inputOf(box, 'name'));
});

test('errors are shown beside each field, and nothing is sent', async () => {
  sent.length = 0;
  const { box } = await render(<Form />);
  await typeInto(inputOf(box, 'name'), 'Ada');
  await submit(box);
  expect(alerts(box)).toEqual(['Enter your password.']);
  expect(document.activeElement).toBe(inputOf(box, 'password'));
  expect(sent).toEqual([]);
  await typeInto(inputOf(box, 'password'), 'p');
  expect(alerts(box)).toEqual([]);
  await submit(box);
  expect(sent).toEqual([{ name: 'Ada', password: 'p' }]);
});

test('mending one of several wrong fields leaves the focus in it', async () => {
  const { box } = await render(<Form />);
  await submit(box);
  expect(document.activeElement).toBe(inputOf(box, 'name'));
  await typeInto(inputOf(box, 'name'), 'A');
  expect(alerts(box)).toEqual(['Enter your password.']);
  expect(document.activeElement).toBe(inputOf(box, 'name'));
});

test('a refusal of the hub is shown beside its field until the field is changed', async () => {
  const details = [{ path: '/password', message: 'is among the most common ones' }];
  const { box, update } = await render(<Form />);
  await update(
    <Form failure={new HubError('INVALID_REQUEST', 'A field is wrong.', { details })} />,
  );
  expect(alerts(box)).toEqual(['is among the most common ones']);
  expect(document.activeElement).toBe(inputOf(box, 'password'));
  expect(box.querySelector('[data-failure]')).toBe(null);
  await typeInto(inputOf(box, 'password'), 'other');
  expect(alerts(box)).toEqual([]);
  await update(<Form failure={new HubError('SIGN_IN_FAILED', 'No.')} />);
  expect(alerts(box)).toEqual(['The password is wrong.']);
});

test('a refusal that concerns no field is left to the form', async () => {
  const details = [{ path: '/linkToken', message: 'is too long' }];
  const failure = new HubError('INVALID_REQUEST', 'A field is wrong.', { details });
  const { box } = await render(<Form failure={failure} />);
  expect(box.querySelector('[data-failure]')?.textContent).toBe('A field is wrong.');
  expect(alerts(box)).toEqual([]);
});
