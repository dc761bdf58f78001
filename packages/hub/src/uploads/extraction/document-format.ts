import { extname } from 'node:path';

/** The documents whose text is extracted. */
export const formats = ['pdf', 'docx', 'html', 'markdown', 'text', 'mail'] as const;
export type Format = (typeof formats)[number];

const formatOfType: Record<string, Format> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/plain': 'text',
  'message/rfc822': 'mail',
};

const formatOfExtension: Record<string, Format> = {
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.txt': 'text',
  '.eml': 'mail',
};

/** What clients call bytes whose type they do not know. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** The format that a document is to be read as; null: its text is not extracted. */
export function formatOf(document: { contentType: string; fileName: string }): Format | null {
  const type = document.contentType.replace(/;.*$/s, '').trim().toLowerCase();
  const extension = extname(document.fileName).toLowerCase();
  // Plain text is also what clients call Markdown and mail.
  if (type === UNKNOWN_TYPE) return formatOfExtension[extension] ?? null;
  if (type === 'text/plain')
    return formatOfExtension[extension] === 'markdown' ? 'markdown' : 'text';
  return formatOfType[type] ?? null;
}
