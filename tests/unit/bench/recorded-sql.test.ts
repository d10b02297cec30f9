import { expect, it } from 'vitest';
import { recordSql } from '../../../packages/measures/src/bench/recorded-sql.ts';

/** The highest parameter of a statement. */
const parametersOf = (text: string): number => Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));

it('the statements of the service have as many parameters as the baseline of the benchmark sends', async () => {
  const recorded = Object.entries(await recordSql());
  expect(Object.fromEntries(recorded.map(([name, text]) => [name, parametersOf(text)]))).toEqual({
    userByEitherId: 2,
    userById: 1,
    countUsers: 0,
    newestUsers: 0,
    newestTransactions: 0,
    countTransactions: 0,
    passwordUser: 1,
    insertSession: 11,
    countByStatus: 1,
    usersForAdmin: 0,
  });
});
