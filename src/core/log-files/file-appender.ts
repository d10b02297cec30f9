import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Longest time for which a line waits, so that lines of a short time are one write. */
const LONGEST_WAIT_MS = 50;
/** How often it is checked whether the path still names the open file: the rotation moves files away. */
const CHECK_MS = 1_000;
/** Pause after a failed write, such as a full disk. */
const PAUSE_MS = 5_000;
/** Characters that wait at most; of more the newest are dropped. */
const MAX_WAITING = 4 * 1024 * 1024;

/**
 * Appends lines to one file. Any number of processes may append to it: every write is of whole lines to a file that is open for appending,
 * so a local file system puts each behind the others. A file that was moved away gets nothing after a second; its path is opened anew.
 * Failures never reach the caller.
 */
export class FileAppender {
  readonly path: string;
  readonly #onProblem: (error: unknown, droppedLines: number) => void;
  #waiting: string[] = [];
  #waitingLength = 0;
  #dropped = 0;
  #file: FileHandle | null = null;
  #checkedAt = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  /** @param onProblem is told of each failed write, and of the lines that were dropped since the last one */
  constructor(path: string, onProblem: (error: unknown, droppedLines: number) => void) {
    this.path = path;
    this.#onProblem = onProblem;
  }

  write(text: string): void {
    if (this.#waitingLength + text.length > MAX_WAITING) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#run();
    }, LONGEST_WAIT_MS).unref();
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 && performance.now() >= this.#pausedUntil) await this.#run();
    await this.#running;
  }

  /** Writes what waits before it returns: for the end of the process. */
  flushSync(): void {
    const text = this.#take();
    if (text === '') return;
    try {
      const descriptor = openSync(this.path, 'a', 0o640);
      writeSync(descriptor, text);
      closeSync(descriptor);
    } catch {
      // The same lines are on standard output.
    }
  }

  async close(): Promise<void> {
    await this.flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#closeFile();
  }

  #take(): string {
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingLength = 0;
    return text;
  }

  #run(): Promise<void> {
    this.#running ??= this.#drain().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #drain(): Promise<void> {
    if (performance.now() < this.#pausedUntil) return;
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.length;
      const text = this.#take();
      try {
        await (await this.#opened()).appendFile(text);
      } catch (error) {
        this.#pausedUntil = performance.now() + PAUSE_MS;
        await this.#closeFile();
        this.#onProblem(error, this.#dropped + lines);
        this.#dropped = 0;
        return;
      }
    }
  }

  async #opened(): Promise<FileHandle> {
    const now = performance.now();
    if (this.#file !== null && now - this.#checkedAt >= CHECK_MS && !(await this.#isCurrent(this.#file))) await this.#closeFile();
    if (this.#file === null) {
      await mkdir(dirname(this.path), { recursive: true });
      this.#file = await open(this.path, 'a', 0o640);
    }
    if (now - this.#checkedAt >= CHECK_MS) this.#checkedAt = now;
    return this.#file;
  }

  async #isCurrent(file: FileHandle): Promise<boolean> {
    try {
      const [mine, named] = await Promise.all([file.stat(), stat(this.path)]);
      return mine.ino === named.ino && mine.dev === named.dev;
    } catch {
      return false;
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => undefined);
  }
}
