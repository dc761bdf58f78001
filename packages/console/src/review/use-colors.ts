import { useCallback, useEffect, useRef, useState } from 'react';
import type { PatchLine } from '../format/patch.ts';
import type { ColorAnswer, ColorRequest } from './code-colors.ts';
import { languageOf } from './color-languages.ts';
import type { Span } from './line-pieces.ts';
import type { ReviewFile } from './review-files.ts';

/** Larger files stay without colors: even a worker would need seconds for them. */
const COLORED_LINES_MAX = 8_000;

/** The colors of a line of the patch; undefined: it has none, or none yet. */
export type Colors = (line: PatchLine) => readonly Span[] | undefined;

/** Colors the files that `want` names, in a worker that begins with the first of them. */
export function useColors(): { colors: Colors; want: (file: ReviewFile) => void } {
  // To copy the colors of all files for each one that arrives would take seconds.
  const known = useRef(new WeakMap<PatchLine, readonly Span[]>());
  const [, setArrived] = useState(0);
  const worker = useRef<Worker>(undefined);
  const asked = useRef(new Set<ReviewFile>());
  const wanted = useRef(new Map<number, readonly PatchLine[][]>());
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = undefined;
      asked.current.clear();
      wanted.current.clear();
    },
    [],
  );
  const want = useCallback((file: ReviewFile) => {
    const language = languageOf(file.path);
    if (language === undefined || file.lineCount > COLORED_LINES_MAX) return;
    if (asked.current.has(file)) return;
    asked.current.add(file);
    worker.current ??= startWorker(({ id, hunks }) => {
      const lines = wanted.current.get(id) ?? [];
      for (const [at, hunk] of hunks.entries()) {
        for (const [place, spans] of hunk.entries()) {
          const line = lines[at]?.[place];
          if (line !== undefined) known.current.set(line, spans);
        }
      }
      setArrived((count) => count + 1);
    });
    // The lines of both sides belong together only within their side.
    const sides = file.hunks.flatMap(({ lines }) => [
      lines.filter(({ kind }) => kind === 'deleted'),
      lines.filter(({ kind }) => kind !== 'deleted'),
    ]);
    const id = asked.current.size;
    wanted.current.set(id, sides);
    const hunks = sides.map((lines) => lines.map(({ text }) => text));
    worker.current.postMessage({ id, language, hunks } satisfies ColorRequest);
  }, []);
  const colors = useCallback((line: PatchLine) => known.current.get(line), []);
  return { colors, want };
}

function startWorker(receive: (answer: ColorAnswer) => void): Worker {
  const worker = new Worker(new URL('./code-colors.ts', import.meta.url), {
    type: 'module',
    name: 'signalbox-colors',
  });
  worker.addEventListener('message', ({ data }: MessageEvent<ColorAnswer>) => receive(data));
  return worker;
}
