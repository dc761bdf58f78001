import type { QuietHours } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { Button } from '../form/button.tsx';
import { TextField } from '../form/field.tsx';
import { FieldsForm } from '../form/fields-form.tsx';
import { foundFaults, useFormFields } from '../form/form-fields.ts';
import { Section, Sheet } from './section.tsx';

interface QuietHoursProps {
  workspaceId: string;
  quietHours: QuietHours | null;
}

/** The hours in which the person is told only what cannot wait, in all workspaces. */
export function QuietHoursSection({ workspaceId, quietHours }: QuietHoursProps) {
  const client = useQueryClient();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const set = useMutation({
    mutationFn: (next: QuietHours | null) =>
      callHub('notifications', 'setQuietHours', { quietHours: next }),
    onSuccess: async (_answer, next) => {
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      showToast({ title: next === null ? 'No quiet hours now' : 'Quiet hours are saved' });
    },
  });
  const fields = useFormFields({
    initial: { from: quietHours?.from ?? '22:00', until: quietHours?.until ?? '07:00' },
    check: ({ from, until }) =>
      foundFaults({ until: from === until ? 'Enter another time than the first.' : undefined }),
    act: set,
    send: ({ from, until }) => set.mutate({ from, until, timeZone }),
    takesFocus: false,
  });
  return (
    <Section
      title="Quiet hours"
      description="During quiet hours you are told only of approvals and of questions with a deadline before they end, in all your workspaces. The rest is sent afterwards, unless it has been answered."
    >
      <Sheet>
        <FieldsForm
          fields={fields}
          submit="Save the quiet hours"
          look="plain"
          other={
            quietHours !== null && (
              <Button busy={set.isPending} onClick={() => set.mutate(null)}>
                End them
              </Button>
            )
          }
        >
          <div className="grid grid-cols-2 gap-4">
            <TextField label="From" type="time" {...fields.bind('from')} />
            <TextField label="Until" type="time" {...fields.bind('until')} />
          </div>
          <p className="text-sm text-muted">
            {quietHours === null
              ? `None now. They are saved in the time zone of this browser, ${plainText(timeZone)}.`
              : `From ${quietHours.from} until ${quietHours.until}, ${plainText(quietHours.timeZone)}.`}
          </p>
        </FieldsForm>
      </Sheet>
    </Section>
  );
}
