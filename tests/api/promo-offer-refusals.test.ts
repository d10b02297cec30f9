/** What the claim of a promo offer refuses, in the cabinet and in the mini-app (spec 04 section 9.5), and the creation of one. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { NewOffer } from '../../src/domain/promo/offers/offers.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { anOfferTo } from '../support/offer-samples.ts';
import { aStoredSubscription } from '../support/sale-samples.ts';
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
  offer: Partial<NewOffer>;
  /** Servers of the user's subscription; null = there is none. */
  connected: string[] | null;
  cabinet: string;
  miniapp: string;
}

const access = (squads: string[]) => ({ effectType: 'test_access', extraData: { test_squad_uuids: squads } });

const cases: Record<string, Case> = {
  'an offer of no discount': {
    offer: { discountPercent: 0 },
    connected: null,
    cabinet: 'Invalid offer',
    miniapp: 'invalid_discount',
  },
  'access to servers without a subscription': {
    offer: access(['nl']),
    connected: null,
    cabinet: 'Active subscription required for this offer',
    miniapp: 'subscription_missing',
  },
  'access to no servers': {
    offer: access([]),
    connected: [],
    cabinet: 'Could not determine servers for test access',
    miniapp: 'squads_missing',
  },
  'access to servers that the subscription has': {
    offer: access(['nl']),
    connected: ['nl', 'de'],
    cabinet: 'These servers are already connected',
    miniapp: 'already_connected',
  },
};

describe.each(Object.entries(cases))('%s is refused', (_name, { offer, connected, cabinet, miniapp }) => {
  async function offered(): Promise<{ user: ActorClient; id: number }> {
    const user = await userClient(t.app, server);
    if (connected !== null) await aStoredSubscription(t.app, user.user.id, { connected_squads: connected });
    return { user, id: (await anOfferTo(t.app, user.user.id, offer)).id };
  }

  test('in the cabinet', async () => {
    const { user, id } = await offered();
    const { status, body } = await user.post('/cabinet/promo/claim', { offer_id: id });
    expect([status, body.detail]).toEqual([400, cabinet]);
  });

  test('in the mini-app', async () => {
    const { user, id } = await offered();
    const { status, body } = await anonymous.post(`/miniapp/promo-offers/${id}/claim`, { initData: initDataOf(t, user.user) });
    expect([status, body.detail.code]).toEqual([400, miniapp]);
  });
});

it('POST /promo-offers refuses the subscription of another user', async () => {
  const [user, other] = [await aUser(t.app), await aUser(t.app)];
  const api = await tokenClient(t.app, server);
  const { status, body } = await api.post('/promo-offers', {
    notification_type: `type-${unique()}`,
    valid_hours: 24,
    user_id: user.id,
    discount_percent: 15,
    subscription_id: await aStoredSubscription(t.app, other.id),
  });
  expect([status, body.detail]).toEqual([400, 'Subscription does not belong to the user']);
});

it('POST /cabinet/admin/promo-offers/broadcast refuses two users of one recipient', async () => {
  const [user, other] = [await aUser(t.app), await aUser(t.app)];
  const boss = await adminClient(t.app, server, ['*:*'], 900);
  const { status, body } = await boss.post('/cabinet/admin/promo-offers/broadcast', {
    notification_type: `type-${unique()}`,
    valid_hours: 24,
    discount_percent: 15,
    user_id: user.id,
    messenger_id: other.messengerId,
  });
  expect([status, body.detail]).toEqual([400, 'Provided user_id does not match messenger_id']);
});
