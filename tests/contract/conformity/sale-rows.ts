import { expect } from 'vitest';
import { aUser, unique } from '../../support/builders.ts';
import { initDataOf } from '../../support/init-data.ts';
import { aServer, aStoredSubscription, aTariff, topUp } from '../../support/sale-samples.ts';
import { flag, refusalsOf, text, whole } from './bounds.ts';
import type { Fixture, Row } from './row.ts';

const WORDS_OF_CONTACT = '^(email|messenger)$';
const METHOD = '^[a-z0-9_]+$';

/** A page of one tariff that accepts the sandbox's payments, made by the administrator. */
async function aSalesPage(fixture: Fixture): Promise<{ slug: string; tariffId: number }> {
  const tariffId = await aTariff(fixture.t.app);
  const slug = `page-${unique()}`;
  const methods = [{ method_id: 'sandbox', display_name: 'Sandbox' }];
  const made = await fixture.admin.post('/cabinet/admin/landings', {
    slug,
    allowed_tariff_ids: [tariffId],
    payment_methods: methods,
  });
  expect(made.status, made.text).toBe(200);
  return { slug, tariffId };
}

/** Tariff changes in both clients, and purchases by people without an account. */
export const saleRows: Row[] = [
  {
    row: 14,
    method: 'POST',
    path: '/cabinet/subscription/tariff/switch/preview',
    as: 'user',
    good: async (fixture) => {
      const { id } = fixture.user.user;
      await fixture.t.app.db.sql('DELETE FROM subscriptions WHERE user_id = $1::int RETURNING id', [id]);
      await aStoredSubscription(fixture.t.app, id, { tariff_id: await aTariff(fixture.t.app) });
      return { body: { tariff_id: await aTariff(fixture.t.app), period_days: 30 } };
    },
    body: {
      tariff_id: whole({ required: true }),
      period_days: whole({ required: true }),
      traffic_gb: whole({ nullable: true, ge: 0 }),
    },
    answers: (reply) => expect(reply.body).toMatchObject({ can_switch: expect.any(Boolean) }),
  },
  {
    row: 14,
    method: 'POST',
    path: '/miniapp/subscription/tariff/purchase',
    as: 'open',
    good: async ({ t }) => {
      const user = await aUser(t.app);
      await topUp(t.app, user.id, 100_000);
      return { body: { initData: initDataOf(t, user), tariffId: await aTariff(t.app), periodDays: 30 } };
    },
    body: { tariffId: whole({ required: true }), periodDays: whole({ required: true }) },
    answers: (reply, sent) => {
      expect(Object.keys(reply.body).sort()).toEqual(
        [
          ...['success', 'message', 'subscription_id', 'tariff_id', 'tariff_name', 'new_end_date', 'balance_kopeks'],
          'balance_label',
        ].sort(),
      );
      expect(reply.body).toMatchObject({ success: true, tariff_id: sent.tariffId, balance_kopeks: 70_000 });
    },
  },
  {
    row: 17,
    method: 'POST',
    path: '/cabinet/landing/{slug}/purchase',
    as: 'open',
    good: async (fixture) => {
      const { slug, tariffId } = await aSalesPage(fixture);
      return {
        path: `/cabinet/landing/${slug}/purchase`,
        body: {
          tariff_id: tariffId,
          period_days: 30,
          contact_type: 'email',
          contact_value: `guest${unique()}@example.com`,
          payment_method: 'sandbox',
        },
      };
    },
    body: {
      tariff_id: whole({ required: true }),
      period_days: whole({ required: true }),
      contact_type: text({
        required: true,
        sample: 'email',
        pattern: { source: WORDS_OF_CONTACT, breaks: ['phone', 'Email', '', 'email\n'] },
      }),
      contact_value: text({ required: true, min: 1, max: 255, sample: 'buyer@example.com' }),
      payment_method: refusalsOf(
        text({ required: true, min: 1, max: 50, pattern: { source: METHOD, breaks: ['Card', 'card-1', 'карта', 'a b'] } }),
      ),
      is_gift: refusalsOf(flag({})),
      gift_recipient_type: text({
        nullable: true,
        sample: 'email',
        pattern: { source: WORDS_OF_CONTACT, breaks: ['phone', ''] },
      }),
      gift_recipient_value: text({ nullable: true, max: 255, sample: 'friend@example.com' }),
      gift_message: text({ nullable: true, max: 1000 }),
    },
    answers: (reply) =>
      expect(reply.body).toEqual({
        purchase_token: expect.stringMatching(/^[A-Za-z0-9_-]{64}$/),
        payment_url: expect.stringMatching(/^http/),
      }),
  },
];

const STATS = [
  ...['source_uuid', 'target_uuid', 'total', 'updated', 'panel_updated', 'panel_failed', 'source_removed', 'target_added'],
];

const migration = (as: 'key' | 'admin', path: string, field: 'detail' | 'message'): Row => ({
  row: 21,
  method: 'POST',
  path,
  as,
  good: async ({ t }) => ({
    body: { source_uuid: (await aServer(t.app)).uuid, target_uuid: (await aServer(t.app)).uuid },
  }),
  body: { source_uuid: refusalsOf(text({ required: true })), target_uuid: refusalsOf(text({ required: true })) },
  answers: (reply, sent) => {
    expect(Object.keys(reply.body).sort()).toEqual(['data', 'error', 'success', field].sort());
    expect(Object.keys(reply.body.data).sort()).toEqual([...STATS].sort());
    expect(reply.body).toMatchObject({ success: true, error: null, data: { ...sent, total: 0, updated: 0 } });
  },
});

/** The panel's operations at both doors. */
export const panelRows: Row[] = [
  {
    row: 20,
    method: 'GET',
    path: '/vpnpanel/nodes',
    as: 'key',
    good: async () => ({}),
    answers: (reply) => {
      expect(Object.keys(reply.body).sort()).toEqual(['items', 'total']);
      expect(reply.body.total).toBe(reply.body.items.length);
      expect(reply.body.total).toBeGreaterThan(0);
    },
  },
  migration('key', '/vpnpanel/squads/migrate', 'detail'),
  migration('admin', '/cabinet/admin/vpnpanel/squads/migrate', 'message'),
];
