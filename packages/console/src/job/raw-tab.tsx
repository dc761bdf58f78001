import { endpointPaths } from 'virtual:contract-data';
import type { Job } from '@signalbox/contract';
import { useMemo } from 'react';
import { plainText } from '../format/text.ts';
import { CopyButton } from '../parts/form/copy-button.tsx';
import { ScrollBox } from '../parts/page/scroll-box.tsx';

/** The job as the interface returns it, and the call that returns it. */
export function RawTab({ job }: { job: Job }) {
  const json = useMemo(() => JSON.stringify(job, null, 2), [job]);
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
      <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
        <h2 className="text-sm font-semibold">The same with curl</h2>
        <div className="flex min-w-0 items-start gap-2 rounded-lg border bg-well py-1 pr-1 pl-3">
          <code className="min-w-0 grow py-1.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap">
            {curlOf(job)}
          </code>
          <CopyButton text={curlOf(job)} what="command" />
        </div>
        <p className="text-xs text-muted">
          With a token of the scope read in <code className="font-mono">SIGNALBOX_TOKEN</code>.
        </p>
      </section>
      <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
        <h2 className="flex items-center justify-between text-sm font-semibold">
          The job as JSON
          <CopyButton text={json} what="JSON" />
        </h2>
        <ScrollBox className="rounded-lg border bg-well p-3 font-mono text-[0.78125rem] leading-[1.125rem]">
          {plainText(json)}
        </ScrollBox>
      </section>
    </div>
  );
}

function curlOf({ workspaceId, jobId }: Job): string {
  const path = endpointPaths.jobs.get.replace(/^\/console-api\//, '/control-plane/');
  const body = JSON.stringify({ workspaceId, jobId });
  return (
    `curl ${location.origin}${path} -H "Authorization: Bearer $SIGNALBOX_TOKEN" ` +
    `-H 'Content-Type: application/json' -d '${body}'`
  );
}
