import { type FileHandle, open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ParseArgsOptionsConfig } from 'node:util';
import { createGzip } from 'node:zlib';
import type { App } from '../core/app.ts';
import { snakeCase } from '../core/camel-case.ts';
import type { EnvSource } from '../core/env.ts';

/** What the command line uses of its process; given by tests and `src/cli.ts`. */
export interface Terminal {
  /** Environment, `.env` included. */
  source: EnvSource;
  out: (text: string) => void;
  err: (text: string) => void;
  input: Readable & { isTTY?: boolean; setRawMode?: (mode: boolean) => unknown };
}

export interface CommandCall {
  /** Words behind the command's name, checked for their number. */
  words: readonly string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
  terminal: Terminal;
  /** Shows the progress of a long command on standard error, so that standard output has the answer only. */
  progress: (text: string) => void;
  /** Writes what the service logs to standard error. */
  isVerbose: boolean;
  /** The answer is wanted as JSON. */
  isJson: boolean;
  /** The running service, when the command runs in it. */
  app?: App;
}

/** The answer of a command: text for people, data for `--json`. */
export interface CommandResult {
  /** Null when the command has written its answer itself. */
  text: string | null;
  data: unknown;
  /** 0 unless the command found a problem. */
  exitCode?: number;
}

/** Not names of variables, files and tables. */
const FIELD = /^[a-z][A-Za-z0-9]*$/;

/** The data of an answer as text, with the names of fields as in the interface, also where they come from the domain. */
export function answerAsJson(data: unknown): string {
  const renamed = (_name: string, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([name, field]) => [FIELD.test(name) ? snakeCase(name) : name, field]));
  return JSON.stringify(data ?? null, renamed, 2);
}

export interface Command {
  /** Words of its name, e.g. `token create`. */
  name: string;
  /** What follows the name, e.g. `NAME [--expires DAYS]`. */
  parameters: string;
  summary: string;
  /** Further lines of the command's own help. */
  details?: string;
  options?: ParseArgsOptionsConfig;
  /** Minimum and maximum number of words behind the name. */
  words: readonly [number, number];
  /** Whether the running service can run it: it uses no input of the terminal after `prepare`, and only files whose absolute path that has set. */
  runsInService?: true;
  /** Asks the person at the terminal before `run`; returns the options with the answers. @throws UsageError */
  prepare?(call: CommandCall): Promise<CommandCall['options']>;
  run(call: CommandCall): Promise<CommandResult>;
}

/** The command was called wrongly: exit code 2 and its usage line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The command cannot do what was asked; the message says why and what to do: exit code 1. */
export class CommandError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CommandError';
  }
}

/** `stopped`: the same command goes on where it was. */
export const EXIT = { ok: 0, failed: 1, usage: 2, stopped: 3 } as const;

/** Reads a whole number from 1 to `max` of a command. @throws UsageError */
export function wholeNumber(text: string, name: string, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`${name} must be a whole number from 1 to ${max}, not "${text}".`);
  return value;
}

/** A day, and optionally a time with or without zone. */
const FORM = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** An option that is a day (its midnight UTC) or a date with time, without a zone in UTC. @throws UsageError also for a day that does not exist */
export function timestampOf(value: string | boolean | undefined, name: string): Date {
  const [, day, time = '00:00', zone = 'Z'] = FORM.exec(String(value ?? '')) ?? [];
  const timestamp = new Date(`${day}T${time}${zone}`);
  // The 31st of a shorter month would be a day of the next one.
  const isDay = day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day);
  if (!isDay || Number.isNaN(timestamp.getTime())) throw new UsageError(`${name} needs a date, for example 2026-11-01`);
  return timestamp;
}

/** Rows as columns of equal width, two blanks apart; the last column is left as it is. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  '))
    .join('\n');
}

/** Makes a file that only its owner can read. @throws CommandError when it exists already, or cannot be made */
export function openNewFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(error.code === 'EEXIST' ? `${path} exists already.` : `${path} cannot be written: ${error.code}.`);
  });
}

/** `prepare` of a command with `--to FILE`: the service, where it writes the file, is in another folder. */
export const prepareTo: NonNullable<Command['prepare']> = async ({ options }) => ({
  ...options,
  to: typeof options.to === 'string' ? resolve(options.to) : undefined,
});

/** The file of `--to FILE`. @throws UsageError without it */
export function fileOf({ options }: CommandCall): string {
  if (typeof options.to !== 'string') throw new UsageError('--to FILE is needed.');
  return options.to;
}

/** Compresses contents into a new file that only its owner can read; an incomplete one is deleted. @throws CommandError as `openNewFile` */
export async function writeGzip(path: string, contents: AsyncIterable<string | Uint8Array>): Promise<void> {
  const file = await openNewFile(path);
  try {
    await pipeline(contents, createGzip(), file.createWriteStream({ flush: true }));
  } catch (error) {
    // Any failure: a part of the contents is no file to be found later.
    await rm(path, { force: true });
    throw error;
  }
}
