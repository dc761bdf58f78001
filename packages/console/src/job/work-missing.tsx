import { plainText } from '../format/text.ts';

/** The sentences on what a piece of work lacks for an approval. */
export function Missing({ missing }: { missing: readonly string[] }) {
  return (
    <ul
      aria-label="Missing for an approval"
      className="grid min-w-0 gap-1 rounded-md bg-warning-soft px-3 py-2 text-warning"
    >
      {missing.map((sentence, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two sentences may be the same.
        <li key={at} className="wrap-anywhere">
          {plainText(sentence)}
        </li>
      ))}
    </ul>
  );
}
