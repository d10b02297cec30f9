import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ImageHeader } from './image-header.ts';

export type ImageTask =
  | { kind: 'resize'; bytes: Uint8Array; header: ImageHeader /** Longest side of the result in pixels. */; maxSide: number }
  | { kind: 'clean-svg'; bytes: Uint8Array };

/** Null for an image that is none. */
export type ImageReply = { bytes: Uint8Array | null };

/** An image that takes longer was made to take long. */
const LIMIT_MS = 30_000;

/** `.ts` when run from source, `.js` when bundled: the worker lies beside this module either way. */
const workerFile = new URL(`./image-thread.worker${extname(import.meta.url.split('?')[0]!)}`, import.meta.url);

/** One image at a time: a decoded one takes 4 bytes a pixel, several times over. */
let lastTask: Promise<unknown> = Promise.resolve();

/**
 * Scales an image down. The caller has checked the dimensions: a decoder allocates what the header says.
 * @returns the same format; null when the image cannot be decoded
 */
export function resizeImage(bytes: Uint8Array, header: ImageHeader, maxSide: number): Promise<Buffer | null> {
  return inThread({ kind: 'resize', bytes, header, maxSide });
}

/** `sanitizeSvg` for a file that somebody sent: megabytes may take a second. */
export function cleanSvg(bytes: Uint8Array): Promise<Buffer | null> {
  return inThread({ kind: 'clean-svg', bytes });
}

/** In a thread of its own, which ends afterwards and returns its memory; the event loop goes on. */
function inThread(task: ImageTask): Promise<Buffer | null> {
  const mine = lastTask.then(() => run(task));
  lastTask = mine;
  return mine;
}

/** Never rejects: a decoder that fails or crashes means an image that is none. */
function run(task: ImageTask): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const worker = new Worker(workerFile, { workerData: task });
    const limit = setTimeout(() => finish(null), LIMIT_MS);
    const finish = (bytes: Uint8Array | null): void => {
      clearTimeout(limit);
      resolve(bytes && Buffer.from(bytes));
      void worker.terminate();
    };
    worker.once('message', ({ bytes }: ImageReply) => finish(bytes));
    worker.once('error', () => finish(null));
    worker.once('exit', () => finish(null));
  });
}
