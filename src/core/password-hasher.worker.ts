import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcryptjs';
import type { HashTask } from './password-hasher.ts';

// Thread of `password-hasher.ts`: only bcrypt, so that half a second of computation never blocks the event loop.

/** bcrypt reads 72 bytes; the digest makes the whole password count, whatever its length and script. */
function prehash(password: string): string {
  return createHash('sha256').update(password, 'utf8').digest('base64');
}

function run(task: HashTask): string | boolean {
  if (task.kind === 'hash') return bcrypt.hashSync(prehash(task.password), task.cost);
  // Of the existing product, which hashed the password itself (spec 07 section 6); bcryptjs reads its first 72 bytes, as that did.
  if (task.hash.startsWith('bcrypt:')) return bcrypt.compareSync(task.password, task.hash.slice('bcrypt:'.length));
  return bcrypt.compareSync(prehash(task.password), task.hash);
}

parentPort?.on('message', (task: HashTask) => {
  try {
    parentPort?.postMessage({ value: run(task) });
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
