import { Worker } from 'node:worker_threads';
import { vi } from 'vitest';
import { hashPassword } from '../../src/core/password-hasher.ts';

const MAX_WAITING = 200;
const MAX_THREADS = 4;

/**
 * Runs something while as many passwords wait as may wait: no thread of the hasher begins one. They are hashed afterwards at the least
 * cost, so that this takes no time.
 */
export async function whilePasswordsWait<T>(run: () => Promise<T>): Promise<T> {
  const posts: (() => void)[] = [];
  const { postMessage } = Worker.prototype;
  const spy = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message) {
    const { kind } = message as { kind?: unknown };
    if (kind !== 'hash') return postMessage.call(this, message);
    posts.push(() => postMessage.call(this, { ...(message as object), cost: 4 }));
    const post = posts.at(-1)!;
    if (isOver) post();
  });
  let isOver = false;
  const hashes = Promise.allSettled(Array.from({ length: MAX_WAITING + MAX_THREADS }, () => hashPassword('waits')));
  try {
    return await run();
  } finally {
    isOver = true;
    for (const post of posts) post();
    await hashes;
    spy.mockRestore();
  }
}
