import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface CliAnswer {
  code: number | null;
  out: string;
  err: string;
}

export interface CliOptions {
  input?: string;
  /** Called with every line of standard error as it comes; true = the process gets the signal. */
  killAt?: (line: string) => boolean;
  /** SIGKILL unless given. */
  signal?: NodeJS.Signals;
  /** Milliseconds after that line. */
  wait?: number;
  /** Relative to the project: `dist/cli.js` unless given. */
  program?: string;
}

/** Runs the command line as a separate process, with this environment only, in a folder of its own without the project's .env. */
export async function runCommand(
  words: readonly string[],
  environment: Record<string, string>,
  { input = '', killAt = () => false, wait = 0, signal = 'SIGKILL', program = 'dist/cli.js' }: CliOptions = {},
): Promise<CliAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'command-'));
  try {
    return await run(folder, words, environment, { input, killAt, wait, signal, program });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(
  folder: string,
  words: readonly string[],
  environment: Record<string, string>,
  { input, killAt, wait, signal, program }: Required<CliOptions>,
): Promise<CliAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, program), ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      const before = err.split('\n').length;
      err += chunk;
      const ended = err.split('\n').slice(before - 1, -1);
      if (ended.some((line) => killAt(line))) setTimeout(() => child.kill(signal), wait);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}
