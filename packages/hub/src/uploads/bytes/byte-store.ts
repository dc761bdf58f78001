import type { Readable } from 'node:stream';

/** Bytes of an object, both ends included, as in HTTP's `Range`. */
export interface ByteRange {
  first: number;
  last: number;
}

/** What the bytes of an object must be. */
export interface BytesExpected {
  sizeBytes: number;
  /** Lower-case hex; null: any. */
  sha256: string | null;
}

export interface BytesStored {
  sizeBytes: number;
  sha256: string;
}

/**
 * Where the bytes of uploads are kept: objects under opaque keys (`[A-Za-z0-9._-]+`), each written
 * once and never changed.
 */
export interface ByteStore {
  /**
   * Streams an object in, whole or not at all: when this answers, the bytes are durable under the
   * key and are what was expected; when it throws, nothing is there.
   *
   * @throws HubError UPLOAD_MISMATCH for other bytes than expected; whatever the source throws.
   */
  put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    expected: BytesExpected,
  ): Promise<BytesStored>;
  /** Null when there is no such object. A range must lie within the object. */
  read(key: string, range: ByteRange | null): Promise<Readable | null>;
  /** No object is no error. */
  delete(key: string): Promise<void>;
  /** Lends an object as a file for as long as `use` takes. @throws when there is no such object. */
  withFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T>;
  /** Deletes what earlier processes left half-written here, and says how much that was. */
  sweep(): Promise<number>;
  /** How clients reach the store themselves; null: the bytes go through the hub. */
  readonly signer: UrlSigner | null;
}

/** Makes URLs of an object store that open one object, for one method, for a while. */
export interface UrlSigner {
  /** The same arguments make the same URL. */
  signPut(key: string, options: { sizeBytes: number; signedAtMs: number }): Promise<string>;
  signGet(
    key: string,
    options: { contentType: string; contentDisposition: string; signedAtMs: number },
  ): Promise<string>;
}
