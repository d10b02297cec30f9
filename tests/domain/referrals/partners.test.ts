import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import {
  assignCampaignToPartner,
  readMyPartnership,
  revokePartner,
  unassignCampaignFromPartner,
} from '../../../src/domain/campaigns/partner-campaigns.ts';
import {
  applyForPartnership,
  changePartnerCommission,
  changePartnerSettings,
  decideApplication,
  readPartnerSettings,
} from '../../../src/domain/referrals/partners/partners.ts';
import { aUser } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { setUser, userRow } from '../../support/merge-samples.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let admin: AdminActor;
const CHAT = -1_001_234_567_890;
beforeAll(async () => {
  t = await testApp({
    environment: {
      DEFAULT_LANGUAGE: 'en',
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
      ADMIN_NOTIFICATIONS_PARTNERS_TOPIC_ID: '77',
    },
  });
  admin = { kind: 'admin', userId: (await aUser(t.app)).id, level: 100, isConfigAdmin: false };
});

const nothing = {
  companyName: null,
  websiteUrl: null,
  messengerChannel: null,
  description: null,
  expectedMonthlyReferrals: null,
  desiredCommissionPercent: null,
};
const apply = (userId: number, fields = {}) => applyForPartnership(t.app, { kind: 'user', userId }, { ...nothing, ...fields });
const anApplicant = (fields: Parameters<typeof aUser>[1] = {}) => aUser(t.app, { language: 'en', ...fields });
async function aPartner(columns: Record<string, unknown> = {}) {
  const user = await anApplicant();
  await setUser(t.app, user.id, { partner_status: 'approved', referral_commission_percent: 30, ...columns });
  return user;
}
const messagesTo = (messengerId: number) =>
  t.app.db.sql<{ html: string; thread: string | null }>(
    `SELECT data->>'html' AS html, data->>'threadId' AS thread FROM jobs.job
     WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint ORDER BY created_on, ctid`,
    [messengerId],
  );
const partnerOf = async (id: number) =>
  (
    await t.app.db.sql<{ partner: number | null }>(
      'SELECT partner_user_id AS partner FROM advertising_campaigns WHERE id = $1::int',
      [id],
    )
  )[0]!.partner;

describe('an application (spec 04 section 3.1)', () => {
  test('makes the user wait, and notifies the chat of administrators in its topic: escaped, cut to 200 characters', async () => {
    const user = await anApplicant();
    const application = await apply(user.id, {
      companyName: '<b>Evil</b>',
      description: 'д'.repeat(500),
      desiredCommissionPercent: 40,
    });
    expect(application).toMatchObject({ userId: user.id, status: 'pending', desiredCommissionPercent: 40, processedAt: null });
    expect(await userRow(t.app, user.id)).toMatchObject({ partnerStatus: 'pending', referralCommissionPercent: null });
    const notice = (await messagesTo(CHAT)).at(-1)!;
    expect(notice.thread).toBe('77');
    expect(notice.html).toContain('&lt;b&gt;Evil&lt;/b&gt;');
    expect(notice.html).toContain(`${'д'.repeat(200)}...`);
    expect(notice.html).not.toContain('д'.repeat(201));
    await expect(apply(user.id)).rejects.toMatchObject({ status: 400, detail: 'Your application is being considered already' });
  });

  test('approved once: partner with this commission, notified by messenger', async () => {
    const user = await anApplicant();
    const { id } = await apply(user.id);
    await decideApplication(t.app, admin, id, { status: 'approved', percent: 35, comment: 'Welcome <3' });
    expect(await userRow(t.app, user.id)).toMatchObject({ partnerStatus: 'approved', referralCommissionPercent: '35.00' });
    const status = await readMyPartnership(t.app, { kind: 'user', userId: user.id });
    expect(status).toMatchObject({
      partnerStatus: 'approved',
      commissionPercent: 35,
      latestApplication: { id, status: 'approved', adminComment: 'Welcome <3', approvedCommissionPercent: 35 },
    });
    expect(status.latestApplication?.processedAt).toBeInstanceOf(Date);
    const [message] = await messagesTo(user.messengerId);
    expect(message!.html).toContain('35%');
    expect(message!.html).toContain('Welcome &lt;3');
    const again = decideApplication(t.app, admin, id, { status: 'rejected', comment: null });
    await expect(again).rejects.toMatchObject({ status: 400, detail: 'The application has been decided on already' });
    await expect(apply(user.id)).rejects.toMatchObject({ status: 400, detail: 'You are a partner already' });
  });

  test('rejected: the commission stays unchanged, and he may apply again at once', async () => {
    const user = await anApplicant();
    await setUser(t.app, user.id, { referral_commission_percent: 10 });
    const { id } = await apply(user.id);
    await decideApplication(t.app, admin, id, { status: 'rejected', comment: null });
    expect(await userRow(t.app, user.id)).toMatchObject({ partnerStatus: 'rejected', referralCommissionPercent: '10.00' });
    expect((await apply(user.id)).id).toBeGreaterThan(id);
  });

  test('the mail of a decision does not depend on the bot (spec 04 section 3.1, ours)', async () => {
    const quiet = await testApp({ environment: { BOT_TOKEN: '' } });
    const email = `partner-${Date.now()}@example.com`;
    const user = await anApplicant({ email });
    await setUser(t.app, user.id, { messenger_id: null });
    for (const decision of [
      { status: 'rejected', comment: 'Not yet' },
      { status: 'approved', percent: 20, comment: null },
    ] as const) {
      const { id } = await apply(user.id);
      await decideApplication(quiet.app, admin, id, decision);
    }
    const mails = await t.app.db.sql<{ template: string }>(
      'SELECT template FROM outgoing_mails WHERE recipient = $1 ORDER BY id',
      [email],
    );
    expect(mails.map((mail) => mail.template)).toEqual(['partner_application_rejected', 'partner_application_approved']);
    expect(await recordedEventsOf(t.app, user.id, { audience: 'user' })).toMatchObject([
      { type: 'notification.partner_application_rejected', payload: { comment: 'Not yet' } },
      { type: 'notification.partner_application_approved', payload: { commission_percent: 20, comment: null } },
    ]);
  });

  test('unknown applications and deleted applicants', async () => {
    const refused = (promise: Promise<unknown>) => expect(promise).rejects.toMatchObject({ status: 400 });
    await refused(decideApplication(t.app, admin, 2_147_000_000, { status: 'rejected', comment: null }));
    await refused(decideApplication(t.app, admin, 9_007_199_254_740_991, { status: 'rejected', comment: null }));
    const user = await anApplicant();
    const { id } = await apply(user.id);
    await setUser(t.app, user.id, { status: 'deleted' });
    await refused(decideApplication(t.app, admin, id, { status: 'approved', percent: 5, comment: null }));
    await refused(apply(user.id));
  });

  test('spec 04 section 3.4, hazard 1: the table itself refuses a second pending application', async () => {
    const user = await anApplicant();
    await apply(user.id);
    const second = storeRow(t.app, 'PartnerApplication', { userId: user.id });
    await expect(second).rejects.toMatchObject({ code: '23505' });
  });
});

describe('a partnership', () => {
  test('its commission may have a fraction, rounded to two decimals', async () => {
    const partner = await aPartner();
    expect(await changePartnerCommission(t.app, admin, partner.id, 12.345)).toEqual({ commissionPercent: 12.35 });
    expect(await userRow(t.app, partner.id)).toMatchObject({ referralCommissionPercent: '12.35' });
    const other = await anApplicant();
    await expect(changePartnerCommission(t.app, admin, other.id, 5)).rejects.toMatchObject({ status: 400 });
    await expect(changePartnerCommission(t.app, admin, 2_147_483_648, 5)).rejects.toMatchObject({ status: 404 });
  });

  test('ends with its commission and its campaigns, while applications and earnings stay, and may begin again', async () => {
    const user = await anApplicant();
    const { id } = await apply(user.id);
    await decideApplication(t.app, admin, id, { status: 'approved', percent: 35, comment: null });
    const campaigns = [await aCampaign(t.app), await aCampaign(t.app)];
    for (const campaign of campaigns) await assignCampaignToPartner(t.app, admin, { userId: user.id, campaignId: campaign.id });
    const sent = (await messagesTo(user.messengerId)).length;
    await revokePartner(t.app, admin, user.id);
    expect(await userRow(t.app, user.id)).toMatchObject({ partnerStatus: 'none', referralCommissionPercent: null });
    expect(await Promise.all(campaigns.map((campaign) => partnerOf(campaign.id)))).toEqual([null, null]);
    expect((await messagesTo(user.messengerId)).length).toBe(sent);
    const status = await readMyPartnership(t.app, { kind: 'user', userId: user.id });
    expect(status).toMatchObject({ commissionPercent: null, latestApplication: { id, status: 'approved' }, campaigns: [] });
    await expect(revokePartner(t.app, admin, user.id)).rejects.toMatchObject({
      status: 400,
      detail: 'The user is not a partner',
    });
    await expect(revokePartner(t.app, admin, 2_147_000_000)).rejects.toMatchObject({ status: 400 });
    expect((await apply(user.id)).status).toBe('pending');
  });

  test('a campaign is assigned to one partner, again without effect, unassigned, and assigned to another', async () => {
    const [one, two, none] = [await aPartner(), await aPartner(), await anApplicant()];
    const { id: campaignId } = await aCampaign(t.app);
    const assign = (userId: number, campaign = campaignId) =>
      assignCampaignToPartner(t.app, admin, { userId, campaignId: campaign });
    const unassign = (userId: number, campaign = campaignId) =>
      unassignCampaignFromPartner(t.app, admin, { userId, campaignId: campaign });
    await expect(assign(none.id)).rejects.toMatchObject({ status: 400, detail: 'The user is not a partner' });
    await expect(assign(2_147_483_648)).rejects.toMatchObject({ status: 400 });
    await expect(assign(one.id, 2_147_483_648)).rejects.toMatchObject({ status: 404, detail: 'Campaign not found' });
    await assign(one.id);
    await assign(one.id);
    await expect(assign(two.id)).rejects.toMatchObject({ status: 400, detail: 'The campaign belongs to another partner' });
    await expect(unassign(two.id)).rejects.toMatchObject({ status: 400, detail: 'The campaign is not assigned to this partner' });
    await expect(unassign(two.id, 2_147_000_000)).rejects.toMatchObject({ status: 404 });
    expect(await partnerOf(campaignId)).toBe(one.id);
    await unassign(one.id);
    expect(await partnerOf(campaignId)).toBeNull();
    await assign(two.id);
    expect(await partnerOf(campaignId)).toBe(two.id);
  });

  test('his own page shows active campaigns only, and the general commission where he has none of his own', async () => {
    const partner = await aPartner({ referral_commission_percent: null });
    const [shown, hidden] = [await aCampaign(t.app), await aCampaign(t.app, { is_active: false })];
    for (const campaign of [shown, hidden]) {
      await assignCampaignToPartner(t.app, admin, { userId: partner.id, campaignId: campaign.id });
    }
    const status = await readMyPartnership(t.app, { kind: 'user', userId: partner.id });
    expect(status).toMatchObject({
      commissionPercent: 25,
      latestApplication: null,
      campaigns: [{ id: shown.id, isActive: true }],
    });
    expect(status.campaigns).toHaveLength(1);
  });
});

describe('settings of the partner page', () => {
  const unchanged = {
    withdrawalEnabled: null,
    withdrawalMinAmountKopeks: null,
    withdrawalCooldownDays: null,
    withdrawalRequisitesText: null,
    partnerSectionVisible: null,
    referralProgramEnabled: null,
  };

  test('change what is given, all or none, in effect on every instance', async () => {
    const here = await testApp();
    const elsewhere = await testApp();
    const settled = await changePartnerSettings(here.app, admin, {
      ...unchanged,
      withdrawalEnabled: true,
      withdrawalRequisitesText: 'Card\nor wallet',
    });
    expect(settled).toMatchObject({
      withdrawalEnabled: true,
      withdrawalCooldownDays: 30,
      withdrawalRequisitesText: 'Card\nor wallet',
    });
    expect(readPartnerSettings(here.app)).toEqual(settled);
    const stored = await elsewhere.app.db.sql(
      "SELECT key FROM system_settings WHERE key LIKE 'REFERRAL_WITHDRAWAL%' ORDER BY key",
    );
    expect(stored).toEqual([{ key: 'REFERRAL_WITHDRAWAL_ENABLED' }, { key: 'REFERRAL_WITHDRAWAL_REQUISITES_TEXT' }]);
    const bad = changePartnerSettings(here.app, admin, { ...unchanged, withdrawalEnabled: false, withdrawalCooldownDays: -1 });
    await expect(bad).rejects.toMatchObject({ status: 400 });
    expect(readPartnerSettings(here.app).withdrawalEnabled).toBe(true);
    await clear(here.app);
  });

  const clear = (app: App) => app.db.sql("DELETE FROM system_settings WHERE key LIKE 'REFERRAL_%' RETURNING key");
});
