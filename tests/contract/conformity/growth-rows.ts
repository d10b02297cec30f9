import { expect } from 'vitest';
import { aUser, unique } from '../../support/builders.ts';
import { aTariff } from '../../support/sale-samples.ts';
import { flag, freeForm, numeric, oneOf, queryWhole, refusalsOf, text, texts, whole, without } from './bounds.ts';
import type { Fixture, Row } from './row.ts';

const SLUG = '^[a-zA-Z0-9_-]+$';

const aCampaign = () => ({ name: 'Summer', start_parameter: `summer_${unique()}`, bonus_type: 'none' });

async function anApprovedPartner(fixture: Fixture): Promise<number> {
  const partner = await aUser(fixture.t.app);
  await fixture.t.app.db.sql("UPDATE users SET partner_status = 'approved' WHERE id = $1::int RETURNING id", [partner.id]);
  return partner.id;
}

const PERIOD = { days: expect.any(Number), start: expect.any(String), end: expect.any(String) };
const CHANGE = {
  absolute: expect.any(Number),
  percent: expect.any(Number),
  trend: expect.stringMatching(/^(up|down|stable)$/),
};

/** Campaigns, offers and partners. */
export const growthRows: Row[] = [
  {
    row: 8,
    method: 'POST',
    path: '/cabinet/admin/campaigns',
    as: 'admin',
    good: async (fixture) => ({
      body: {
        name: 'Summer',
        // Case matters and length is bounded; a fresh one each time, for it is unique.
        start_parameter: `summer_${unique()}`,
        bonus_type: 'subscription',
        balance_bonus_kopeks: 100,
        subscription_duration_days: 7,
        tariff_id: await aTariff(fixture.t.app),
        tariff_duration_days: 7,
      },
    }),
    body: {
      name: text({ required: true, min: 1, max: 255 }),
      start_parameter: text({
        required: true,
        min: 1,
        max: 64,
        fill: (n) => `${unique()}`.padEnd(n, 'x').slice(0, n),
        pattern: { source: SLUG, breaks: ['summer sale', 'лето', 'a/b'] },
      }),
      bonus_type: oneOf(['balance', 'subscription', 'none', 'tariff'], { required: true }),
      is_active: flag({}),
      balance_bonus_kopeks: whole({ ge: 0 }),
      // Without it a campaign of this type has no bonus; a rule says so, not the bound.
      subscription_duration_days: without(['absent', 'null'], whole({ nullable: true, ge: 1 })),
      subscription_traffic_gb: whole({ nullable: true, ge: 0 }),
      subscription_device_limit: whole({ nullable: true, ge: 1 }),
      subscription_squads: texts([], {}),
      tariff_id: whole({ nullable: true }),
      tariff_duration_days: whole({ nullable: true, ge: 1 }),
      partner_user_id: whole({ nullable: true }),
    },
    answers: (reply, sent) => {
      expect(reply.body).toMatchObject({ name: sent.name, start_parameter: sent.start_parameter, bonus_type: sent.bonus_type });
      expect(reply.body.deep_link).toContain(`start=${sent.start_parameter}`);
      expect(reply.body).toHaveProperty('web_link');
    },
  },
  {
    row: 8,
    method: 'GET',
    path: '/cabinet/admin/campaigns',
    as: 'admin',
    good: async () => ({}),
    query: { offset: queryWhole({ ge: 0 }), limit: queryWhole({ ge: 1, le: 100 }) },
    answers: (reply) => expect(Object.keys(reply.body).sort()).toEqual(['campaigns', 'total']),
  },
  {
    row: 8,
    method: 'DELETE',
    path: '/campaigns/{campaign_id}',
    as: 'key',
    good: async (fixture) => {
      const made = await fixture.admin.post('/cabinet/admin/campaigns', aCampaign());
      expect(made.status, made.text).toBe(200);
      return { path: `/campaigns/${made.body.id}` };
    },
  },
  {
    row: 9,
    method: 'POST',
    path: '/promo-offers/broadcast',
    as: 'key',
    good: async ({ t }) => ({
      body: { user_id: (await aUser(t.app)).id, notification_type: 'spring', valid_hours: 24, discount_percent: 10 },
    }),
    body: {
      notification_type: text({ required: true, min: 1 }),
      valid_hours: whole({ required: true, ge: 1 }),
      user_id: refusalsOf(whole({ nullable: true, ge: 1, outsideOnly: true })),
      messenger_id: whole({ nullable: true, ge: 1, outsideOnly: true }),
      discount_percent: whole({ ge: 0 }),
      bonus_amount_kopeks: whole({ ge: 0 }),
      subscription_id: whole({ nullable: true }),
      effect_type: text({ min: 1, sample: 'percent_discount' }),
      extra_data: freeForm({}),
      target: text({ nullable: true, min: 1, sample: 'active_zero' }),
    },
    answers: (reply, sent) => {
      expect(Object.keys(reply.body).sort()).toEqual(['created_offers', 'target', 'user_ids']);
      if (typeof sent.target !== 'string') expect(reply.body).toMatchObject({ created_offers: 1, user_ids: [sent.user_id] });
    },
  },
  {
    row: 11,
    method: 'GET',
    path: '/cabinet/promo/offers',
    as: 'user',
    good: async (fixture) => {
      const offer = { user_id: fixture.user.user.id, notification_type: 'spring', valid_hours: 24, discount_percent: 10 };
      const made = await fixture.key.post('/promo-offers/broadcast', offer);
      expect(made.status, made.text).toBe(200);
      return {};
    },
    answers: (reply) =>
      expect(reply.body).toEqual([
        {
          id: expect.any(Number),
          notification_type: 'spring',
          effect_type: 'percent_discount',
          expires_at: expect.stringMatching(/Z$/),
          is_active: true,
          is_claimed: false,
          discount_percent: 10,
          claimed_at: null,
          extra_data: expect.anything(),
        },
      ]),
  },
  {
    row: 15,
    method: 'PATCH',
    path: '/cabinet/admin/partners/{user_id}/commission',
    as: 'admin',
    good: async (fixture) => ({
      path: `/cabinet/admin/partners/${await anApprovedPartner(fixture)}/commission`,
      body: { commission_percent: 30 },
    }),
    body: { commission_percent: numeric({ required: true, ge: 1, le: 100, samples: [12.5] }) },
    answers: (reply, sent) => expect(reply.body).toEqual({ success: true, commission_percent: sent.commission_percent }),
  },
  {
    row: 16,
    method: 'GET',
    path: '/partners/referrers/{user_id}/stats/compare',
    as: 'key',
    good: async (fixture) => ({ path: `/partners/referrers/${fixture.user.user.id}/stats/compare` }),
    query: { current_days: queryWhole({ ge: 1, le: 365 }), previous_days: queryWhole({ ge: 1, le: 365 }) },
    answers: (reply, sent) => {
      expect(reply.body.current_period).toMatchObject({ ...PERIOD, days: Number(sent.current_days ?? 7) });
      expect(reply.body.previous_period).toMatchObject({ ...PERIOD, days: Number(sent.previous_days ?? 7) });
      for (const change of Object.values(reply.body.change)) expect(change).toEqual(CHANGE);
    },
  },
];
