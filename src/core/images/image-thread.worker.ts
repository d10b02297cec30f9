// Thread of `image-thread.ts`, for one task.
import { parentPort, workerData } from 'node:worker_threads';
import type { ImageReply, ImageTask } from './image-thread.ts';
import { sanitizeSvg } from './svg-sanitizer.ts';

async function run(task: ImageTask): Promise<ImageReply> {
  if (task.kind === 'clean-svg') return { bytes: sanitizeSvg(Buffer.from(task.bytes)) };
  // Two megabytes of codecs, which only this task needs.
  const { scaleDown } = await import('./scale-down.ts');
  return { bytes: scaleDown(task.bytes, task.header, task.maxSide) };
}

parentPort?.postMessage(await run(workerData as ImageTask));
