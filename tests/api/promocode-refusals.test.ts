/** What promo codes refuse: an activation in the cabinet and in the mini-app (spec 04 section 7.2), and what follows it. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import type { NewPromocode } from '../../src/domain/promo/codes/promocodes.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { aDiscountCode, aPromocode } from '../support/promocode-samples.ts';
import { storeRows } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let anonymous: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  anonymous = clientOf(server);
});
afterAll(() => server.close());

interface Case {
  /** Makes the code whose activation by this user is refused. */
  code: (user: ActorClient) => Promise<string>;
  cabinet: [status: number, detail: string];
  miniapp: [status: number, code: string];
}

const codeOf = async (fields: Partial<NewPromocode> = {}) => (await aPromocode(t.app, { maxUses: 50, ...fields })).code;
const activate = (user: ActorClient, code: string) => user.post('/cabinet/promocode/activate', { code });
async function activated(user: ActorClient, code: string): Promise<string> {
  expect((await activate(user, code)).status).toBe(200);
  return code;
}

const cases: Record<string, Case> = {
  'an unknown code': {
    code: async () => 'NOSUCH',
    cabinet: [400, 'Promo code not found'],
    miniapp: [404, 'not_found'],
  },
  'a code that others have used up': {
    code: async () => activated(await userClient(t.app, server), await codeOf({ maxUses: 1 })),
    cabinet: [400, 'Promo code has been fully used'],
    miniapp: [409, 'used'],
  },
  'a code that has ended': {
    code: () => codeOf({ validFrom: addDays(t.clock.now(), -2), validUntil: addDays(t.clock.now(), -1) }),
    cabinet: [400, 'Promo code has expired'],
    miniapp: [410, 'expired'],
  },
  'a code a second time': {
    code: async (user) => activated(user, await codeOf()),
    cabinet: [400, 'You have already used this promo code'],
    miniapp: [409, 'already_used_by_user'],
  },
  'the sixth code of a day': {
    code: async (user) => {
      for (let count = 0; count < 5; count++) await activated(user, await codeOf());
      return codeOf();
    },
    cabinet: [400, 'Too many promo code activations today'],
    miniapp: [429, 'daily_limit'],
  },
  'a code for the first purchase, after one': {
    code: async ({ user }) => {
      await t.app.db.sql('UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int RETURNING id', [user.id]);
      return codeOf({ firstPurchaseOnly: true });
    },
    cabinet: [400, 'This promo code is only available for first purchase'],
    miniapp: [400, 'not_first_purchase'],
  },
  'a second discount': {
    code: async (user) => {
      await activated(user, (await aDiscountCode(t.app)).code);
      return (await aDiscountCode(t.app)).code;
    },
    cabinet: [400, 'You already have an active discount. Deactivate it first via /deactivate-discount'],
    miniapp: [409, 'active_discount_exists'],
  },
  'days without a subscription': {
    code: () => codeOf({ type: 'subscription_days', balanceBonusKopeks: 0, subscriptionDays: 7 }),
    cabinet: [400, 'This promo code requires an active or expired subscription'],
    miniapp: [400, 'no_subscription_for_days'],
  },
  'any code after five unknown ones': {
    code: async (user) => {
      for (let count = 0; count < 5; count++) await activate(user, `NOSUCH${count}`);
      return codeOf();
    },
    cabinet: [429, 'Too many requests'],
    miniapp: [429, 'rate_limited'],
  },
};

describe.each(Object.entries(cases))('%s is refused', (_name, { code, cabinet, miniapp }) => {
  test('in the cabinet', async () => {
    const user = await userClient(t.app, server);
    const { status, body } = await activate(user, await code(user));
    expect([status, body.detail]).toEqual(cabinet);
  });

  test('in the mini-app', async () => {
    const user = await userClient(t.app, server);
    const request = { initData: initDataOf(t, user.user), code: await code(user) };
    const { status, body } = await anonymous.post('/miniapp/promo-codes/activate', request);
    expect([status, body.detail.code]).toEqual(miniapp);
  });
});

describe('the end of a discount that has run out is refused', () => {
  async function aUserWithAnOldDiscount(): Promise<ActorClient> {
    const user = await userClient(t.app, server);
    await activated(user, (await aDiscountCode(t.app)).code);
    await t.app.db.sql('UPDATE users SET promo_offer_discount_expires_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
      user.user.id,
      addDays(t.clock.now(), -1),
    ]);
    return user;
  }

  test('in the cabinet', async () => {
    const user = await aUserWithAnOldDiscount();
    const { status, body } = await user.post('/cabinet/promocode/deactivate-discount');
    expect([status, body.detail]).toEqual([400, 'Discount has already expired']);
  });

  test('by an administrator', async () => {
    const { user } = await aUserWithAnOldDiscount();
    const admin = await adminClient(t.app, server, ['promocodes:*']);
    const { status, body } = await admin.post(`/cabinet/admin/promocodes/deactivate-discount/${user.id}`);
    expect([status, body.detail]).toEqual([400, 'Discount has already expired (cleaned up)']);
  });
});

test('a code of whose discount more than 10,000 users have is not renamed', async () => {
  const { id, code } = await aDiscountCode(t.app);
  const discount = { promoOfferDiscountPercent: 20, promoOfferDiscountSource: `promocode:${code}` };
  const users = await storeRows(
    t.app,
    'User',
    Array.from({ length: 10_001 }, () => discount),
  );
  await storeRows(
    t.app,
    'PromocodeUse',
    users.map((user) => ({ promocodeId: id, userId: user.id })),
  );
  const admin = await adminClient(t.app, server, ['promocodes:*']);
  const api = await tokenClient(t.app, server);
  const detail = 'Too many users hold a discount of this promo code for it to be renamed';
  for (const reply of [
    await admin.patch(`/cabinet/admin/promocodes/${id}`, { code: 'RENAMED' }),
    await api.patch(`/promo-codes/${id}`, { code: 'RENAMED' }),
  ]) {
    expect([reply.status, reply.body.detail]).toEqual([400, detail]);
  }
});
