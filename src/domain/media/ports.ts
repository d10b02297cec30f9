/** Storage of file contents: a folder or an S3-compatible storage. */
export interface MediaStore {
  /** Stores a new content; it is durable when the promise resolves. @param key letters, digits, `-` and `_` @throws Error */
  put(key: string, content: Uint8Array, mime: string): Promise<void>;
  /** Null when there is none. @throws Error while the storage is away */
  get(key: string): Promise<Buffer | null>;
  /** An unknown key is no error. */
  delete(key: string): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Ports {
    mediaStore: MediaStore;
  }
}
