import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Format } from './document-format.ts';
import {
  ExtractError,
  type ExtractFailure,
  type ExtractionOrder,
  type ExtractOutcome,
  type ReadText,
} from './extract-outcome.ts';
import { readDocx } from './read-docx.ts';
import { readMail } from './read-mail.ts';
import { readPdf } from './read-pdf.ts';
import { decodeText, readHtml } from './read-text.ts';

type DocumentReader = (bytes: Buffer, charsMax: number) => Promise<ReadText>;

const readers: Record<Format, DocumentReader> = {
  pdf: readPdf,
  docx: readDocx,
  mail: readMail,
  html: async (bytes) => readHtml(decodeText(bytes)),
  markdown: async (bytes) => ({ text: decodeText(bytes), truncated: false }),
  text: async (bytes) => ({ text: decodeText(bytes), truncated: false }),
};

async function extract({ path, format, charsMax }: ExtractionOrder): Promise<ExtractOutcome> {
  // A file that cannot be read says nothing about the document in it.
  const bytes = readFileSync(path);
  try {
    const { text, truncated } = await readers[format](bytes, charsMax);
    const clean = text.replaceAll('\0', '').replaceAll('\r\n', '\n').trim();
    return {
      // A cut may split a pair of surrogates.
      text: clean.slice(0, charsMax).toWellFormed(),
      truncated: truncated || clean.length > charsMax,
    };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Whatever a parser throws about a document is the document's fault. */
function failureOf(error: unknown): ExtractFailure {
  if (error instanceof ExtractError) return error.failure;
  return error instanceof RangeError && /call stack/.test(error.message) ? 'too_deep' : 'malformed';
}

// The file is only ever started as a thread, with an order.
parentPort?.postMessage(await extract(workerData as ExtractionOrder));
