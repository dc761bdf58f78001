import { Meter } from '@base-ui/react/meter';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type UploadSummary, uploadsQuery, uploadUsageQuery } from '../../api/data-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { saveUpload } from '../../api/save-file.ts';
import { formatBytes } from '../../format/bytes.ts';
import { plainText } from '../../format/text.ts';
import { showToast } from '../dialog/toast.ts';
import { adminReason, viewerReason } from '../form/action-button.tsx';
import { Button } from '../form/button.tsx';
import { ConfirmButton } from '../form/confirm-button.tsx';
import { MoreButton } from '../page/page-parts.tsx';
import { JobLink } from '../record/record-links.tsx';
import { EmptyState } from '../status/empty-state.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { ReadFailure } from '../status/read-failure.tsx';
import { SkeletonRows } from '../status/skeleton.tsx';
import { RelativeTime } from '../text/relative-time.tsx';
import { Mark, Records, Row, Rows, Section, Sheet } from './section.tsx';

const workspace = getRouteApi('/w/$slug');

/** How much of its quota the workspace uses, and the files that do. */
export function Uploads() {
  const { membership } = workspace.useRouteContext();
  const list = useInfiniteQuery(uploadsQuery(membership.workspaceId));
  const uploads = list.data?.pages.flatMap((page) => page.uploads) ?? [];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <Usage workspaceId={membership.workspaceId} />
      <Section title="Uploads" description="Newest first.">
        {list.isPending && <SkeletonRows what="the uploads" rows={6} />}
        <ReadFailure read={list} />
        {list.data && uploads.length === 0 && (
          <EmptyState icon="archive" title="No uploads yet">
            Agents upload the changes and reports of their jobs; programs upload documents with{' '}
            <code>uploads/create</code>, whose texts become context.
          </EmptyState>
        )}
        {uploads.length > 0 && (
          <Rows label="Uploads">
            {uploads.map((upload) => (
              <UploadRow key={upload.uploadId} upload={upload} />
            ))}
          </Rows>
        )}
        <MoreButton list={list}>Show more uploads</MoreButton>
      </Section>
    </div>
  );
}

function Usage({ workspaceId }: { workspaceId: string }) {
  const query = useQuery(uploadUsageQuery(workspaceId));
  return (
    <Section
      title="Usage"
      description="Beyond the quota the hub refuses new uploads. Retention and deleting make space."
    >
      <Records what="the usage" query={query}>
        {({ usedBytes, quotaBytes, uploadCount }) => (
          <Sheet>
            <Meter.Root
              value={Math.min(usedBytes, quotaBytes)}
              max={quotaBytes}
              getAriaValueText={() => `${formatBytes(usedBytes)} of ${formatBytes(quotaBytes)}`}
              className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-2 text-sm"
            >
              <Meter.Label className="font-medium">Stored</Meter.Label>
              <span className="text-muted tabular-nums">
                {formatBytes(usedBytes)} of {formatBytes(quotaBytes)}
              </span>
              <Meter.Track className="col-span-full h-2 overflow-hidden rounded-full bg-well">
                <Meter.Indicator className="rounded-full bg-accent" />
              </Meter.Track>
            </Meter.Root>
            <p className="text-xs text-muted">
              {uploadCount.toLocaleString('en')} {uploadCount === 1 ? 'file' : 'files'}. Each counts
              as at least 4 KB.
            </p>
          </Sheet>
        )}
      </Records>
    </Section>
  );
}

function UploadRow({ upload }: { upload: UploadSummary }) {
  const { slug } = workspace.useParams();
  const { fileName, sizeBytes, status, createdBy, jobId, createdAt } = upload;
  const name = plainText(fileName);
  return (
    <Row
      title={
        <>
          {name}
          {status === 'pending' && <Mark>incomplete</Mark>}
        </>
      }
      facts={[
        formatBytes(sizeBytes),
        creatorWords(createdBy),
        jobId !== null && <JobLink slug={slug} name="its job" jobId={jobId} />,
        <RelativeTime key="time" at={createdAt} />,
      ]}
      action={
        <>
          {status === 'stored' && <DownloadButton upload={upload} name={name} />}
          <DeleteButton upload={upload} name={name} />
        </>
      }
    />
  );
}

function creatorWords({ id, name }: UploadSummary['createdBy']): string {
  if (name !== null) return `by ${plainText(name)}`;
  if (id.startsWith('service:')) return `by ${plainText(id.slice('service:'.length))}`;
  return 'by an agent';
}

function DownloadButton({ upload, name }: { upload: UploadSummary; name: string }) {
  const { workspaceId, uploadId } = upload;
  const save = useMutation({ mutationFn: () => saveUpload({ workspaceId, uploadId }) });
  return (
    <>
      <Button aria-label={`Download ${name}`} busy={save.isPending} onClick={() => save.mutate()}>
        Download
      </Button>
      {save.error && <ErrorNotice error={save.error} />}
    </>
  );
}

function DeleteButton({ upload, name }: { upload: UploadSummary; name: string }) {
  const { membership, person } = workspace.useRouteContext();
  const client = useQueryClient();
  const { workspaceId, uploadId, createdBy } = upload;
  const isMine = createdBy.id === person.personId;
  const remove = async () => {
    await callHub('uploads', 'delete', { workspaceId, uploadId });
    await client.invalidateQueries({ queryKey: ['uploads', workspaceId] });
    showToast({ title: `${name} is deleted` });
  };
  return (
    <ConfirmButton
      label="Delete"
      of={name}
      title={`Delete ${name}?`}
      disabledReason={
        viewerReason(membership.role) ?? (isMine ? undefined : adminReason(membership.role))
      }
      onConfirm={remove}
    >
      The file and its text in the context are gone; a job that shows it says that it is missing.
    </ConfirmButton>
  );
}
