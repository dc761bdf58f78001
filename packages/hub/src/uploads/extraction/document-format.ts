import { extname } from 'node:path';

/** The formats whose text is extracted. */
export type DocumentFormat = 'pdf' | 'docx' | 'html' | 'markdown' | 'text' | 'mail';

const formatOfType: Record<string, DocumentFormat> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/plain': 'text',
  'message/rfc822': 'mail',
};

const formatOfExtension: Record<string, DocumentFormat> = {
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.txt': 'text',
  '.eml': 'mail',
};

/** The type that clients send for bytes of unknown type. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Returns the format of a document. Null when its text is not extracted. */
export function formatOf(document: {
  contentType: string;
  fileName: string;
}): DocumentFormat | null {
  const type = document.contentType.replace(/;.*$/s, '').trim().toLowerCase();
  const extension = extname(document.fileName).toLowerCase();
  // Clients send text/plain for Markdown files as well.
  if (type === UNKNOWN_TYPE) return formatOfExtension[extension] ?? null;
  if (type === 'text/plain')
    return formatOfExtension[extension] === 'markdown' ? 'markdown' : 'text';
  return formatOfType[type] ?? null;
}
