import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from 'vitest/node';

const MB = 1024 * 1024;
/** A worker above this ends after its file, and the next file starts another one: what the files of a worker leave adds up to gigabytes. */
const MAX_MEMORY_BYTES = 900 * MB;

/** What the types of the test runner leave out. */
interface Forked {
  fork: { pid?: number };
}

type Listener = Parameters<ForksPoolWorker['on']>[1];

/** A process that runs test files, as the pool `forks` starts them; its end is reported with exit code and signal. */
class RestartedWorker extends ForksPoolWorker {
  override readonly name = 'restarted-forks';
  readonly #onExit = new Map<Listener, Listener>();
  #files: string[] = [];

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#files = message.context.files.map(({ filepath }) => filepath);
    super.send(message);
  }

  override on(event: string, callback: Listener): void {
    if (event !== 'exit') {
      super.on(event, callback);
      return;
    }
    // The test runner takes the listener off before it ends a worker itself, and reports any other end without its cause.
    const onExit = (...[code, signal]: unknown[]) => {
      report(this.#pid, `exit code ${code}, signal ${signal}, last given ${this.#files.join(', ')}`);
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
    return residentBytes(this.#pid) < MAX_MEMORY_BYTES;
  }

  get #pid(): number | undefined {
    return (this as unknown as Forked).fork.pid;
  }
}

const reportFolder = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'worker-reports');

// Node writes into a folder that exists.
mkdirSync(reportFolder, { recursive: true });

/** Arguments of Node for a worker: it writes what it did when the engine ends it, e.g. for want of memory. */
export const WORKER_ARGUMENTS = ['--report-on-fatalerror', '--report-compact', `--report-directory=${reportFolder}`];

/** Prints how a worker has ended, with what it wrote at its end; in `npm test` also among what failed. */
function report(pid: number | undefined, end: string): void {
  const names = readdirSync(reportFolder).filter((name) => name.includes(`.${pid}.`));
  const lines = [`outside the tests: the worker process ${pid} ended: ${end}`, ...names.map(summaryOf)];
  console.error(lines.join('\n'));
  if (process.env.FAILURE_LIST) appendFileSync(process.env.FAILURE_LIST, `${lines.join('\n')}\n`);
}

/** Cause, memory and stack of a report, since the machine of a landing keeps no files. */
function summaryOf(name: string): string {
  const path = join(reportFolder, name);
  try {
    const { header, javascriptStack, nativeStack, javascriptHeap } = JSON.parse(readFileSync(path, 'utf8'));
    const heap = `heap ${Math.round(javascriptHeap.usedMemory / MB)} of ${Math.round(javascriptHeap.memoryLimit / MB)} MB`;
    const native = nativeStack.slice(0, 25).map(({ symbol }: { symbol: string }) => symbol);
    return [
      `${header.event}; ${header.trigger}; ${heap}`,
      javascriptStack.message,
      ...(javascriptStack.stack ?? []),
      ...native,
    ].join('\n  ');
  } catch (error) {
    return `${path}: ${error}`;
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
