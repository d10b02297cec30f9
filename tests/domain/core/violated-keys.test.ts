import { beforeAll, expect, test } from 'vitest';
import { isForeignKeyViolation, isUniqueViolation, isUnstorableText } from '../../../src/core/db/db-errors.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { aUser } from '../../support/builders.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

/** The error of a write through the Prisma Client, as a use case catches it outside of the transaction. */
async function refusalOf(data: Prisma.UserUncheckedUpdateManyInput): Promise<unknown> {
  const user = await aUser(t.app);
  return inTransaction(t.app, (tx) => tx.db.prisma.user.updateMany({ where: { id: user.id }, data })).then(
    () => null,
    (error: unknown) => error,
  );
}

test('a key that refuses a row of the Prisma Client is named by its column, in a transaction too', async () => {
  const other = await aUser(t.app);
  await t.app.db.prisma.user.update({
    where: { id: other.id },
    data: { messengerId: 700_700, email: 'taken@example.com', referralCode: 'taken' },
  });
  const messenger = await refusalOf({ messengerId: 700_700 });
  expect([isUniqueViolation(messenger, 'messenger_id'), isUniqueViolation(messenger, 'email')]).toEqual([true, false]);
  expect(isUniqueViolation(await refusalOf({ referralCode: 'taken' }), 'referral_code')).toBe(true);
  expect(isUniqueViolation(await refusalOf({ email: 'taken@example.com' }), 'email')).toBe(true);
});

test('a missing row and a text that cannot be stored are distinguished from other errors', async () => {
  const missing = await refusalOf({ promoGroupId: 2_000_000_000 });
  expect([isForeignKeyViolation(missing), isUniqueViolation(missing)]).toEqual([true, false]);
  expect(isUnstorableText(await refusalOf({ firstName: 'a\u0000b' }))).toBe(true);
});
