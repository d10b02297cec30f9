import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { EnvSource } from './env.ts';

/**
 * The environment of this process, over the `.env` file of the project folder when there is one. The only reader of `process.env`.
 * @param folder where `.env` is looked for
 */
export function readProcessEnv(folder: string = process.cwd()): EnvSource {
  let text = '';
  try {
    text = readFileSync(join(folder, '.env'), 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return { ...parseEnv(text), ...process.env };
}
