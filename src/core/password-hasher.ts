import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { refusal } from './errors.ts';

export type HashTask = { kind: 'hash'; password: string; cost: number } | { kind: 'verify'; password: string; hash: string };

type Reply = { value: string | boolean } | { error: string };

interface Job {
  task: HashTask;
  resolve: (value: string | boolean) => void;
  reject: (error: Error) => void;
}

const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/** More waiting passwords than this mean an attack; they are refused at once, so that other requests are served. */
const MAX_WAITING = 200;

/** `.ts` when run from source, `.js` when bundled: the worker lies beside this module either way. */
const workerFile = new URL(`./password-hasher.worker${extname(import.meta.url.split('?')[0]!)}`, import.meta.url);

/** The cost of every installation; only tests that do not check it lower it, see `setPasswordCost`. */
const PASSWORD_COST = 12;
let cost = PASSWORD_COST;

/** A hash of no password at the cost in use: comparing with it takes as long as with a real one (spec 01 H10). */
const dummyHash = () => `$2b$${String(cost).padStart(2, '0')}$7dBBq0jJ9snZ.Zhe/u1KsuG6.32rT3NGxTbNttRK34n3e8nVNM1Dm`;

const waiting: Job[] = [];
const idle: Worker[] = [];
const busy = new Map<Worker, Job>();

/**
 * Changes the cost of hashes made from now on; for tests alone, since no setting of an installation may weaken stored passwords.
 * @param value base-2 logarithm of the number of rounds, 4 to 31
 */
export function setPasswordCost(value: number): void {
  cost = value;
}

/** bcrypt, cost 12, in a worker thread. @param password 8 to 128 characters of any script */
export async function hashPassword(password: string): Promise<string> {
  return (await submit({ kind: 'hash', password, cost })) as string;
}

/**
 * Compares in a worker thread.
 * @param hash null (no such account, or one without password) costs the same time and is always false
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const matches = (await submit({ kind: 'verify', password, hash: hash ?? dummyHash() })) as boolean;
  return matches && hash !== null;
}

/** Whether a hash is one of the existing product: `bcrypt:` and a bcrypt hash of the password itself. Only the import stores such. */
export function isImportedHash(hash: string): boolean {
  return hash.startsWith('bcrypt:');
}

/** Ends the threads; passwords still waiting are refused. Threads start again when needed. */
export async function closePasswordHasher(): Promise<void> {
  for (const job of waiting.splice(0)) job.reject(passwordsOverloaded());
  const workers = [...idle.splice(0), ...busy.keys()];
  await Promise.all(workers.map((worker) => worker.terminate()));
}

function submit(task: HashTask): Promise<string | boolean> {
  if (waiting.length >= MAX_WAITING) return Promise.reject(passwordsOverloaded());
  return new Promise((resolve, reject) => {
    waiting.push({ task, resolve, reject });
    next();
  });
}

function next(): void {
  if (waiting.length === 0) return;
  const worker = idle.pop() ?? (busy.size < MAX_THREADS ? startWorker() : null);
  if (!worker) return;
  const job = waiting.shift()!;
  busy.set(worker, job);
  // A thread with work keeps the process alive, an idle one does not.
  worker.ref();
  worker.postMessage(job.task);
}

function startWorker(): Worker {
  const worker = new Worker(workerFile);
  worker.on('message', (reply: Reply) => {
    const job = busy.get(worker);
    busy.delete(worker);
    worker.unref();
    idle.push(worker);
    if ('error' in reply) job?.reject(new Error(`password hashing failed: ${reply.error}`));
    else job?.resolve(reply.value);
    next();
  });
  const lost = (error: Error) => {
    busy.get(worker)?.reject(error);
    busy.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
    next();
  };
  worker.on('error', lost);
  worker.on('exit', () => lost(new Error('the password thread ended')));
  return worker;
}

export const passwordsOverloaded = refusal('overloaded', 503, 'Service temporarily unavailable. Please try again later.');
