import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SERVICE_FLAGS } from '../../../../scripts/service-flags.mjs';
import { trackChild } from './child-process.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');

const USUAL_POOL = 10;

/** Where the server has few connections left, SERVICE_POOL_SIZE says how many a process of the service may use at most. */
export function limitedPool(environment: Record<string, string>): Record<string, string> {
  const limit = process.env.SERVICE_POOL_SIZE;
  if (limit === undefined) return environment;
  const wanted = Number(environment.DATABASE_POOL_SIZE ?? USUAL_POOL);
  return { ...environment, DATABASE_POOL_SIZE: String(Math.min(wanted, Number(limit))) };
}

/**
 * Starts the service on a port of loopback; ended with this process if not before.
 * @param onLine gets each line that it prints
 * @param program relative to the project; `src/server.ts` where something is preloaded that watches a package, because the build has its
 *   packages inside
 */
export function spawnService(
  port: number,
  environment: Record<string, string>,
  onLine: (line: string) => void,
  nodeOptions: readonly string[] = [],
  program = 'dist/server.js',
): ChildProcess {
  const child = trackChild(
    spawn(process.execPath, [...SERVICE_FLAGS, ...nodeOptions, join(root, program)], {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'warn',
        LOG_FORMAT: 'json',
        ...limitedPool(environment),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  for (const stream of [child.stdout!, child.stderr!]) createInterface({ input: stream }).on('line', onLine);
  return child;
}
