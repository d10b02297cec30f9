import { readFileSync } from 'node:fs';
import { ForksPoolWorker, type PoolOptions } from 'vitest/node';

/** A worker above this ends after its file, and the next file starts another one: what the files of a worker leave adds up to gigabytes. */
const MAX_MEMORY_BYTES = 900 * 1024 * 1024;

/** What the types of the test runner leave out. */
interface Forked {
  fork: { pid?: number };
}

type Listener = Parameters<ForksPoolWorker['on']>[1];

/** A process that runs test files, as the pool `forks` starts them; its end is reported with exit code and signal. */
class RestartedWorker extends ForksPoolWorker {
  override readonly name = 'restarted-forks';
  #onError: ((error: Error) => void) | undefined;
  readonly #onExit = new Map<Listener, Listener>();

  override on(event: string, callback: Listener): void {
    if (event === 'error') this.#onError = callback;
    if (event !== 'exit') {
      super.on(event, callback);
      return;
    }
    // The runner reports only that the worker has exited, and takes the first error.
    const onExit = (...[code, signal]: unknown[]) => {
      this.#onError?.(new Error(`The worker process ended with exit code ${code}, signal ${signal}.`));
      callback(code);
    };
    this.#onExit.set(callback, onExit);
    super.on(event, onExit);
  }

  override off(event: string, callback: Listener): void {
    super.off(event, (event === 'exit' && this.#onExit.get(callback)) || callback);
  }

  /** Asked after each file. */
  canReuse(): boolean {
    return residentBytes((this as unknown as Forked).fork.pid) < MAX_MEMORY_BYTES;
  }
}

/** @returns 0 where the system does not tell (only Linux does) */
function residentBytes(pid: number | undefined): number {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return Number(pages) * 4096;
  } catch {
    return 0;
  }
}

/** A pool of workers that are replaced when they have grown. */
export const restartedWorkers = {
  name: 'restarted-forks',
  createPoolWorker: (options: PoolOptions) => new RestartedWorker(options),
};
