import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ImageHeader } from './image-header.ts';

export interface ResizeTask {
  bytes: Uint8Array;
  header: ImageHeader;
  /** Longest side of the result in pixels. */
  maxSide: number;
}

export type ResizeReply = { bytes: Uint8Array } | { error: string };

/** An image that takes longer was made to take long. */
const LIMIT_MS = 30_000;

/** `.ts` when run from source, `.js` when bundled: the worker lies beside this module either way. */
const workerFile = new URL(`./resize-image.worker${extname(import.meta.url.split('?')[0]!)}`, import.meta.url);

/** One image at a time: a decoded one takes 4 bytes a pixel, several times over. */
let lastResize: Promise<unknown> = Promise.resolve();

/**
 * Scales an image down in a thread of its own, which ends afterwards and returns its memory; the event loop goes on. The caller has checked the
 * dimensions: a decoder allocates what the header says.
 * @returns the same format; null when the image cannot be decoded
 */
export function resizeImage(task: ResizeTask): Promise<Buffer | null> {
  const mine = lastResize.then(() => resizeInThread(task));
  lastResize = mine;
  return mine;
}

/** Never rejects: a decoder that fails or crashes means an image that is none. */
function resizeInThread(task: ResizeTask): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const worker = new Worker(workerFile, { workerData: task });
    const limit = setTimeout(() => finish(null), LIMIT_MS);
    const finish = (result: Buffer | null): void => {
      clearTimeout(limit);
      resolve(result);
      void worker.terminate();
    };
    worker.once('message', (reply: ResizeReply) => finish('bytes' in reply ? Buffer.from(reply.bytes) : null));
    worker.once('error', () => finish(null));
    worker.once('exit', () => finish(null));
  });
}
