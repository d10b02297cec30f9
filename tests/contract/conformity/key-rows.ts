import { expect } from 'vitest';
import { aUser, unique } from '../../support/builders.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { flag, freeForm, oneOf, queryWhole, text, texts, timestamp, whole, without } from './bounds.ts';
import type { Fixture, Row } from './row.ts';

const TOKEN_FIELDS = [
  ...['id', 'name', 'prefix', 'is_active', 'created_at', 'description', 'updated_at', 'expires_at', 'last_used_at'],
  ...['last_used_ip', 'created_by', 'scopes', 'allowed_addresses', 'previous_until'],
];

async function madeId(fixture: Fixture, path: string, body: object): Promise<number> {
  const made = await fixture.key.post(path, body);
  expect(made.status, made.text).toBe(200);
  return made.body.id;
}

const aToken = (fixture: Fixture) => madeId(fixture, '/tokens', { name: `Token ${unique()}` });
const WEBHOOK = { name: 'Billing', url: 'https://hooks.example.com/in', event_type: 'payment.completed', secret: 'hush-hush' };
const aWebhook = (fixture: Fixture) => madeId(fixture, '/webhooks', WEBHOOK);
const EVENT_TYPES = [
  ...['user.created', 'payment.completed', 'transaction.created', 'ticket.created', 'ticket.status_changed'],
  // Beside the contract's.
  'audit.day_closed',
];
const NOTICE_TYPES = [
  ...['activation', 'purchase', 'renewal', 'balance_topup', 'promocode_activation', 'referral_link_visit', 'promo_group_change'],
];

/** A secret is accepted and never returned. */
const withoutSecret = (reply: { text: string }) => {
  expect(reply.text).not.toContain('hush-hush');
  expect(reply.text).not.toContain('"secret"');
};

/** The operations of the Web API. */
export const keyRows: Row[] = [
  {
    row: 1,
    method: 'GET',
    path: '/health',
    as: 'open',
    good: async () => ({}),
    answers: (reply) => expect(reply.body.status).toEqual(expect.any(String)),
  },
  {
    row: 2,
    method: 'GET',
    path: '/users',
    as: 'key',
    good: async () => ({ query: { page: '2', per_page: '1' } }),
    query: {
      page: queryWhole({ ge: 1 }),
      per_page: queryWhole({ ge: 1, le: 200 }),
      limit: queryWhole({ ge: 1, le: 200 }),
      offset: queryWhole({ ge: 0 }),
    },
    answers: (reply, sent) => {
      const size = Number(sent.per_page ?? sent.limit ?? 50);
      expect(reply.body.limit).toBe(size);
      expect(reply.body.items.length).toBeLessThanOrEqual(size);
      if (sent.page !== undefined) expect(reply.body.offset).toBe((Number(sent.page) - 1) * size);
    },
  },
  {
    row: 3,
    method: 'POST',
    path: '/subscriptions',
    as: 'key',
    good: async ({ t }) => ({ body: { user_id: (await aUser(t.app)).id, period_days: 30, traffic_limit_gb: 100 } }),
    body: {
      user_id: whole({ required: true }),
      // A paid one needs its length by one name or the other; without both the rule answers, not the schema.
      period_days: without(['absent', 'null'], whole({ nullable: true, samples: [1, 365] })),
      traffic_limit_gb: whole({ nullable: true, samples: [0, 500] }),
      device_limit: whole({ nullable: true, samples: [1, 10] }),
      is_trial: flag({}),
      replace_existing: flag({}),
      connected_squads: texts([], { nullable: true }),
    },
    answers: (reply, sent) => {
      expect(reply.body.user_id).toBe(sent.user_id);
      if (typeof sent.traffic_limit_gb === 'number') expect(reply.body.traffic_limit_gb).toBe(sent.traffic_limit_gb);
      if (typeof sent.period_days === 'number' && sent.is_trial !== true) {
        const days = (Date.parse(reply.body.end_date) - Date.parse(reply.body.start_date)) / 86_400_000;
        expect(Math.round(days)).toBe(sent.period_days);
      }
    },
  },
  {
    row: 4,
    method: 'POST',
    path: '/tokens',
    as: 'key',
    good: async () => ({ body: { name: `Token ${unique()}`, description: null, expires_at: null } }),
    body: {
      name: text({ required: true, sample: 'Scripts' }),
      description: text({ nullable: true, sample: 'For the nightly report' }),
      expires_at: timestamp({ nullable: true }),
    },
  },
  ...(['activate', 'revoke'] as const).map(
    (verb): Row => ({
      row: 4,
      method: 'POST',
      path: `/tokens/{token_id}/${verb}`,
      as: 'key',
      good: async (fixture) => ({ path: `/tokens/${await aToken(fixture)}/${verb}` }),
      answers: (reply) => {
        expect(Object.keys(reply.body).sort()).toEqual([...TOKEN_FIELDS].sort());
        expect(reply.body.is_active).toBe(verb === 'activate');
      },
    }),
  ),
  {
    row: 10,
    method: 'DELETE',
    path: '/promo-codes/{promocode_id}',
    as: 'key',
    good: async (fixture) => ({
      path: `/promo-codes/${await madeId(fixture, '/promo-codes', { code: `CODE${unique()}`, type: 'balance', balance_bonus_kopeks: 100 })}`,
    }),
  },
  {
    row: 18,
    method: 'DELETE',
    path: '/settings/{key}',
    as: 'key',
    good: async (fixture) => {
      const changed = await fixture.key.put('/settings/REFERRAL_COMMISSION_PERCENT', { value: 7 });
      expect(changed.status, changed.text).toBe(200);
      return { path: '/settings/REFERRAL_COMMISSION_PERCENT' };
    },
    answers: (reply) => {
      expect(reply.body).toMatchObject({
        key: 'REFERRAL_COMMISSION_PERCENT',
        category: { key: expect.any(String), label: expect.any(String) },
        type: 'int',
        is_optional: false,
        has_override: false,
        current: 25,
        original: 25,
        read_only: false,
      });
      expect(reply.body).toHaveProperty('name');
      expect(Array.isArray(reply.body.choices)).toBe(true);
    },
  },
  {
    row: 24,
    method: 'POST',
    path: '/notifications/subscriptions',
    as: 'key',
    good: async ({ t }) => {
      const user = await aUser(t.app);
      const subscription = await aStoredSubscription(t.app, user.id);
      return { body: { event_type: 'purchase', user_id: user.id, subscription_id: subscription, amount_kopeks: 100 } };
    },
    body: {
      event_type: oneOf(NOTICE_TYPES, { required: true, type: 'literal_error' }),
      user_id: whole({ required: true, ge: 1, outsideOnly: true }),
      subscription_id: whole({ nullable: true, ge: 1, outsideOnly: true }),
      transaction_id: whole({ nullable: true, ge: 1, outsideOnly: true }),
      amount_kopeks: whole({ nullable: true, ge: 0 }),
      currency: text({ nullable: true, min: 1, max: 16 }),
      message: text({ nullable: true, max: 2000 }),
      occurred_at: timestamp({ nullable: true }),
      extra: freeForm({}),
    },
    answers: (reply, sent) => expect(reply.body.event_type).toBe(sent.event_type),
  },
  {
    row: 25,
    method: 'POST',
    path: '/webhooks',
    as: 'key',
    good: async () => ({ body: WEBHOOK }),
    body: {
      name: text({ required: true, min: 1, max: 255 }),
      url: text({ required: true, min: 1, sample: 'https://hooks.example.com/other' }),
      event_type: oneOf(EVENT_TYPES, { required: true }),
      secret: text({ nullable: true, max: 128 }),
      description: text({ nullable: true, sample: 'Bookkeeping' }),
    },
    answers: (reply) => {
      withoutSecret(reply);
      expect(reply.body).toMatchObject({ failure_count: 0, success_count: 0, last_triggered_at: null });
    },
  },
  {
    row: 25,
    method: 'GET',
    path: '/webhooks',
    as: 'key',
    good: async (fixture) => {
      await aWebhook(fixture);
      return {};
    },
    query: { limit: queryWhole({ ge: 1, le: 200 }), offset: queryWhole({ ge: 0 }) },
    answers: withoutSecret,
  },
  {
    row: 25,
    method: 'GET',
    path: '/webhooks/{webhook_id}',
    as: 'key',
    good: async (fixture) => ({ path: `/webhooks/${await aWebhook(fixture)}` }),
    answers: withoutSecret,
  },
  {
    row: 25,
    method: 'PATCH',
    path: '/webhooks/{webhook_id}',
    as: 'key',
    good: async (fixture) => ({ path: `/webhooks/${await aWebhook(fixture)}`, body: { name: 'Books' } }),
    body: {
      name: text({ nullable: true, min: 1, max: 255 }),
      url: text({ nullable: true, min: 1, sample: 'https://hooks.example.com/third' }),
      secret: text({ nullable: true, max: 128 }),
      description: text({ nullable: true, sample: 'Bookkeeping' }),
      is_active: flag({ nullable: true }),
    },
    answers: (reply, sent) => {
      withoutSecret(reply);
      if (typeof sent.name === 'string') expect(reply.body.name).toBe(sent.name);
      if (typeof sent.is_active === 'boolean') expect(reply.body.is_active).toBe(sent.is_active);
    },
  },
  {
    row: 25,
    method: 'DELETE',
    path: '/webhooks/{webhook_id}',
    as: 'key',
    good: async (fixture) => ({ path: `/webhooks/${await aWebhook(fixture)}` }),
  },
  {
    row: 25,
    method: 'GET',
    path: '/webhooks/stats',
    as: 'key',
    good: async () => ({}),
    answers: (reply) => expect(reply.body.total_webhooks).toEqual(expect.any(Number)),
  },
  {
    row: 25,
    method: 'GET',
    path: '/webhooks/{webhook_id}/deliveries',
    as: 'key',
    good: async (fixture) => ({ path: `/webhooks/${await aWebhook(fixture)}/deliveries` }),
    query: { limit: queryWhole({ ge: 1, le: 200 }), offset: queryWhole({ ge: 0 }) },
  },
];
