import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { saveUpload } from '../api/save-file.ts';
import { formatBytes } from '../format/bytes.ts';
import type { AttachedFile, ReportedCheck } from '../format/evidence.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';

/** Commands and files that a warning shows; the rest is folded. */
const LINES_SHOWN = 5;

/** The changed files with a secret: the agent does not push them, and a person must not either. */
export function Secrets({ files }: { files: readonly string[] }) {
  if (files.length === 0) return null;
  const which = files.length === 1 ? 'A changed file contains' : 'Changed files contain';
  return (
    <Warning
      title={`${which} a secret of the agent`}
      lines={files}
      advice="The agent does not push this commit. Do not push it before the secret is removed."
    />
  );
}

/** The commands that the tool was refused: the work may be incomplete because of them. */
export function Denied({ commands }: { commands: readonly string[] }) {
  if (commands.length === 0) return null;
  const count = commands.length === 1 ? 'a command' : `${commands.length} commands`;
  return (
    <Warning
      title={`The tool was not allowed to run ${count}`}
      lines={commands}
      advice={
        <>
          If a job needs them, allow them in the{' '}
          <code className="font-mono text-xs">agent.yaml</code> of the agent:{' '}
          <code className="font-mono text-xs">permissions</code>, or{' '}
          <code className="font-mono text-xs">tool.allow</code> without ACP.
        </>
      }
    />
  );
}

interface WarningProps {
  title: string;
  lines: readonly string[];
  advice: ReactNode;
}

function Warning({ title, lines, advice }: WarningProps) {
  const [shown, folded] = [lines.slice(0, LINES_SHOWN), lines.slice(LINES_SHOWN)];
  return (
    <section
      aria-label={title}
      className="grid min-w-0 gap-1.5 rounded-md bg-warning-soft px-3 py-2"
    >
      <p className="flex items-start gap-1.5 font-medium text-warning">
        <Icon name="triangle-alert" className="mt-0.5 shrink-0" />
        {title}
      </p>
      <Lines lines={shown} />
      {folded.length > 0 && (
        <details className="min-w-0">
          <summary className="cursor-pointer py-1 text-xs pointer-coarse:py-3.5">
            {folded.length} more
          </summary>
          <Lines lines={folded} />
        </details>
      )}
      <p className="text-xs">{advice}</p>
    </section>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul className="grid min-w-0 gap-0.5 font-mono text-xs">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a command may be refused twice.
        <li key={at} className="wrap-anywhere">
          {plainText(line)}
        </li>
      ))}
    </ul>
  );
}

const reportedLooks: Readonly<
  Record<NonNullable<ReportedCheck['outcome']>, { icon: IconName; tone: string }>
> = {
  passed: { icon: 'circle-check', tone: 'text-muted' },
  failed: { icon: 'circle-x', tone: 'text-failed' },
  skipped: { icon: 'circle-slash', tone: 'text-muted' },
};

/** The checks that the tool reported. They have no green sign, because they are not verified. */
export function ReportedChecks({ checks }: { checks: readonly ReportedCheck[] }) {
  if (checks.length === 0) return null;
  return (
    <section aria-labelledby="reported" className="grid min-w-0 gap-1">
      <h3 id="reported" className="text-muted">
        Reported by the tool, not verified
      </h3>
      <ul className="grid min-w-0">
        {checks.map((check, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two checks may have one name.
          <ReportedRow key={at} check={check} />
        ))}
      </ul>
    </section>
  );
}

function ReportedRow({ check: { name, outcome, detail, link } }: { check: ReportedCheck }) {
  const look = outcome && reportedLooks[outcome];
  return (
    <li className="grid min-w-0 grid-cols-[1rem_minmax(0,1fr)_auto] items-baseline gap-x-2 py-1">
      <span className="self-center">{look && <Icon name={look.icon} className={look.tone} />}</span>
      <span className="wrap-anywhere">{plainText(name)}</span>
      <span className="text-xs text-muted">{outcome}</span>
      {detail !== undefined && (
        <p className="col-start-2 col-end-4 text-xs whitespace-pre-wrap text-muted wrap-anywhere">
          {plainText(detail)}
        </p>
      )}
      {link !== undefined && (
        <p className="col-start-2 col-end-4 text-xs wrap-anywhere">
          <LinkedText text={link} />
        </p>
      )}
    </li>
  );
}

interface AttachmentsProps {
  workspaceId: string;
  jobId: string;
  files: readonly AttachedFile[];
}

/** The files that the tool has uploaded. */
export function Attachments({ workspaceId, jobId, files }: AttachmentsProps) {
  if (files.length === 0) return null;
  return (
    <section aria-labelledby="attachments" className="grid min-w-0 gap-1">
      <h3 id="attachments" className="text-muted">
        {files.length === 1 ? 'Attached file' : 'Attached files'}
      </h3>
      <ul className="grid min-w-0">
        {files.map((file) => (
          <AttachmentRow key={file.uploadId} workspaceId={workspaceId} jobId={jobId} file={file} />
        ))}
      </ul>
    </section>
  );
}

interface AttachmentRowProps {
  workspaceId: string;
  jobId: string;
  file: AttachedFile;
}

function AttachmentRow({ workspaceId, jobId, file }: AttachmentRowProps) {
  const { uploadId, fileName, sizeBytes } = file;
  const name = plainText(fileName);
  const save = useMutation({ mutationFn: () => saveUpload({ workspaceId, jobId, uploadId }) });
  return (
    <li className="grid min-w-0 gap-2 py-1">
      <div className="flex min-w-0 items-center gap-2">
        <Icon name="file-text" className="shrink-0 text-faint" />
        <span className="min-w-0 truncate" title={name}>
          {name}
        </span>
        {sizeBytes !== undefined && (
          <span className="shrink-0 text-xs text-muted tabular-nums">{formatBytes(sizeBytes)}</span>
        )}
        <Button
          className="ml-auto"
          aria-label={`Download ${name}`}
          busy={save.isPending}
          onClick={() => save.mutate()}
        >
          Download
        </Button>
      </div>
      {save.isError && <ErrorNotice error={save.error} />}
    </li>
  );
}
