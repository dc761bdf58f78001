import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { formatAbsolute } from '../../format/time.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { foundFaults, useFormFields } from '../form/form-fields.ts';
import { Section, Sheet } from './section.tsx';

interface AbsenceProps {
  workspaceId: string;
  absentUntil: string | null;
}

/** Until when the person is out of office, in all workspaces. */
export function AbsenceSection({ workspaceId, absentUntil }: AbsenceProps) {
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: (until: string | null) =>
      callHub('notifications', 'setAbsence', { absentUntil: until }),
    onSuccess: async (_answer, until) => {
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      await client.invalidateQueries({ queryKey: ['members'] });
      showToast({ title: until === null ? 'You are back' : 'You are out of office' });
    },
  });
  const fields = useFormFields({
    initial: { back: '' },
    check: ({ back }) =>
      foundFaults({
        back: beginningOf(back) > Date.now() ? undefined : 'Enter a day in the future.',
      }),
    act: set,
    send: ({ back }) => set.mutate(new Date(beginningOf(back)).toISOString()),
    takesFocus: false,
  });
  return (
    <Section
      title="Out of office"
      description="Until you are back, the next person is told of questions instead of you, in all your workspaces. Members see it. It ends by itself."
    >
      <Sheet>
        <FieldsForm
          fields={fields}
          submit="Save the day"
          look="plain"
          other={
            absentUntil !== null && (
              <Button busy={set.isPending} onClick={() => set.mutate(null)}>
                I am back
              </Button>
            )
          }
        >
          <TextField label="Back on" type="date" {...fields.bind('back')} />
          <p className="text-sm text-muted">
            {absentUntil === null
              ? 'You are told of questions now.'
              : `Out of office until ${formatAbsolute(absentUntil)}.`}
          </p>
        </FieldsForm>
      </Sheet>
    </Section>
  );
}

/** When a day begins in the time zone of the browser; NaN for no day. */
function beginningOf(day: string): number {
  return new Date(`${day}T00:00`).getTime();
}
