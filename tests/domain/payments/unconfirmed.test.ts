import { afterEach, expect, test } from 'vitest';
import { notifyUnconfirmed } from '../../../src/domain/payments/check-payments.ts';
import { listMethodConfigs } from '../../../src/domain/payments/manage-methods.ts';
import { listPaymentMethodsFor, seedPaymentMethods } from '../../../src/domain/payments/payment-methods.ts';
import { aUser, unique } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';

/** Kassa.ai, whose interface no public document confirms (03a section 11). */
const KASSA_AI = { KASSA_AI_ENABLED: 'true', KASSA_AI_SHOP_ID: '33', KASSA_AI_API_KEY: 'key', KASSA_AI_SECRET_WORD_2: 'word' };
const STATE = 'payments:unconfirmed:kassa_ai';

afterEach(async () => {
  await (await testApp()).app.db.sql('DELETE FROM service_state WHERE key = $1 RETURNING key', [STATE]);
});

/** An installation with a chat of its own for notices, and what was sent there. */
async function anInstallation(environment: Record<string, string>) {
  const chatId = -1_000_000 - unique();
  const { app } = await testApp({
    environment: { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId), ...environment },
  });
  const notices = () =>
    app.db.sql<{ html: string }>(
      "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint",
      [chatId],
    );
  return { app, notices };
}

test.each([
  ['ru', /KassaAI.*не подтверждён/],
  ['en', /KassaAI.*no public document/],
])('the administrators are notified in %s when it is in use, once', async (language, words) => {
  const { app, notices } = await anInstallation({ ...KASSA_AI, DEFAULT_LANGUAGE: language });
  for (let round = 0; round < 3; round++) await notifyUnconfirmed(app);
  expect(await notices()).toEqual([{ html: expect.stringMatching(words) }]);
});

test.each([
  ['it is off', { ...KASSA_AI, KASSA_AI_ENABLED: 'false' }],
  ['it is the fake of the sandbox', { SANDBOX_PROVIDERS: 'kassa_ai' }],
  ['there is no chat yet', { ...KASSA_AI, ADMIN_NOTIFICATIONS_ENABLED: 'false' }],
])('nobody is notified while %s, and it is reported later', async (_when, environment) => {
  const { app, notices } = await anInstallation(environment);
  await notifyUnconfirmed(app);
  expect(await notices()).toEqual([]);
  const later = await anInstallation(KASSA_AI);
  await notifyUnconfirmed(later.app);
  expect(await later.notices()).toHaveLength(1);
});

test('it is marked in the list of the administrators, not in that of the users', async () => {
  const { app } = await anInstallation(KASSA_AI);
  await seedPaymentMethods(app);
  await app.db.sql("UPDATE payment_method_configs SET is_enabled = true WHERE method_id = 'kassa_ai' RETURNING method_id");
  const user = await aUser(app, { language: 'en' });
  const list = await listMethodConfigs(app, { kind: 'admin', userId: user.id } as Parameters<typeof listMethodConfigs>[1]);
  const names = Object.fromEntries(list.map(({ methodId, defaultDisplayName }) => [methodId, defaultDisplayName]));
  expect(names).toMatchObject({ kassa_ai: 'KassaAI (unconfirmed)', freekassa: 'Freekassa' });
  const offered = await listPaymentMethodsFor(app, user.id);
  expect(offered.find(({ id }) => id === 'kassa_ai')).toMatchObject({ name: 'KassaAI' });
});
