import { FileAppender } from './file-appender.ts';
import { type FileLevel, fileRecord, zoneTime } from './line-form.ts';

/** Absolute paths of the files. */
export interface LogFilePaths {
  /** Every record. */
  main: string;
  /** Besides it the files of a rotation: records of one level (`error`: and above), and those about payments. */
  parts: { info: string; warning: string; error: string; payments: string } | null;
}

export interface LogFilePlan extends LogFilePaths {
  timeZone: string;
}

/** Lines that wait for the settings, which are read after the first lines were logged. */
const MAX_EARLY = 1_000;
/** A disk that is full is reported once in a while. */
const REPORT_PAUSE_MS = 60_000;

const PART_OF: Readonly<Record<FileLevel, 'info' | 'warning' | 'error' | null>> = {
  DEBUG: null,
  INFO: 'info',
  WARNING: 'warning',
  ERROR: 'error',
  CRITICAL: 'error',
};

/** The log files of a process: takes the masked JSON lines of standard output and appends them in the form of files. */
export class LogFiles {
  #early: string[] | null = [];
  #plan: LogFilePlan | null = null;
  #timeOf: (time: Date) => string = (time) => time.toISOString();
  readonly #appenders = new Map<string, FileAppender>();
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Reports that lines could not be written; set by the composition, since the report is a line of the same log. */
  onProblem: (problem: { err: unknown; file: string; dropped: number }) => void = () => undefined;

  /** @param line as the logger wrote it to standard output */
  write(line: string): void {
    if (this.#early !== null) {
      if (this.#early.length < MAX_EARLY) this.#early.push(line);
      return;
    }
    const plan = this.#plan;
    if (plan === null) return;
    const { level, text, isPayment } = fileRecord(line, this.#timeOf);
    this.#append(plan.main, text);
    if (plan.parts === null) return;
    const part = PART_OF[level];
    if (part !== null) this.#append(plan.parts[part], text);
    if (isPayment) this.#append(plan.parts.payments, text);
  }

  /** Directs the following lines to these files. Settings change at run time; files that are no longer used are closed. */
  configure(plan: LogFilePlan): void {
    this.#plan = plan;
    this.#timeOf = zoneTime(plan.timeZone);
    const used = new Set([plan.main, ...Object.values(plan.parts ?? {})]);
    for (const [path, appender] of this.#appenders) {
      if (used.has(path)) continue;
      this.#appenders.delete(path);
      void appender.close();
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const line of early) this.write(line);
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#appenders.values()].map((appender) => appender.flush()));
  }

  /** Writes what waits before it returns: for the end of the process. */
  flushSync(): void {
    for (const appender of this.#appenders.values()) appender.flushSync();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#appenders.values()].map((appender) => appender.close()));
  }

  #append(path: string, text: string): void {
    let appender = this.#appenders.get(path);
    if (appender === undefined) {
      appender = new FileAppender(path, (err, dropped) => this.#report(err, path, dropped));
      this.#appenders.set(path, appender);
    }
    appender.write(text);
  }

  #report(err: unknown, file: string, dropped: number): void {
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_PAUSE_MS) return;
    this.#reportedAt = now;
    this.onProblem({ err, file, dropped });
  }
}
