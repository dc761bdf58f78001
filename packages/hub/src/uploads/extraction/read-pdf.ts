import { getDocumentProxy } from 'unpdf';
import { ExtractError, type ReadText } from './extract-outcome.ts';

/** Other bytes may precede the header (ISO 32000-1, annex H, note 13). */
const HEADER_WITHIN_BYTES = 1_024;
/** Reading stops after this processor time, and the text so far is returned as truncated. */
const READING_MS_MAX = 20_000;

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** @throws ExtractError wrong_content_type, encrypted, malformed. */
export async function readPdf(bytes: Buffer, charsMax: number): Promise<ReadText> {
  if (!bytes.subarray(0, HEADER_WITHIN_BYTES).includes('%PDF-')) {
    throw new ExtractError('wrong_content_type');
  }
  const pdf = await openPdf(bytes);
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    if (chars > charsMax || readProcessorMs() > READING_MS_MAX) {
      return { text: pages.join('\n\n'), truncated: true };
    }
    const text = await readPage(pdf, number);
    pages.push(text);
    chars += text.length;
  }
  return { text: pages.join('\n\n'), truncated: false };
}

/** The time of this thread, which reads one document. On a busy machine it waits for others. */
function readProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function openPdf(bytes: Buffer): Promise<Pdf> {
  try {
    // A copy, since the parser transfers the buffer. Scripts in the document never run.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    throw new ExtractError(isLocked ? 'encrypted' : 'malformed');
  }
}

async function readPage(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const text = items
    .map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    .join('');
  page.cleanup();
  return text;
}
