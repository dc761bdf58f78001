import type { Readable } from 'node:stream';

/** A range of an object's bytes, both ends included, as in HTTP's `Range`. */
interface ByteRange {
  first: number;
  last: number;
}

/** The announced size and hash that the bytes of an object must have. */
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
 * Stores the bytes of uploads, as objects under opaque keys (`[A-Za-z0-9._-]+`). An object is
 * written once and never changed.
 */
export interface ByteStore {
  /**
   * Stores an object, whole or not at all. When this returns, the expected bytes are durable under
   * the key. When it throws, there is no object.
   *
   * @throws HubError UPLOAD_MISMATCH for other bytes than expected; errors of the source.
   */
  put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    expected: BytesExpected,
  ): Promise<BytesStored>;
  /** Opens an object. Null when it does not exist. A range must be within the object. */
  read(key: string, range: ByteRange | null): Promise<Readable | null>;
  /** Deletes an object. A missing object is not an error. */
  delete(key: string): Promise<void>;
  /** Provides an object as a file while `use` runs. @throws when the object does not exist. */
  withFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T>;
  /** Deletes files that earlier processes left half-written. @returns how many. */
  sweep(): Promise<number>;
  /** Signs URLs for direct access by clients. Null: the bytes go through the hub. */
  readonly signer: UrlSigner | null;
}

/** Signs URLs of an object store, each for one object and one method, for a limited time. */
export interface UrlSigner {
  /** The same arguments give the same URL. */
  signPut(key: string, options: { sizeBytes: number; signedAtMs: number }): Promise<string>;
  signGet(
    key: string,
    options: { contentType: string; contentDisposition: string; signedAtMs: number },
  ): Promise<string>;
}
