/** Spec 07 sections 4.4, 6 and 7: accounts that purchases of the existing product had made, in an imported service. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import { signInWithInitData } from '../../../src/domain/identity/messenger-sign-in.ts';
import { viewPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';
import { TEST_BOT_TOKEN } from '../../support/test-sandbox.ts';

const tokenOf = (name: string) => name.padEnd(64, 'x');
const PHANTOM = `(SELECT min(id) FROM users WHERE username LIKE 'Phantom%')`;
const BUYER = `(SELECT min(id) FROM users WHERE email IS NOT NULL AND password_hash IS NOT NULL)`;

/** Three purchases: by a new buyer an hour ago, the same without a password, and a gift for a name of the messenger. */
async function addPurchases(source: pg.Client): Promise<void> {
  const bought = `1, 30, 24900, 'RUB', 'delivered', timestamptz '2026-11-28T08:00:00Z', timestamptz '2026-11-28T08:00:00Z', timestamptz '2026-11-28T08:00:00Z', 0`;
  // Raw SQL: rows of the existing product.
  await source.query(
    `INSERT INTO guest_purchases (token, contact_type, contact_value, is_gift, source, gift_recipient_type, gift_recipient_value, user_id, cabinet_password,
       tariff_id, period_days, amount_kopeks, currency, status, created_at, paid_at, delivered_at, retry_count)
     VALUES ('${tokenOf('new-account')}', 'email', 'new@example.com', false, 'landing', NULL, NULL, ${BUYER}, 'shown-once', ${bought}),
       ('${tokenOf('old-account')}', 'email', 'old@example.com', false, 'landing', NULL, NULL, ${BUYER}, NULL, ${bought}),
       ('${tokenOf('phantom-gift')}', 'email', 'giver@example.com', true, 'landing', 'telegram', '@phantom', ${PHANTOM}, NULL, ${bought})`,
  );
}

describe.skipIf(!serverUrl)('purchases without an account (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  beforeAll(async () => {
    imported = await importedFrom([], addPurchases);
  });
  afterAll(() => imported.drop());

  test('the password of a new account is shown once to who bought it', async () => {
    const view = () => viewPurchase(imported.app, tokenOf('new-account'));
    expect(await view()).toMatchObject({ cabinetPassword: 'shown-once', autoLoginToken: null });
    expect(await view()).toMatchObject({ cabinetPassword: null });
  });

  test('only a purchase with a password, and one for a name of the messenger, made their accounts', async () => {
    const made = await imported.rows<{ code: string }>('SELECT code FROM guest_purchases WHERE account_created ORDER BY code');
    expect(made.map(({ code }) => code)).toEqual(['new-accountx', 'phantom-gift']);
  });

  test('whoever has the name of a messenger signs in to the account that was bought for it', async () => {
    const [phantom] = await imported.rows<{ id: number; username: string }>(
      `SELECT u.id, u.username FROM users u JOIN guest_purchases g ON g.user_id = u.id WHERE g.code = 'phantom-gift'`,
    );
    const person = { id: 9_100_000_001, first_name: 'Ann', username: phantom!.username, language_code: 'en' };
    const initData = signInitData(TEST_BOT_TOKEN, person, imported.clock.now());
    const { user } = await signInWithInitData(imported.app, { initData, referralCode: null });
    expect(user).toMatchObject({ id: phantom!.id, messengerId: person.id });
  });
});
