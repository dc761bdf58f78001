import { useState } from 'react';
import type { ChangedFile } from '../format/evidence.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';

const FILES_STEP = 100;

interface ChangedFilesProps {
  files: readonly ChangedFile[];
  filesOmitted: number;
  /** How many to show at first. */
  shown?: number;
}

/** Changed files by folder, with the numbers of added and deleted lines where they are known. */
export function ChangedFiles({ files, filesOmitted, shown = FILES_STEP }: ChangedFilesProps) {
  const [shownCount, setShownCount] = useState(shown);
  const restCount = files.length - shownCount;
  const folders = Map.groupBy(files.slice(0, shownCount), ({ path }) => folderOf(path));
  return (
    <div className="grid min-w-0 gap-2">
      {[...folders].map(([folder, inFolder]) => (
        <div key={folder} className="grid min-w-0">
          {folder !== '' && (
            <p className="font-mono text-xs wrap-anywhere text-muted">{plainText(folder)}</p>
          )}
          <ul className="grid min-w-0">
            {inFolder.map((file) => (
              <FileRow key={file.path} file={file} isIndented={folder !== ''} />
            ))}
          </ul>
        </div>
      ))}
      {restCount > 0 && (
        <Button
          className="justify-self-start"
          onClick={() => setShownCount(shownCount + FILES_STEP)}
        >
          Show {Math.min(restCount, FILES_STEP)} more of {restCount}
        </Button>
      )}
      {filesOmitted > 0 && (
        <p className="text-xs text-muted">
          The agent left {filesOmitted.toLocaleString('en')} further files out of its list.
        </p>
      )}
    </div>
  );
}

function FileRow({ file, isIndented }: { file: ChangedFile; isIndented: boolean }) {
  const { path, added, deleted } = file;
  return (
    <li
      className={`flex min-h-row-dense min-w-0 items-center gap-1.5 font-mono text-xs ${isIndented ? 'pl-4' : ''}`}
    >
      <Icon name="file-text" className="shrink-0 text-faint" />
      <span className="min-w-0 wrap-anywhere">{plainText(path.slice(folderOf(path).length))}</span>
      {added !== undefined && (
        <span className="ml-auto text-done">
          +{added}
          <span className="sr-only"> lines added</span>
        </span>
      )}
      {deleted !== undefined && (
        <span className={added === undefined ? 'ml-auto text-failed' : 'text-failed'}>
          −{deleted}
          <span className="sr-only"> lines deleted</span>
        </span>
      )}
    </li>
  );
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}
