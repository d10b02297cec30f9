import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { EnvSource } from './env.ts';

const IN_A_CHECKOUT = 'npm run cli --';

/** How a person calls the command line of this installation; the image and `scripts/packed-command.mjs` say it. For texts that name a next step. */
export const COMMAND_LINE = process.env.SERVICE_COMMAND || IN_A_CHECKOUT;

/** What `DATABASE_URL=…` stands in front of, with a blank; nothing where that depends on how the image is run. */
export const START_COMMAND = COMMAND_LINE === IN_A_CHECKOUT ? ' npm start' : '';

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
