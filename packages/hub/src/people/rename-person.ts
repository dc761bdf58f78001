import { appendAccountAudit } from '../audit/append.ts';
import { assert } from '../base/errors.ts';
import type { PeopleDeps } from './deps.ts';
import { type PersonRow, readPerson, updatePerson } from './store.ts';
import { writeAccount } from './write-account.ts';

/** Changes a person's name, which all their workspaces show. */
export function renamePerson(
  { database }: Pick<PeopleDeps, 'database'>,
  personId: string,
  name: string,
): Promise<PersonRow> {
  return writeAccount(database, personId, async (tx) => {
    const person = await readPerson(tx, personId);
    assert(person !== undefined, 'a session belongs to a person');
    if (person.name === name) return person;
    await updatePerson(tx, personId, { name });
    await appendAccountAudit(tx, personId, {
      action: 'person.rename',
      subject: personId,
      data: { from: person.name, to: name },
    });
    return { ...person, name };
  });
}
