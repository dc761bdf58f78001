import { attachmentsMax, uploadBytesMax } from 'virtual:contract-data';
import type { Attachment } from '@signalbox/contract';
import { type ClipboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { uploadFile } from '../api/upload-file.ts';
import { formatBytes } from '../format/bytes.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';

/** A file that is being uploaded. */
interface Arrival {
  id: number;
  file: File;
  sentBytes: number;
  stop: AbortController;
}

export type AttachmentChange = (before: readonly Attachment[]) => readonly Attachment[];

/** Uploads files for a job. Those that have arrived become its attachments. */
export function useAttachments(
  workspaceId: string,
  attachments: readonly Attachment[],
  change: (change: AttachmentChange) => void,
) {
  const [arrivals, setArrivals] = useState<readonly Arrival[]>([]);
  const [fault, setFault] = useState<string>();
  const lastId = useRef(0);
  /** Aborted with the form, or its draft. */
  const stopAll = useRef(new AbortController());
  useEffect(() => {
    stopAll.current = new AbortController();
    return () => stopAll.current.abort();
  }, []);
  async function send({ id, file, stop }: Arrival): Promise<void> {
    const signal = AbortSignal.any([stop.signal, stopAll.current.signal]);
    const onProgress = (sentBytes: number) =>
      setArrivals((all) => all.map((one) => (one.id === id ? { ...one, sentBytes } : one)));
    try {
      const attachment = await uploadFile({ workspaceId, file, signal, onProgress });
      change((before) => [...before, attachment]);
    } catch (error) {
      if (!signal.aborted) setFault(`${plainText(file.name)}: ${(error as Error).message}`);
    } finally {
      setArrivals((all) => all.filter((one) => one.id !== id));
    }
  }
  return {
    attachments,
    arrivals,
    fault,
    add(files: readonly File[]) {
      const large = files.find(({ size }) => size > uploadBytesMax);
      if (attachments.length + arrivals.length + files.length > attachmentsMax) {
        return setFault(`A job takes at most ${attachmentsMax} files.`);
      }
      if (large !== undefined) {
        const limit = `a file may have at most ${formatBytes(uploadBytesMax)}`;
        return setFault(`${plainText(large.name)}: ${limit}.`);
      }
      setFault(undefined);
      const added = files.map((file) => ({
        id: ++lastId.current,
        file,
        sentBytes: 0,
        stop: new AbortController(),
      }));
      setArrivals([...arrivals, ...added]);
      for (const arrival of added) void send(arrival);
    },
    remove(uploadId: string) {
      setFault(undefined);
      change((before) => before.filter((one) => one.uploadId !== uploadId));
    },
    stop() {
      setFault(undefined);
      stopAll.current.abort();
      stopAll.current = new AbortController();
    },
  };
}

interface AttachmentFieldProps {
  files: ReturnType<typeof useAttachments>;
  error: string | undefined;
  children: ReactNode;
}

/** The attached files: chosen with a button, or dropped or pasted on the children. */
export function AttachmentField({ files, error, children }: AttachmentFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const fault = files.fault ?? error;
  return (
    <fieldset
      className="grid min-w-0 gap-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        // Dragged text goes into the field below.
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        files.add([...event.dataTransfer.files]);
      }}
      onPaste={(event) => {
        const pasted = pastedFiles(event);
        if (pasted.length === 0) return;
        event.preventDefault();
        files.add(pasted);
      }}
    >
      <legend className="sr-only">Prompt and files</legend>
      {children}
      {files.attachments.length + files.arrivals.length > 0 && <FileList files={files} />}
      {fault !== undefined && (
        <p role="alert" className="flex gap-1.5 text-xs text-danger">
          <Icon name="triangle-alert" />
          {fault}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => input.current?.click()}>Attach files</Button>
        <span className="text-xs text-muted">
          Or drop them here, or paste an image. At most {attachmentsMax} files.
        </span>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          files.add([...(event.target.files ?? [])]);
          // The same file may be chosen again after it was removed.
          event.target.value = '';
        }}
      />
    </fieldset>
  );
}

/** Programs that copy text often add a picture of it: then a person wants the text. */
function pastedFiles({ clipboardData }: ClipboardEvent): File[] {
  return clipboardData.types.includes('text/plain') ? [] : [...clipboardData.files];
}

function FileList({ files }: Pick<AttachmentFieldProps, 'files'>) {
  return (
    <ul aria-label="Attached files" className="grid gap-1">
      {files.attachments.map(({ uploadId, fileName, sizeBytes }) => (
        <FileRow
          key={uploadId}
          fileName={fileName}
          sizeBytes={sizeBytes}
          onRemove={() => files.remove(uploadId)}
        />
      ))}
      {files.arrivals.map(({ id, file, sentBytes, stop }) => (
        <FileRow
          key={id}
          fileName={file.name}
          sizeBytes={file.size}
          sentBytes={sentBytes}
          onRemove={() => stop.abort()}
        />
      ))}
    </ul>
  );
}

interface FileRowProps {
  fileName: string;
  sizeBytes: number;
  /** Absent: all. */
  sentBytes?: number;
  onRemove: () => void;
}

function FileRow({ fileName, sizeBytes, sentBytes, onRemove }: FileRowProps) {
  const name = plainText(fileName);
  return (
    <li className="flex min-h-8 min-w-0 items-center gap-2 rounded-md border bg-surface pl-2 text-sm">
      <span className="min-w-0 grow truncate">{name}</span>
      {sentBytes !== undefined && (
        <progress
          aria-label={`Upload of ${name}`}
          className="w-20 shrink-0"
          value={sentBytes}
          max={Math.max(sizeBytes, 1)}
        />
      )}
      <span className="shrink-0 text-xs text-muted">{formatBytes(sizeBytes)}</span>
      <button
        type="button"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
        className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover pointer-coarse:size-11"
      >
        <Icon name="x" className="size-3.5" />
      </button>
    </li>
  );
}
