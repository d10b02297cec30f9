import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRandom } from '../../packages/measures/src/drills/seeded-random.ts';

/**
 * Processes that record the statements that they send, and end at one of them (preloaded-kill.ts). They run from the sources: a module that is
 * preloaded cannot watch the packages that are inside of the build.
 */
export interface StatementKill {
  /** Number of the statement; the first is 1. */
  at: number;
  when: 'before' | 'sent' | 'answered';
}

const PRELOADED = new URL('./preloaded-kill.ts', import.meta.url).href;

/**
 * Environment of a process that is watched.
 * @param record file that gets a line for each statement
 * @param kill null = at none
 * @param counted `after`: text of the statement after which counting begins; `connection`: name of the only one that counts
 */
export function watchStatements(
  record: string,
  kill: StatementKill | null,
  counted: { after?: string; connection?: string } = {},
): Record<string, string> {
  const variables: Record<string, string> = { NODE_OPTIONS: `--import=${PRELOADED}`, STATEMENTS_FILE: record };
  if (kill) Object.assign(variables, { KILL_AT_STATEMENT: String(kill.at), KILL_WHEN: kill.when });
  if (counted.after) variables.COUNT_AFTER = counted.after;
  if (counted.connection) variables.COUNT_CONNECTION = counted.connection;
  return variables;
}

/** Name of the connection and first line of each statement. */
export async function sentStatements(record: string): Promise<string[]> {
  return (await readFile(record, 'utf8')).split('\n').slice(0, -1);
}

/** Kills that are spread over statements by chance: one in each of equal parts. The seed, MATRIX_SEED if that is set, is printed. */
export function killsAmong(statements: number, count: number): StatementKill[] {
  const seed = Number(process.env.MATRIX_SEED ?? randomInt(2 ** 31));
  console.log(`Of ${statements} statements some are chosen with MATRIX_SEED=${seed}`);
  const random = createRandom(seed);
  const size = statements / count;
  return Array.from({ length: count }, (_, part) => ({
    at: 1 + Math.floor((part + random.next()) * size),
    when: random.pick(['before', 'sent', 'answered'] as const),
  }));
}
