import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { yieldToEventLoop } from '../../base/thread-priority.ts';
import { redactSecrets } from '../../context/redaction.ts';
import type { DocumentFormat } from './document-format.ts';
import {
  ExtractError,
  type ExtractFailure,
  type ExtractionOrder,
  type ExtractOutcome,
  type ReadText,
} from './extract-outcome.ts';
import { decodeText } from './read-text.ts';

type DocumentReader = (bytes: Buffer, charsMax: number) => Promise<ReadText>;

/** A thread reads one document, so it loads the parser of its format only. */
const readers: Record<DocumentFormat, DocumentReader> = {
  pdf: async (bytes, charsMax) => (await import('./read-pdf.ts')).readPdf(bytes, charsMax),
  docx: async (bytes) => (await import('./read-docx.ts')).readDocx(bytes),
  mail: async (bytes) => (await import('./read-mail.ts')).readMail(bytes),
  html: async (bytes) => (await import('./read-html.ts')).readHtml(decodeText(bytes)),
  markdown: async (bytes) => ({ text: decodeText(bytes), truncated: false }),
  text: async (bytes) => ({ text: decodeText(bytes), truncated: false }),
};

async function extract({
  path,
  format,
  charsMax,
  redacts,
}: ExtractionOrder): Promise<ExtractOutcome> {
  // Outside the try: an unreadable file is not a fault of the document.
  const bytes = readFileSync(path);
  try {
    const { text, truncated } = await readers[format](bytes, charsMax);
    const plain = text.replaceAll('\0', '').replaceAll('\r\n', '\n').trim();
    // Before the cut, so that the text does not end inside a secret.
    const clean = redacts ? redactSecrets(plain) : plain;
    return {
      // The cut may split a surrogate pair.
      text: clean.slice(0, charsMax).toWellFormed(),
      truncated: truncated || clean.length > charsMax,
    };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Any error of a parser counts as a fault of the document. */
function failureOf(error: unknown): ExtractFailure {
  if (error instanceof ExtractError) return error.failure;
  return error instanceof RangeError && /call stack/.test(error.message) ? 'too_deep' : 'malformed';
}

// This file only runs as a thread that is started with an order.
yieldToEventLoop();
parentPort?.postMessage(await extract(workerData as ExtractionOrder));
