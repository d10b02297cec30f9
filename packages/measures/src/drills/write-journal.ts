/** The book of a drill's clients on the disk, so that the process that keeps it can be killed, too: a line of JSON for each record. */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { MoneyWrite } from './write-book.ts';

/** Of a write first `write`, then for each attempt `try` and `answer`; of a read an `answer` alone. */
export type BookRecord =
  | ({ record: 'write' } & Pick<MoneyWrite, 'kind' | 'key' | 'userId' | 'amountKopeks'>)
  | { record: 'try'; key: string }
  | {
      record: 'answer';
      operation: string;
      /** Null for a read. */
      key: string | null;
      /** `machineMs()`. */
      atMs: number;
      status: number;
      problem: string | null;
      hasRetryAfter: boolean;
      /** Its beginning, where the answer is neither 2xx nor one after which the client sends again; else empty. */
      body: string;
    };

const NEW_LINE = 0x0a;

export class WriteJournal {
  /** What the file had when it was opened. */
  readonly records: readonly BookRecord[];
  readonly #file: FileHandle;
  #lines: string[] = [];
  #running: Promise<void> = Promise.resolve();
  /** The write that takes what is appended now. */
  #next: Promise<void> | null = null;

  private constructor(file: FileHandle, records: readonly BookRecord[]) {
    this.#file = file;
    this.records = records;
  }

  /** Opens the file or creates it. A last line that was being written when its process was killed is removed. */
  static async open(path: string): Promise<WriteJournal> {
    const file = await open(path, 'a+');
    const content = await readFile(path);
    const end = content.lastIndexOf(NEW_LINE) + 1;
    await file.truncate(end);
    return new WriteJournal(file, readRecords(content.subarray(0, end).toString()));
  }

  /** Resolves when the record is on the disk. Records that are appended meanwhile wait for one `fdatasync` together. */
  append(record: BookRecord): Promise<void> {
    this.#lines.push(`${JSON.stringify(record)}\n`);
    this.#next ??= this.#running.then(() => this.#write());
    return this.#next;
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#running);
    await this.#file.close();
  }

  async #write(): Promise<void> {
    this.#running = this.#next!;
    this.#next = null;
    const text = this.#lines.join('');
    this.#lines = [];
    await this.#file.appendFile(text);
    await this.#file.datasync();
  }
}

/** @param text whole lines */
export function readRecords(text: string): BookRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BookRecord);
}
