import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { claimOffer } from '../../../src/domain/promo/offers/claim-offer.ts';
import { expirePromo } from '../../../src/domain/promo/offers/expiry.ts';
import { clearActiveDiscount, readActiveDiscount } from '../../../src/domain/promo/offers/offers.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { aUser, unique } from '../../support/builders.ts';
import { anOfferTo, logOf, offersOf, userActor } from '../../support/offer-samples.ts';
import { discountOf } from '../../support/promocode-samples.ts';
import { aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const inHours = (hours: number) => new Date(t.app.clock.now().getTime() + hours * HOUR_MS);
const aClaimer = async () => (await aUser(t.app, { language: 'en' })).id;
const claim = (userId: number, offerId: number) => claimOffer(t.app, userActor(userId), offerId);
const detailOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'given',
    (error: { status: number; detail: unknown }) => [error.status, error.detail],
  );
const squadsOf = async (userId: number) =>
  rowOf<{ id: number; squads: string[]; state: string; version: number }>(
    t.app,
    `SELECT id, connected_squads AS squads, provision_state AS state, provision_version AS version FROM subscriptions
     WHERE user_id = $1::int`,
    [userId],
  );
const pushesOf = (subscriptionId: number) =>
  t.app.db.sql(`SELECT id FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1`, [
    String(subscriptionId),
  ]);

describe('a discount (spec 04 section 9.5)', () => {
  test('percent, source and hours of the offer, which is claimed and logged', async () => {
    const user = await aClaimer();
    const offer = await anOfferTo(t.app, user, { extraData: { active_discount_hours: 5 } });
    const expiresAt = inHours(5);
    expect(await claim(user, offer.id)).toEqual({ message: 'Your 20% discount is on', discountPercent: 20, expiresAt });
    expect(await discountOf(t.app, user)).toEqual({ percent: 20, source: offer.notificationType, expiresAt: expiresAt });
    expect(await offersOf(t.app, user)).toMatchObject([{ active: false, claimed: true }]);
    expect(await logOf(t.app, user)).toEqual([
      {
        action: 'claimed',
        source: offer.notificationType,
        percent: 20,
        details: { context: 'discount_claim', discount_percent: 20, discount_expires_at: expiresAt.toISOString() },
      },
    ]);
  });

  test('hours of the template or, without any, until the first purchase, in place of a current discount', async () => {
    const user = await aClaimer();
    const { id: templateId } = await rowOf<{ id: number }>(
      t.app,
      `SELECT id FROM promo_offer_templates WHERE offer_type = 'purchase_discount'`,
    );
    await claim(user, (await anOfferTo(t.app, user, { extraData: { template_id: templateId } })).id);
    expect(await discountOf(t.app, user)).toMatchObject({ percent: 20, expiresAt: inHours(48) });
    const legacy = await anOfferTo(t.app, user, { discountPercent: 5, effectType: 'balance_bonus', bonusAmountKopeks: 10_000 });
    await claim(user, legacy.id);
    expect(await discountOf(t.app, user)).toEqual({ percent: 5, source: legacy.notificationType, expiresAt: null });
    expect(await rowOf(t.app, 'SELECT balance_kopeks FROM users WHERE id = $1::int', [user])).toEqual({ balanceKopeks: 0 });
  });

  test('refusals, in the documented order', async () => {
    const [user, other] = [await aClaimer(), await aClaimer()];
    const offer = await anOfferTo(t.app, user);
    expect(await detailOf(claim(other, offer.id))).toEqual([404, 'Offer not found']);
    expect(await detailOf(claim(user, 2_147_000_000))).toEqual([404, 'Offer not found']);
    expect(await detailOf(claim(user, 9_000_000_000))).toEqual([404, 'Offer not found']);
    await claim(user, offer.id);
    expect(await detailOf(claim(user, offer.id))).toEqual([400, 'This offer has already been claimed']);
    const empty = await anOfferTo(t.app, user, { discountPercent: 0 });
    expect(await detailOf(claim(user, empty.id))).toEqual([400, 'Invalid offer']);
    expect(await offersOf(t.app, user)).toMatchObject([{ claimed: true }, { claimed: false, active: true }]);
  });

  test('an offer at the time of its end has expired, recorded once in row and log', async () => {
    const user = await aClaimer();
    const offer = await anOfferTo(t.app, user, { validHours: 1 });
    t.clock.advance(HOUR_MS);
    expect(await detailOf(claim(user, offer.id))).toEqual([400, 'This offer has expired']);
    expect(await detailOf(claim(user, offer.id))).toEqual([400, 'This offer has expired']);
    await expirePromo(t.app);
    expect(await offersOf(t.app, user)).toMatchObject([{ active: false, claimed: false }]);
    expect(await logOf(t.app, user)).toMatchObject([{ action: 'disabled', details: { reason: 'offer_expired' } }]);
    expect((await discountOf(t.app, user)).percent).toBe(0);
  });

  test('it is used up by a purchase, and the log names the offer (spec 02 section 2.1)', async () => {
    const user = await aClaimer();
    const offer = await anOfferTo(t.app, user);
    await claim(user, offer.id);
    await topUp(t.app, user, 100_000);
    const tariffId = await aTariff(t.app);
    const order = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null };
    await purchaseTariff(t.app, userActor(user), order);
    expect((await discountOf(t.app, user)).percent).toBe(0);
    const log = await logOf(t.app, user);
    expect(log[1]).toMatchObject({
      action: 'consumed',
      source: offer.notificationType,
      percent: 20,
      details: { reason: 'manual_charge', amount_kopeks: 24_000, description: expect.stringContaining('Tariff') },
    });
    const [row] = await t.app.db.sql<{ offerId: number }>(
      `SELECT offer_id FROM promo_offer_logs WHERE user_id = $1::int AND action = 'consumed'`,
      [user],
    );
    expect(row?.offerId).toBe(offer.id);
    await purchaseTariff(t.app, userActor(user), order);
    expect(await logOf(t.app, user)).toHaveLength(2);
  });

  test('it can be read, expires, and can be cleared', async () => {
    const user = await aClaimer();
    const actor = userActor(user);
    expect(await readActiveDiscount(t.app, actor)).toEqual({ percent: 0, source: null, expiresAt: null, isActive: false });
    const offer = await anOfferTo(t.app, user, { extraData: { active_discount_hours: 1 } });
    await claim(user, offer.id);
    expect(await readActiveDiscount(t.app, actor)).toMatchObject({ percent: 20, isActive: true, source: offer.notificationType });
    t.clock.advance(HOUR_MS);
    expect(await readActiveDiscount(t.app, actor)).toMatchObject({ percent: 0, isActive: false });
    await clearActiveDiscount(t.app, actor);
    await clearActiveDiscount(t.app, actor);
    expect(await discountOf(t.app, user)).toEqual({ percent: 0, source: null, expiresAt: null });
  });
});

describe('temporary access (spec 04 section 9.5)', () => {
  const anAccessOffer = (user: number, squads: string[], hours = 24) =>
    anOfferTo(t.app, user, {
      effectType: 'test_access',
      discountPercent: 0,
      extraData: { test_squad_uuids: squads, test_duration_hours: hours },
    });

  test('servers are added to the subscription, and a job updates the panel, as the state shows', async () => {
    const user = await aClaimer();
    const [owned, temporary] = [`owned-${unique()}`, `temporary-${unique()}`];
    await aStoredSubscription(t.app, user, { connected_squads: [owned], provision_state: 'synced' });
    const before = await squadsOf(user);
    const offer = await anAccessOffer(user, [owned, temporary, temporary], 3);
    expect(await claim(user, offer.id)).toEqual({
      message: 'The servers are connected, hours of access: 3',
      discountPercent: null,
      expiresAt: inHours(3),
    });
    const connected = await squadsOf(user);
    expect(connected).toMatchObject({ squads: [owned, temporary], state: 'pending', version: before.version + 1 });
    expect(await pushesOf(connected.id)).toHaveLength(1);
    const rows = await t.app.db.sql(
      `SELECT squad_uuid AS squad, was_already_connected AS had, is_active AS active FROM subscription_temporary_access
       WHERE offer_id = $1::int ORDER BY id`,
      [offer.id],
    );
    expect(rows).toEqual([
      { squad: owned, had: true, active: true },
      { squad: temporary, had: false, active: true },
    ]);
    expect(await logOf(t.app, user)).toMatchObject([
      {
        action: 'claimed',
        details: { context: 'test_access_claim', new_squads: [temporary], expires_at: inHours(3).toISOString() },
      },
    ]);
  });

  test('after a refusal the offer can still be claimed', async () => {
    const user = await aClaimer();
    const offer = await anAccessOffer(user, ['a-squad']);
    expect(await detailOf(claim(user, offer.id))).toEqual([400, 'Active subscription required for this offer']);
    await aStoredSubscription(t.app, user, { connected_squads: ['a-squad'] });
    expect(await detailOf(claim(user, offer.id))).toEqual([400, 'These servers are already connected']);
    expect(await detailOf(claim(user, (await anAccessOffer(user, [])).id))).toEqual([
      400,
      'Could not determine servers for test access',
    ]);
    expect(await offersOf(t.app, user)).toMatchObject([{ active: true }, { active: true }]);
    expect(await logOf(t.app, user)).toEqual([]);
  });

  test('servers are removed on expiry, except those that the subscription had before', async () => {
    const user = await aClaimer();
    const [owned, temporary] = [`owned-${unique()}`, `temporary-${unique()}`];
    await aStoredSubscription(t.app, user, { connected_squads: [owned] });
    await claim(user, (await anAccessOffer(user, [owned, temporary], 3)).id);
    t.clock.advance(3 * HOUR_MS - 1);
    await expirePromo(t.app);
    expect((await squadsOf(user)).squads).toEqual([owned, temporary]);
    t.clock.advance(1);
    const { version } = await squadsOf(user);
    await expirePromo(t.app);
    await expirePromo(t.app);
    expect(await squadsOf(user)).toMatchObject({ squads: [owned], state: 'pending', version: version + 1 });
    expect((await logOf(t.app, user)).slice(1)).toMatchObject([
      { action: 'disabled', details: { reason: 'test_access_expired', squad_uuid: owned } },
      { action: 'disabled', details: { reason: 'test_access_expired', squad_uuid: temporary } },
    ]);
  });

  test('servers stay while another access is active, and are removed with the last one', async () => {
    const user = await aClaimer();
    const [temporary, extra] = [`temporary-${unique()}`, `extra-${unique()}`];
    await aStoredSubscription(t.app, user, { connected_squads: ['base'] });
    await claim(user, (await anAccessOffer(user, [temporary], 1)).id);
    await claim(user, (await anAccessOffer(user, [temporary, extra], 2)).id);
    t.clock.advance(HOUR_MS);
    await expirePromo(t.app);
    expect((await squadsOf(user)).squads).toEqual(['base', temporary, extra]);
    t.clock.advance(HOUR_MS);
    await expirePromo(t.app);
    expect((await squadsOf(user)).squads).toEqual(['base']);
  });

  test('servers stay when they were bought meanwhile or belong to the tariff', async () => {
    const [bought, planned] = [await aServer(t.app), await aServer(t.app)];
    const user = await aClaimer();
    const id = await aStoredSubscription(t.app, user, { connected_squads: ['base'] });
    await claim(user, (await anAccessOffer(user, [bought.uuid, planned.uuid, 'loose'], 1)).id);
    await t.app.db.sql(
      'UPDATE subscription_servers SET paid_price_kopeks = 500 WHERE subscription_id = $1::int AND server_squad_id = $2::int RETURNING id',
      [id, bought.id],
    );
    const tariffId = await aTariff(t.app, { allowed_squads: [planned.uuid] });
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE id = $1::int RETURNING id', [id, tariffId]);
    t.clock.advance(DAY_MS);
    await expirePromo(t.app);
    expect((await squadsOf(user)).squads).toEqual(['base', bought.uuid, planned.uuid]);
  });
});

test('spec 04 section 9.6: test access is one row per offer and squad', async () => {
  const user = await aClaimer();
  const id = await aStoredSubscription(t.app, user, { connected_squads: [] });
  const offer = await anOfferTo(t.app, user);
  const insert = () =>
    storeRow(t.app, 'SubscriptionTemporaryAccess', {
      subscriptionId: id,
      offerId: offer.id,
      squadUuid: 'x',
      expiresAt: new Date(),
    });
  await insert();
  await expect(insert()).rejects.toMatchObject({ code: '23505' });
});

test('the job expires offers and discounts of every source once (spec 04 section 15)', async () => {
  const [user, holder] = [await aClaimer(), await aClaimer()];
  await anOfferTo(t.app, user, { validHours: 2 });
  const claimed = await anOfferTo(t.app, holder, { extraData: { active_discount_hours: 2 }, validHours: 1 });
  await claim(holder, claimed.id);
  t.clock.advance(2 * HOUR_MS - 1);
  await expirePromo(t.app);
  expect((await offersOf(t.app, user))[0]).toMatchObject({ active: true });
  expect((await discountOf(t.app, holder)).percent).toBe(20);
  t.clock.advance(1);
  await expirePromo(t.app);
  await expirePromo(t.app);
  expect((await offersOf(t.app, user))[0]).toMatchObject({ active: false, claimed: false });
  expect(await discountOf(t.app, holder)).toEqual({ percent: 0, source: null, expiresAt: null });
  expect(await logOf(t.app, user)).toMatchObject([{ action: 'disabled', percent: 20, details: { reason: 'offer_expired' } }]);
  expect((await logOf(t.app, holder)).slice(1)).toMatchObject([
    { action: 'disabled', source: claimed.notificationType, percent: 20, details: { reason: 'offer_expired' } },
  ]);
});
