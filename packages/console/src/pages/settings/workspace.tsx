import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { callHub } from '../../api/hub-call.ts';
import { sessionQuery } from '../../api/session-queries.ts';
import { type WorkspaceSettings, workspaceSettingsQuery } from '../../api/settings-queries.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../../parts/dialog/toast.ts';
import { ActionButton, adminReason } from '../../parts/form/action-button.tsx';
import { ConfirmButton } from '../../parts/form/confirm-button.tsx';
import { CopyId } from '../../parts/form/copy-button.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../../parts/form/form-fields.ts';
import { usePageTitle } from '../../parts/page/page-title.ts';
import { Facts } from '../../parts/record/facts.tsx';
import { CheckField, SelectInput } from '../../parts/settings/controls.tsx';
import { QueueSection } from '../../parts/settings/queue-section.tsx';
import { Records, Section, Sheet } from '../../parts/settings/section.tsx';
import { ErrorNotice } from '../../parts/status/error-notice.tsx';

const workspace = getRouteApi('/w/$slug');
const RETENTION_DAYS_MAX = 36_500;
/** A message is given up a day after its question. */
const ASK_OWNERS_MINUTES_MAX = 720;

const storages = [
  { value: 'full', word: 'The whole text' },
  { value: 'excerpt', word: 'The beginning of the text' },
  { value: 'metadata', word: 'No text, only who, when and where' },
] as const;

/** The settings of a workspace; read by all, changed by owners and admins. */
export function WorkspaceSettingsPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Workspace · ${membership.name}`);
  const query = useQuery(workspaceSettingsQuery(membership.workspaceId));
  return (
    <>
      <Records what="the settings" query={query}>
        {(settings) => <SettingsForm key={JSON.stringify(settings)} settings={settings} />}
      </Records>
      <QueueSection />
      <LeaveSection />
    </>
  );
}

function SettingsForm({ settings }: { settings: WorkspaceSettings }) {
  const { membership } = workspace.useRouteContext();
  const { dataPolicy, name, slug } = settings.workspace;
  const { cloudAi, attention } = settings;
  const save = useSave(membership.workspaceId);
  const fields = useFormFields({
    initial: {
      name,
      contentStorage: dataPolicy.contentStorage,
      retentionDays: dataPolicy.retentionDays === null ? '' : String(dataPolicy.retentionDays),
      redactSecrets: String(dataPolicy.redactSecrets),
      summarizeSources: String(cloudAi.summarizeSources),
      draftDecisionAnswers: String(cloudAi.draftDecisionAnswers),
      model: cloudAi.model ?? '',
      askOwnersAfterMinutes: String(attention.askOwnersAfterMinutes),
    },
    check: (values) =>
      foundFaults({
        name: findEmptyFault(values.name, 'a name for the workspace'),
        retentionDays: findDaysFault(values.retentionDays),
        askOwnersAfterMinutes: findMinutesFault(values.askOwnersAfterMinutes),
      }),
    act: save,
    send: (values) => save.mutate(values),
    takesFocus: false,
  });
  const reason = adminReason(membership.role);
  const check = (field: 'redactSecrets' | 'summarizeSources' | 'draftDecisionAnswers') => ({
    checked: fields.values[field] === 'true',
    onChange: (checked: boolean) => fields.set(field, String(checked)),
  });
  return (
    <form {...fields.form} className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {reason !== undefined && (
        <p className="rounded-lg border bg-well p-3 text-sm">
          Your role is {membership.role}: you can read these settings. Owners and admins change
          them.
        </p>
      )}
      <fieldset disabled={reason !== undefined} className="contents">
        <Section title="Workspace">
          <Sheet>
            <div className="sm:max-w-md">
              <TextField label="Name" maxLength={200} {...fields.bind('name')} />
            </div>
            <Facts
              rows={[
                ['Slug', <code key="slug">{slug}</code>],
                ['ID', <CopyId key="id" id={settings.workspace.workspaceId} what="workspace ID" />],
              ]}
            />
          </Sheet>
        </Section>
        <Section
          title="Questions"
          description="A question is sent to the channels of the person who enqueued its job."
        >
          <Sheet>
            <div className="grid gap-4 sm:max-w-md">
              <TextField
                label="Tell owners too after minutes"
                inputMode="numeric"
                hint="If it is still open then; owners need a channel. 0: never."
                {...fields.bind('askOwnersAfterMinutes')}
              />
            </div>
          </Sheet>
        </Section>
        <Section
          title="Data"
          description="What is kept of mail, chat, documents and events that arrive from now on, and for how long everything stays."
        >
          <Sheet>
            <div className="grid gap-4 sm:max-w-md">
              <SelectInput
                label="Keep of each text"
                options={storages}
                {...fields.bind('contentStorage')}
              />
              <TextField
                label="Delete after days"
                inputMode="numeric"
                hint="Jobs after they ended, content after it arrived. Empty: keep everything."
                {...fields.bind('retentionDays')}
                required={false}
              />
              <CheckField
                label="Redact secrets"
                hint="Replace passwords, keys and tokens before anything is stored."
                {...check('redactSecrets')}
              />
            </div>
          </Sheet>
        </Section>
        <Section
          title="Cloud AI"
          description="Model calls that the hub enqueues by itself. A cloud AI executor must run them."
        >
          <Sheet>
            <div className="grid gap-4 sm:max-w-md">
              <CheckField label="Summarize long texts" {...check('summarizeSources')} />
              <CheckField
                label="Draft answers to questions"
                hint="A person still decides."
                {...check('draftDecisionAnswers')}
              />
              <TextField
                label="Model"
                hint="Empty: the model of the executor."
                {...fields.bind('model')}
                required={false}
              />
            </div>
          </Sheet>
        </Section>
      </fieldset>
      {fields.failure && <ErrorNotice error={fields.failure} />}
      <div>
        <ActionButton type="submit" look="primary" busy={save.isPending} disabledReason={reason}>
          Save the settings
        </ActionButton>
      </div>
    </form>
  );
}

function findDaysFault(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= RETENTION_DAYS_MAX
    ? undefined
    : `Enter whole days from 1 to ${RETENTION_DAYS_MAX}, or nothing.`;
}

function findMinutesFault(text: string): string | undefined {
  return /^\d{1,3}$/.test(text.trim()) && Number(text) <= ASK_OWNERS_MINUTES_MAX
    ? undefined
    : `Enter whole minutes from 0 to ${ASK_OWNERS_MINUTES_MAX}.`;
}

/** The fields of the form, all as text. */
type FormValues = Record<
  | 'name'
  | 'contentStorage'
  | 'retentionDays'
  | 'redactSecrets'
  | 'summarizeSources'
  | 'draftDecisionAnswers'
  | 'model'
  | 'askOwnersAfterMinutes',
  string
>;

function useSave(workspaceId: string) {
  const client = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (values: FormValues) =>
      callHub('workspaceSettings', 'update', {
        workspaceId,
        name: values.name.trim(),
        dataPolicy: {
          contentStorage:
            storages.find(({ value }) => value === values.contentStorage)?.value ?? 'full',
          retentionDays: values.retentionDays.trim() === '' ? null : Number(values.retentionDays),
          redactSecrets: values.redactSecrets === 'true',
        },
        cloudAi: {
          summarizeSources: values.summarizeSources === 'true',
          draftDecisionAnswers: values.draftDecisionAnswers === 'true',
          model: values.model.trim() === '' ? null : values.model.trim(),
        },
        attention: { askOwnersAfterMinutes: Number(values.askOwnersAfterMinutes) },
      }),
    onSuccess: async ({ workspace: changed }) => {
      client.setQueryData(
        sessionQuery().queryKey,
        (now) =>
          now && {
            ...now,
            workspaces: now.workspaces.map((each) =>
              each.workspaceId === workspaceId ? { ...each, name: changed.name } : each,
            ),
          },
      );
      await client.invalidateQueries({ queryKey: workspaceSettingsQuery(workspaceId).queryKey });
      await router.invalidate();
      showToast({ title: 'The settings are saved' });
    },
  });
}

function LeaveSection() {
  const { membership } = workspace.useRouteContext();
  const client = useQueryClient();
  const router = useRouter();
  const leave = async () => {
    await callHub('members', 'leave', { workspaceId: membership.workspaceId });
    await client.invalidateQueries({ queryKey: sessionQuery().queryKey });
    await router.navigate({ to: '/' });
  };
  return (
    <Section
      title="Leave"
      description="Your machines are logged out of this workspace. An owner can invite you again."
      action={
        <ConfirmButton
          label="Leave the workspace"
          title={`Leave ${plainText(membership.name)}?`}
          onConfirm={leave}
        >
          You lose access at once, and agents on your machines lose their jobs here.
        </ConfirmButton>
      }
    />
  );
}
