import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { notificationChannelsQuery } from '../../api/settings-queries.ts';
import { showToast } from '../dialog/toast.ts';
import { ErrorNotice } from '../status/error-notice.tsx';
import { SelectInput } from './controls.tsx';
import { Section, Sheet } from './section.tsx';

interface DigestProps {
  workspaceId: string;
  hours: number;
}

const options = [
  { value: '0', word: 'Each immediately' },
  { value: '1', word: 'Together, each hour' },
  { value: '4', word: 'Together, every 4 hours' },
  { value: '24', word: 'Together, once a day' },
];

/** How often the person is told of questions of low risk, in all workspaces. */
export function DigestSection({ workspaceId, hours }: DigestProps) {
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: (next: number) => callHub('notifications', 'setDigest', { hours: next }),
    onSuccess: async () => {
      await client.invalidateQueries(notificationChannelsQuery(workspaceId));
      showToast({ title: 'Saved' });
    },
  });
  const other = { value: String(hours), word: `Together, every ${hours} hours` };
  const isKnown = options.some(({ value }) => value === other.value);
  return (
    <Section
      title="Questions of low risk"
      description="Questions that their asker has marked as low risk, never approvals or risks. They can come in one message, if they are still open by then. A question with an earlier deadline comes immediately."
    >
      <Sheet>
        <div className="grid gap-4 sm:max-w-md">
          {set.error && <ErrorNotice error={set.error} />}
          <SelectInput
            label="Tell me"
            options={isKnown ? options : [...options, other]}
            value={String(set.isPending ? set.variables : hours)}
            onChange={({ target }) => set.mutate(Number(target.value))}
          />
        </div>
      </Sheet>
    </Section>
  );
}
