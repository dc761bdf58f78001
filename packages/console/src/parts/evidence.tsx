import type { Evidence as EvidenceData } from '@signalbox/contract';
import { useState } from 'react';
import { plainText } from '../format/text.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';
import { ScrollBox } from './scroll-box.tsx';

const FILES_STEP = 50;
const SHA_CHARS = 12;

/** The evidence of the outcome: the commit and its changed files. */
export function Evidence({
  evidence,
  changed,
}: {
  evidence: EvidenceData;
  changed: boolean | null;
}) {
  const {
    commitSha,
    changedFiles = [],
    ...rest
  } = evidence as EvidenceData & Record<string, unknown>;
  return (
    <div className="grid min-w-0 gap-3 text-sm">
      {changed === false && (
        <p className="flex items-center gap-1.5 text-warning">
          <Icon name="alert" />
          No changes: there is no commit and no changed file.
        </p>
      )}
      {commitSha && (
        <p className="flex items-center gap-1">
          <span className="text-muted">Commit</span>
          <code className="font-mono text-xs" title={commitSha}>
            {plainText(commitSha.slice(0, SHA_CHARS))}
          </code>
          <CopyButton text={commitSha} what="commit" />
        </p>
      )}
      {changedFiles.length > 0 && <ChangedFiles files={changedFiles} />}
      {Object.keys(rest).length > 0 && (
        <details className="text-xs text-muted">
          <summary className="w-fit cursor-pointer rounded-sm py-1 hover:text-ink">
            Further evidence
          </summary>
          <ScrollBox className="mt-1 max-h-60 rounded-md border bg-well p-2 font-mono">
            {plainText(JSON.stringify(rest, null, 2))}
          </ScrollBox>
        </details>
      )}
    </div>
  );
}

function ChangedFiles({ files }: { files: readonly string[] }) {
  const [shownCount, setShownCount] = useState(FILES_STEP);
  const restCount = files.length - shownCount;
  return (
    <div className="grid gap-1.5">
      <h3 className="text-muted">
        {files.length} changed {files.length === 1 ? 'file' : 'files'}
      </h3>
      <ul className="grid gap-1">
        {files.slice(0, shownCount).map((file) => (
          <li key={file} className="flex min-w-0 items-start gap-1.5 font-mono text-xs">
            <Icon name="file" className="text-faint" />
            <span className="min-w-0 wrap-anywhere">{plainText(file)}</span>
          </li>
        ))}
      </ul>
      {restCount > 0 && (
        <Button onClick={() => setShownCount(shownCount + FILES_STEP)}>
          Show {Math.min(restCount, FILES_STEP)} more of {restCount}
        </Button>
      )}
    </div>
  );
}
