import type { Readable } from 'node:stream';
import type { ParseArgsOptionsConfig } from 'node:util';
import type { App } from '../core/app.ts';
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
  /** Whether the running service can run it: it uses no file and no input of the terminal after `prepare`. */
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

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
