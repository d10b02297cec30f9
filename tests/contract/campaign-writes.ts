/** Writes of administrators on offers, campaigns and partners. */

import { aUser, unique } from '../support/builders.ts';
import { aCampaign } from '../support/campaign-samples.ts';
import { setUser } from '../support/merge-samples.ts';
import { ADMIN, type AdminWrite, type Fixture, made } from './admin-write-samples.ts';

const campaignBody = () => ({
  name: 'Spring',
  start_parameter: `slug_${unique()}`,
  bonus_type: 'balance',
  balance_bonus_kopeks: 1_500,
});
const madeCampaign = (fixture: Fixture) => made(fixture, `${ADMIN}/campaigns`, campaignBody());

async function aPartner({ app }: Fixture): Promise<number> {
  const { id } = await aUser(app);
  await setUser(app, id, { partner_status: 'approved', referral_commission_percent: 30 });
  return id;
}

async function anApplication({ app }: Fixture): Promise<number> {
  const { id } = await aUser(app);
  await setUser(app, id, { partner_status: 'pending' });
  const [row] = await app.db.sql<{ id: number }>('INSERT INTO partner_applications (user_id) VALUES ($1::int) RETURNING id', [
    id,
  ]);
  return row!.id;
}

async function aTemplate({ boss }: Fixture): Promise<number> {
  return (await boss.get(`${ADMIN}/promo-offers/templates`)).body.items[0].id;
}

export const CAMPAIGN_WRITES: Record<string, AdminWrite> = {
  'PATCH /promo-offers/templates/{template_id}': {
    kind: 'change',
    request: async (fixture) => ({
      path: `/promo-offers/templates/${await aTemplate(fixture)}`,
      body: { name: `Template ${unique()}` },
    }),
  },
  'POST /promo-offers/broadcast': {
    kind: 'creation',
    request: async ({ app }) => {
      const { id } = await aUser(app);
      return { path: '/promo-offers/broadcast', body: { notification_type: `type-${unique()}`, valid_hours: 24, user_id: id } };
    },
  },
  'POST /campaigns': { kind: 'creation', request: async () => ({ path: '/campaigns', body: campaignBody() }) },
  'PUT /campaigns/{campaign_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/campaigns/${await madeCampaign(fixture)}`, body: { name: 'Autumn' } }),
  },
  'DELETE /campaigns/{campaign_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/campaigns/${await madeCampaign(fixture)}` }),
  },
  'POST /campaigns/{campaign_id}/toggle': {
    kind: 'change',
    request: async (fixture) => ({ path: `/campaigns/${await madeCampaign(fixture)}/toggle` }),
  },
  'PATCH /partners/settings': {
    kind: 'change',
    request: async () => ({ path: '/partners/settings', body: { withdrawal_min_amount_kopeks: 10_000 + unique() } }),
  },
  'POST /partners/applications/{application_id}/approve': {
    kind: 'change',
    request: async (fixture) => ({
      path: `/partners/applications/${await anApplication(fixture)}/approve`,
      body: { commission_percent: 20 },
    }),
  },
  'POST /partners/applications/{application_id}/reject': {
    kind: 'change',
    request: async (fixture) => ({ path: `/partners/applications/${await anApplication(fixture)}/reject`, body: {} }),
  },
  'PATCH /partners/{user_id}/commission': {
    kind: 'change',
    request: async (fixture) => ({ path: `/partners/${await aPartner(fixture)}/commission`, body: { commission_percent: 45 } }),
  },
  'POST /partners/{user_id}/revoke': {
    kind: 'change',
    request: async (fixture) => ({ path: `/partners/${await aPartner(fixture)}/revoke` }),
  },
  'POST /partners/{user_id}/campaigns/{campaign_id}/assign': {
    kind: 'change',
    request: async (fixture) => {
      const [partner, campaign] = [await aPartner(fixture), await aCampaign(fixture.app)];
      return { path: `/partners/${partner}/campaigns/${campaign.id}/assign` };
    },
  },
  'POST /partners/{user_id}/campaigns/{campaign_id}/unassign': {
    kind: 'change',
    request: async (fixture) => {
      const partner = await aPartner(fixture);
      const campaign = await aCampaign(fixture.app, { partner_user_id: partner });
      return { path: `/partners/${partner}/campaigns/${campaign.id}/unassign` };
    },
  },
};
