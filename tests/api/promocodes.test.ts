import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { aGroup } from '../support/promocode-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let web: ApiClient;
let admin: ActorClient;

const ACTIONS = ['read', 'create', 'edit', 'delete'].map((action) => `promocodes:${action}`);
const UNKNOWN = 2_147_000_000;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  web = await tokenClient(t.app, server);
  admin = await adminClient(t.app, server, ACTIONS);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM rate_limit_windows');
  await t.app.db.sql('DELETE FROM promocodes');
});

const aCode = () => `CODE${unique()}`;
const aBody = (fields: Record<string, unknown> = {}) => ({
  code: aCode(),
  type: 'balance',
  balance_bonus_kopeks: 1_500,
  ...fields,
});

async function create(fields: Record<string, unknown> = {}, client: ApiClient = web) {
  const path = client === admin ? '/cabinet/admin/promocodes' : '/promo-codes';
  const made = await client.post(path, aBody(fields));
  expect(made.body.detail).toBeUndefined();
  return made.body;
}

const areas = [
  ['/promo-codes', () => web],
  ['/cabinet/admin/promocodes', () => admin],
] as const;

describe.each(areas)('%s', (base, client) => {
  it('creates a code in upper case and reads it back', async () => {
    const made = await client().post(base, aBody({ code: ' spring_26 ' }));
    const now = t.app.clock.now().toISOString();
    expect(made.body).toMatchObject({
      code: 'SPRING_26',
      type: 'balance',
      balance_bonus_kopeks: 1_500,
      balance_bonus_rubles: 15,
      subscription_days: 0,
      max_uses: 1,
      current_uses: 0,
      uses_left: 1,
      is_active: true,
      is_valid: true,
      valid_from: now,
      valid_until: null,
      created_by: client() === admin ? admin.user.id : null,
      created_at: now,
      updated_at: now,
    });
    const read = await client().get(`${base}/${made.body.id}`);
    expect(read.body).toEqual({ ...made.body, total_uses: 0, today_uses: 0, recent_uses: [] });
  });

  it('lists newest first, by state, in pages', async () => {
    const [one, two] = [await create(), await create({ is_active: false })];
    const ids = async (query: string) =>
      (await client().get(`${base}?${query}`)).body.items.map((item: { id: number }) => item.id);
    expect(await ids('')).toEqual([two.id, one.id]);
    expect(await ids('is_active=true')).toEqual([one.id]);
    expect(await ids('is_active=false')).toEqual([two.id]);
    expect(await ids('limit=1&offset=1')).toEqual([one.id]);
    expect(await ids('offset=99')).toEqual([]);
    expect((await client().get(`${base}?limit=1`)).body).toMatchObject({ total: 2, limit: 1, offset: 0 });
    for (const query of ['limit=0', 'limit=201', 'offset=-1', 'is_active=perhaps']) {
      expect((await client().get(`${base}?${query}`)).status).toBe(422);
    }
    for (const query of ['limit=1', 'limit=200', 'offset=0']) expect((await client().get(`${base}?${query}`)).status).toBe(200);
  });

  it.each([
    ['Code must not be empty', { code: '   ' }],
    ['Balance bonus must be positive for balance promo codes', { balance_bonus_kopeks: 0 }],
    ['Subscription days must be positive for this promo code type', { type: 'subscription_days' }],
    ['Subscription days must be positive for this promo code type', { type: 'trial_subscription' }],
    ['Discount percent must be between 1 and 100', { type: 'discount', balance_bonus_kopeks: 0 }],
    ['Discount percent must be between 1 and 100', { type: 'discount', balance_bonus_kopeks: 101 }],
    ['Discount validity hours must be positive', { type: 'discount', balance_bonus_kopeks: 10, subscription_days: -1 }],
    ['valid_from cannot be greater than valid_until', { valid_from: '2026-02-01T00:00:00', valid_until: '2026-01-31T23:59:59Z' }],
  ])('refuses, on creation and change: %s', async (detail, fields) => {
    const made = await client().post(base, aBody(fields));
    expect([made.status, made.body]).toEqual([400, { detail }]);
    const { id } = await create();
    const changed = await client().patch(`${base}/${id}`, fields);
    expect([changed.status, changed.body]).toEqual([400, { detail }]);
  });

  it.each([{ subscription_days: 0 }, {}])(
    'spec 10 X15: refuses a discount without hours, on creation and change: %j',
    async (hours) => {
      const fields = { type: 'discount', balance_bonus_kopeks: 10, ...hours };
      const refusal = [400, { detail: 'Discount validity hours must be positive' }];
      const made = await client().post(base, aBody(fields));
      expect([made.status, made.body]).toEqual(refusal);
      const { id } = await create();
      const changed = await client().patch(`${base}/${id}`, fields);
      expect([changed.status, changed.body]).toEqual(refusal);
    },
  );

  it('refuses a code twice, whatever its case', async () => {
    const [one, two] = [await create(), await create()];
    const detail = { detail: 'Promo code with this code already exists' };
    const again = await client().post(base, aBody({ code: one.code.toLowerCase() }));
    expect([again.status, again.body]).toEqual([400, detail]);
    const renamed = await client().patch(`${base}/${two.id}`, { code: one.code });
    expect([renamed.status, renamed.body]).toEqual([400, detail]);
  });

  it('spec 04 section 7.5, hazard 6: a code of 50 characters is stored, one of 51 is 422', async () => {
    expect((await client().post(base, aBody({ code: 'x'.repeat(50) }))).status).toBe(200);
    const long = await client().post(base, aBody({ code: 'y'.repeat(51) }));
    expect(long.status).toBe(422);
    expect(long.body.detail[0]).toMatchObject({ loc: ['body', 'code'], type: 'string_too_long', ctx: { max_length: 50 } });
  });

  it('spec 04 section 7.5, hazard 6: times with and without zone mix', async () => {
    const made = await create({ valid_from: '2026-01-01T00:00:00', valid_until: '2026-01-01T03:00:01+03:00' });
    expect([made.valid_from, made.valid_until]).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z']);
    const changed = await client().patch(`${base}/${made.id}`, { valid_until: '2099-01-01T00:00:00' });
    expect(changed.body.valid_until).toBe('2099-01-01T00:00:00.000Z');
  });

  it('answers 422 to numbers that no column holds', async () => {
    for (const fields of [
      { max_uses: -1 },
      { max_uses: 2_147_483_648 },
      { balance_bonus_kopeks: 2_147_483_648 },
      { type: 'promo_group', balance_bonus_kopeks: -1 },
      { type: 'subscription_days', subscription_days: 36_501 },
      { type: 'unknown' },
      { code: null },
    ]) {
      expect((await client().post(base, aBody(fields))).status).toBe(422);
    }
    expect((await client().post(base, aBody({ type: 'subscription_days', subscription_days: 36_500 }))).status).toBe(200);
  });

  it('changes what is given, keeps what is null, and takes 0 uses as unlimited', async () => {
    const until = addDays(t.app.clock.now(), 1).toISOString();
    const made = await create({ valid_until: until });
    const kept = await client().patch(`${base}/${made.id}`, { code: null, valid_until: null, max_uses: null, is_active: null });
    expect(kept.body).toMatchObject({ code: made.code, valid_until: until, max_uses: 1, is_active: true });
    const changed = await client().patch(`${base}/${made.id}`, { max_uses: 0, is_active: false, code: 'renamed' });
    expect(changed.body).toMatchObject({ code: 'RENAMED', max_uses: 999_999, is_active: false, is_valid: false });
  });

  it('keeps the limit above the uses there are, unlimited exempt', async () => {
    const made = await create({ max_uses: 5 });
    for (const round of [1, 2]) {
      const user = await userClient(t.app, server);
      expect([round, (await user.post('/cabinet/promocode/activate', { code: made.code })).status]).toEqual([round, 200]);
    }
    const low = await client().patch(`${base}/${made.id}`, { max_uses: 1 });
    expect([low.status, low.body]).toEqual([400, { detail: 'max_uses cannot be less than current uses' }]);
    expect((await client().patch(`${base}/${made.id}`, { max_uses: 2 })).body).toMatchObject({ uses_left: 0, is_valid: false });
    expect((await client().patch(`${base}/${made.id}`, { max_uses: 0 })).body.uses_left).toBe(999_997);
  });

  it('shows who used it', async () => {
    const made = await create({ max_uses: 20 });
    const users: ActorClient[] = [];
    for (let index = 0; index < 12; index++) {
      const user = await userClient(t.app, server);
      await user.post('/cabinet/promocode/activate', { code: made.code });
      users.push(user);
    }
    const { body } = await client().get(`${base}/${made.id}`);
    expect(body).toMatchObject({ current_uses: 12, uses_left: 8, total_uses: 12, today_uses: 12 });
    expect(body.recent_uses).toHaveLength(10);
    const { user } = users.at(-1)!;
    expect(body.recent_uses[0]).toMatchObject({
      user_id: user.id,
      user_messenger_id: user.messengerId,
      used_at: t.app.clock.now().toISOString(),
    });
    expect(body.recent_uses[0].user_full_name).toMatch(/^User \d+$/);
    expect(body.recent_uses[0].user_username).toMatch(/^user\d+$/);
  });

  it('deletes a code with its uses, also the prize of a spin: the spin stays and shows no code', async () => {
    const [made, prize] = [await create(), await create()];
    const user = await userClient(t.app, server);
    await user.post('/cabinet/promocode/activate', { code: made.code });
    const gone = await client().delete(`${base}/${made.id}`);
    expect([gone.status, gone.body]).toEqual([200, { success: true }]);
    expect((await client().delete(`${base}/${made.id}`)).body).toEqual({ detail: 'Promo code not found' });
    expect(await t.app.db.sql('SELECT id FROM promocode_uses WHERE promocode_id = $1::int', [made.id])).toEqual([]);
    await storeRow(t.app, 'WheelSpin', {
      userId: user.user.id,
      paymentType: 'subscription_days',
      paymentAmount: 1,
      paymentValueKopeks: 1,
      prizeType: 'promocode',
      prizeValue: 0,
      prizeDisplayName: 'x',
      prizeValueKopeks: 0,
      generatedPromocodeId: prize.id,
      isApplied: true,
    });
    const deleted = await client().delete(`${base}/${prize.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { success: true }]);
    expect((await client().get(`${base}/${prize.id}`)).status).toBe(404);
    const spins = await t.app.db.sql(
      'SELECT generated_promocode_id, prize_type, prize_display_name, is_applied FROM wheel_spins WHERE user_id = $1::int',
      [user.user.id],
    );
    expect(spins).toEqual([{ generatedPromocodeId: null, prizeType: 'promocode', prizeDisplayName: 'x', isApplied: true }]);
    const history = await user.get('/cabinet/wheel/history');
    expect(history.body).toMatchObject({ total: 1, items: [{ prize_type: 'promocode', prize_display_name: 'x' }] });
    expect(JSON.stringify(history.body)).not.toContain(prize.code);
    await t.app.db.sql('DELETE FROM wheel_spins WHERE user_id = $1::int RETURNING id', [user.user.id]);
  });

  it('answers 404 to unknown ids', async () => {
    for (const reply of [
      await client().get(`${base}/${UNKNOWN}`),
      await client().patch(`${base}/${UNKNOWN}`, {}),
      await client().delete(`${base}/${UNKNOWN}`),
    ]) {
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Promo code not found' }]);
    }
  });
});

describe('what the areas differ in', () => {
  it('tokens name the creator, where 0 and less is no creator and an unknown user is 404', async () => {
    const user = await aUser(t.app);
    expect((await create({ created_by: user.id })).created_by).toBe(user.id);
    expect((await create({ created_by: 0 })).created_by).toBeNull();
    const stranger = await web.post('/promo-codes', aBody({ created_by: UNKNOWN }));
    expect([stranger.status, stranger.body]).toEqual([404, { detail: 'User not found' }]);
  });

  it('administrators set the first-purchase flag and the group', async () => {
    const group = await aGroup(t.app);
    const made = await create({ type: 'promo_group', first_purchase_only: true, promo_group_id: group }, admin);
    expect(made).toMatchObject({ first_purchase_only: true, promo_group_id: group });
    expect((await admin.patch(`/cabinet/admin/promocodes/${made.id}`, { promo_group_id: null })).body.promo_group_id).toBe(group);
    const unknown = await admin.post('/cabinet/admin/promocodes', aBody({ promo_group_id: UNKNOWN }));
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Promo group not found' }]);
  });

  it('requires the permission of the operation', async () => {
    const reader = await adminClient(t.app, server, ['promocodes:read']);
    expect((await reader.get('/cabinet/admin/promocodes')).status).toBe(200);
    expect((await reader.post('/cabinet/admin/promocodes', aBody())).status).toBe(403);
    expect((await reader.post('/cabinet/admin/promocodes/deactivate-discount/1')).status).toBe(403);
    expect((await clientOf(server).get('/promo-codes')).status).toBe(401);
  });
});

describe('the cabinet', () => {
  it('activates, with the balance in rubles, and gives a discount back', async () => {
    const user = await userClient(t.app, server, { language: 'en' });
    const { code } = await create();
    const given = await user.post('/cabinet/promocode/activate', { code });
    expect(given.body).toEqual({
      success: true,
      message: 'Promo code activated successfully',
      balance_before: 0,
      balance_after: 15,
      bonus_description: '15 ₽ added to your balance',
    });
    const discount = await create({ type: 'discount', balance_bonus_kopeks: 30, subscription_days: 5 });
    await user.post('/cabinet/promocode/activate', { code: discount.code });
    const back = await user.post('/cabinet/promocode/deactivate-discount');
    expect(back.body).toMatchObject({ success: true, deactivated_code: discount.code, discount_percent: 30 });
    const none = await user.post('/cabinet/promocode/deactivate-discount');
    expect([none.status, none.body]).toEqual([400, { detail: 'No active discount promo code found' }]);
  });

  it('holds the bounds of the code and answers a repeat by its key', async () => {
    const user = await userClient(t.app, server);
    for (const code of ['', 'x'.repeat(51), null, 5, undefined]) {
      expect((await user.post('/cabinet/promocode/activate', { code })).status).toBe(422);
    }
    expect((await user.post('/cabinet/promocode/activate', { code: 'x'.repeat(50) })).status).toBe(400);
    const { code } = await create();
    const keyed = user.with({ 'idempotency-key': 'once' });
    const first = await keyed.post('/cabinet/promocode/activate', { code });
    expect(first.status).toBe(200);
    expect((await keyed.post('/cabinet/promocode/activate', { code })).body).toEqual(first.body);
    expect((await user.post('/cabinet/promocode/activate', { code })).status).toBe(400);
  });

  it('lets an administrator end the discount, with a message that names the user', async () => {
    const user = await userClient(t.app, server);
    const { code } = await create({ type: 'discount', balance_bonus_kopeks: 30, subscription_days: 5 });
    await user.post('/cabinet/promocode/activate', { code });
    const path = `/cabinet/admin/promocodes/deactivate-discount/${user.user.id}`;
    const ended = await admin.post(path);
    expect(ended.body).toMatchObject({ success: true, deactivated_code: code, discount_percent: 30, user_id: user.user.id });
    expect(ended.body.message).toContain(String(user.user.id));
    expect((await admin.post(path)).body).toEqual({ detail: 'User has no active discount' });
    const unknown = await admin.post(`/cabinet/admin/promocodes/deactivate-discount/${UNKNOWN}`);
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'User not found' }]);
  });
});
