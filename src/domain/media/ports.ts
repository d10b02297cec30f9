import type { Readable } from 'node:stream';
import type { ByteRange } from '../../core/http/http-client.ts';

/** Storage of file contents: a folder or an S3-compatible storage. */
export interface MediaStore {
  /** Stores a new content; it is durable when the promise resolves. @param key letters, digits, `-` and `_` @throws Error */
  put(key: string, content: Uint8Array, mime: string): Promise<void>;
  /** The whole content, for who needs all of it. Null when there is none. @throws Error while the storage is away */
  get(key: string): Promise<Buffer | null>;
  /** Its size and its first 16 bytes, without reading the rest. Null when there is none. @throws Error while the storage is away */
  look(key: string): Promise<{ size: number; head: Buffer } | null>;
  /**
   * Reads a part of it as it is consumed; destroying the stream ends the reading. @param range null = the whole
   * @returns null when there is none @throws Error while the storage is away
   */
  open(key: string, range: ByteRange | null): Promise<Readable | null>;
  /** An unknown key is no error. */
  delete(key: string): Promise<void>;
  /**
   * Everything that is stored, in no order, also what an interrupted `put` has left; `delete` accepts its keys. @throws Error while it is
   * away
   */
  list(): AsyncIterable<StoredContent>;
}

export interface StoredContent {
  key: string;
  /** By the clock of the storage. */
  storedAt: Date;
}

declare module '../../core/app.ts' {
  interface Ports {
    mediaStore: MediaStore;
  }
}
