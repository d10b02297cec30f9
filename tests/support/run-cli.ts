import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

export interface CliAnswer {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the built command line as a separate process, with this environment only. */
export function runCommand(words: readonly string[], environment: Record<string, string>, input = ''): Promise<CliAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], {
      // A folder without the project's .env.
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}
