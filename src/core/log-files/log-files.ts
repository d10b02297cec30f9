import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The form of a log record in files: `2025-01-31 15:00:00 [INFO] [service] message key=value …`, a stack on the lines
 * after it. Made from the JSON line of standard output, in which every secret is masked already.
 */

type FileLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

const LEVELS: Readonly<Record<string, FileLevel>> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
};

interface FileRecord {
  level: FileLevel;
  /** With a line break at the end. */
  text: string;
  /** Whether the record is about a payment. */
  isPayment: boolean;
}

/** Names of records and of jobs that are about payments. */
const PAYMENT_FIELDS = ['paymentId', 'refundId', 'reversalId', 'chargeId', 'receiptId', 'caseId'] as const;

/** @param line one JSON object, as the logger writes it @param timeOf writes the time of a record for people */
export function fileRecord(line: string, timeOf: (time: Date) => string): FileRecord {
  const record = parsed(line);
  if (record === null)
    return { level: 'INFO', text: `${timeOf(new Date())} [INFO] [service] ${oneLine(line.trim())}\n`, isPayment: false };
  const { level: label, time, msg = '', err, service: _service, logger = 'service', ...fields } = record;
  const level = LEVELS[String(label)] ?? 'INFO';
  const words = Object.entries(fields).map(([key, value]) => `${key}=${valueText(value)}`);
  const { summary, stack } = errorTexts(err);
  if (summary !== null) words.push(`error=${valueText(summary)}`);
  const head = `${timeOf(new Date(String(time)))} [${level}] [${oneLine(String(logger))}] ${oneLine(String(msg))}`;
  return { level, text: `${[head, ...words].join(' ')}\n${stack}`, isPayment: isPayment(fields) };
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isPayment(fields: Readonly<Record<string, unknown>>): boolean {
  return PAYMENT_FIELDS.some((name) => fields[name] !== undefined) || String(fields.queue ?? '').startsWith('payments.');
}

/** A record is one line, so that no text of a client can look like a record of its own. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a line
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    if (character === '\n') return '\\n';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\\]+$/.test(value)) return oneLine(value);
  return oneLine(JSON.stringify(value) ?? 'undefined');
}

/** Lines of a stack are indented: a message of several lines within it cannot look like a record either. */
function errorTexts(error: unknown): { summary: string | null; stack: string } {
  if (error === undefined) return { summary: null, stack: '' };
  if (typeof error !== 'object' || error === null) return { summary: String(error), stack: '' };
  const { type, message, stack } = error as { type?: unknown; message?: unknown; stack?: unknown };
  const summary = message === undefined ? JSON.stringify(error) : `${type === undefined ? '' : `${type}: `}${message}`;
  if (typeof stack !== 'string') return { summary, stack: '' };
  const lines = stack.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `    ${oneLine(line)}\n`);
  return { summary, stack: lines.join('') };
}

/** Writes times as `YYYY-MM-DD HH:MM:SS` in a zone. Most records are of the second of the one before. */
export function zoneTime(timeZone: string): (time: Date) => string {
  const parts = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const;
  // Swedish has this form.
  const format = new Intl.DateTimeFormat('sv-SE', { ...parts, timeZone, hourCycle: 'h23' });
  let second = Number.NaN;
  let text = '';
  return (time) => {
    const current = Math.floor(time.getTime() / 1000);
    if (current !== second && !Number.isNaN(current)) {
      second = current;
      text = format.format(time);
    }
    return text;
  };
}

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
 * so a local file system puts each behind the others. A file that was moved away gets nothing after a second; its path is opened again.
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

  /** @param onProblem is notified of each failed write, and of the lines that were dropped since the last one */
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

/** Absolute paths of the files. */
interface LogFilePaths {
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
