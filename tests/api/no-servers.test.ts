import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { userClient } from '../support/actors.ts';
import { initDataOf } from '../support/init-data.ts';
import { type LandingFixture, landingFixture } from '../support/landing-fixture.ts';
import { aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';

let fixture: LandingFixture;
let server: FastifyInstance;
beforeAll(async () => {
  fixture = await landingFixture();
  ({ server } = fixture);
});
afterAll(() => server.close());

it('08 P5: what would give no server is refused by every operation that sells it, with one code', async () => {
  const { t, guest } = fixture;
  await fixture.reset();
  await t.app.db.sql('UPDATE server_squads SET is_available = false, is_trial_eligible = false');
  const tariffId = await aTariff(t.app, { allowed_squads: [] });
  const api = await userClient(t.app, server, { language: 'en' });
  const { user } = api;
  await topUp(t.app, user.id, 50_000);
  const message = 'No servers are available for this purchase';
  const refused = { status: 400, body: { detail: { code: 'no_servers', message } } };
  const order = { tariff_id: tariffId, period_days: 30 };
  expect(await api.post('/cabinet/subscription/purchase-tariff', order)).toMatchObject(refused);
  expect(await api.post('/cabinet/subscription/trial')).toMatchObject(refused);
  expect((await api.get('/cabinet/subscription/trial')).body).toMatchObject({ is_available: false, reason_unavailable: message });
  const miniapp = { initData: initDataOf(t, user), tariffId, periodDays: 30 };
  expect(await guest.post('/miniapp/subscription/tariff/purchase', miniapp)).toMatchObject({
    status: 400,
    body: { detail: { code: 'no_servers' } },
  });
  expect(await guest.post('/miniapp/subscription/trial', { initData: initDataOf(t, user) })).toMatchObject({
    status: 400,
    body: { detail: { code: 'no_servers' } },
  });
  await aStoredSubscription(t.app, user.id, { tariff_id: await aTariff(t.app, { period_prices: { 30: 1_000 } }) });
  expect(await api.post('/cabinet/subscription/tariff/switch', order)).toMatchObject(refused);
  const page = await fixture.aSalesPage({}, { allowed_squads: [] });
  const bought = await guest.post(`/cabinet/landing/${page.landing.slug}/purchase`, {
    tariff_id: page.tariffId,
    period_days: 30,
    contact_type: 'email',
    contact_value: 'nobody@example.com',
    payment_method: 'sandbox',
  });
  expect(bought).toMatchObject(refused);
  const [row] = await t.app.db.sql('SELECT balance_kopeks FROM users WHERE id = $1::int', [user.id]);
  expect(row).toEqual({ balanceKopeks: 50_000 });
});
