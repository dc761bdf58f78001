import { plainText } from '../format/text.ts';
import { Icon } from '../parts/page/icon.tsx';
import { LineCounts } from './file-row.tsx';
import type { ReviewFile } from './review-files.ts';

interface FileTreeProps {
  files: readonly ReviewFile[];
  viewed: ReadonlySet<string>;
  currentId: string | undefined;
  onChoose: (file: ReviewFile) => void;
}

/** The changed files by folder. */
export function FileTree({ files, viewed, currentId, onChoose }: FileTreeProps) {
  const folders = Map.groupBy(files, ({ path }) => path.slice(0, path.lastIndexOf('/') + 1));
  return (
    <nav aria-label="Changed files" className="grid min-w-0 gap-2">
      {[...folders].map(([folder, inFolder]) => (
        <div key={folder} className="grid min-w-0">
          {folder !== '' && (
            <p className="font-mono text-xs wrap-anywhere text-muted">{plainText(folder)}</p>
          )}
          <ul className="grid min-w-0">
            {inFolder.map((file) => (
              <li key={file.id}>
                <button
                  type="button"
                  aria-current={file.id === currentId ? 'location' : undefined}
                  onClick={() => onChoose(file)}
                  className="flex min-h-7 w-full min-w-0 items-center gap-1.5 rounded-md px-1 text-left font-mono text-xs hover:bg-hover aria-[current]:bg-accent-soft pointer-coarse:min-h-11"
                >
                  <Icon
                    name={viewed.has(file.id) ? 'check' : 'file-text'}
                    className={`shrink-0 ${viewed.has(file.id) ? 'text-done' : 'text-faint'}`}
                  />
                  <span className="min-w-0 flex-1 wrap-anywhere">
                    {plainText(file.path.slice(folder.length))}
                    {viewed.has(file.id) && <span className="sr-only">, viewed</span>}
                  </span>
                  <LineCounts file={file} />
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
