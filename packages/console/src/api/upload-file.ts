import type { Attachment } from '@signalbox/contract';
import { callHub } from './hub-call.ts';
import { errorOfBody, HubError } from './hub-error.ts';

interface Upload {
  workspaceId: string;
  file: File;
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

/** Uploads a file. Throws HubError only; an abort by `signal` rejects with its reason. */
export async function uploadFile({
  workspaceId,
  file,
  signal,
  onProgress,
}: Upload): Promise<Attachment> {
  const { name: fileName, size: sizeBytes } = file;
  // The type is empty if the browser does not know it.
  const draft = { fileName, sizeBytes, contentType: file.type || 'application/octet-stream' };
  const announced = await callHub('uploads', 'create', { workspaceId, ...draft }, signal);
  const { uploadId } = announced;
  await sendBytes(addressOf(announced.uploadUrl), { file, signal, onProgress });
  // With an object store, the hub takes the bytes over when it is asked for them.
  await callHub('uploads', 'getDownloadUrl', { workspaceId, uploadId }, signal);
  return { uploadId, ...draft };
}

/** The page may be open at another address of the hub than the one in its URLs. */
function addressOf(uploadUrl: string): string {
  const { pathname, search } = new URL(uploadUrl);
  return pathname.endsWith('/uploads/store-bytes') ? pathname + search : uploadUrl;
}

/** Uses XMLHttpRequest, because `fetch` does not report the progress of a request. */
function sendBytes(
  url: string,
  { file, signal, onProgress }: Omit<Upload, 'workspaceId'>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  signal.addEventListener('abort', abort);
  request.upload.onprogress = ({ loaded }) => onProgress(loaded);
  request.onload = () => {
    if (request.status >= 200 && request.status < 300) resolve();
    else reject(failureOf(request));
  };
  request.onabort = () => reject(signal.reason);
  request.onerror = () => {
    reject(new HubError('UNREACHABLE', 'The upload was interrupted. Attach the file again.'));
  };
  request.open('PUT', url);
  request.send(file);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

function failureOf({ status, responseText }: XMLHttpRequest): HubError {
  const plain = new HubError('ANSWER_UNREADABLE', `The upload ended with status ${status}.`);
  try {
    return errorOfBody(JSON.parse(responseText)) ?? plain;
  } catch {
    // An object store or a proxy has answered, not the hub.
    return plain;
  }
}
