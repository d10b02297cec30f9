import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ActorClient } from '../../support/actors.ts';
import type { ApiClient } from '../../support/api.ts';
import { aUser } from '../../support/builders.ts';
import { aTariff, rowOf } from '../../support/sale-samples.ts';
import type { TestApp } from '../../support/test-app.ts';
import {
  ADMIN,
  aBody,
  aCampaignBy,
  aPartner,
  aSlug,
  type CampaignFixture,
  campaignFixture,
  signIn,
  UNKNOWN,
} from './campaign-fixture.ts';

let fixture: CampaignFixture;
let t: TestApp;
let server: FastifyInstance;
let web: ApiClient;
let admin: ActorClient;

beforeAll(async () => {
  fixture = await campaignFixture();
  ({ t, server, web, admin } = fixture);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM advertising_campaigns');
});

const create = (fields: Record<string, unknown> = {}, client: ApiClient = admin) =>
  aCampaignBy(client, client === web ? '/campaigns' : ADMIN, fields);

const areas = [
  ['/campaigns', () => web, 'patch'],
  [ADMIN, () => admin, 'put'],
] as const;

describe.each(areas)('%s', (base, client, change) => {
  it('creates, lists and changes with name and slug trimmed and the letters of the slug as they are', async () => {
    const tariffId = await aTariff(t.app, { name: 'Gold' });
    const slug = aSlug();
    const made = await client().post(base, aBody({ name: '  Spring ', start_parameter: slug, subscription_squads: ['a', 'b'] }));
    const now = t.app.clock.now().toISOString();
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      name: 'Spring',
      start_parameter: slug,
      bonus_type: 'balance',
      is_active: true,
      subscription_squads: ['a', 'b'],
      balance_bonus_kopeks: 1_500,
      balance_bonus_rubles: 15,
      tariff_id: null,
      created_at: now,
      updated_at: now,
    });
    t.clock.advance(1_000);
    const fields = { bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 9, name: null, is_active: false };
    const changed = await client()[change](`${base}/${made.body.id}`, fields);
    expect(changed.body).toMatchObject({
      name: 'Spring',
      start_parameter: slug,
      bonus_type: 'tariff',
      tariff_id: tariffId,
      tariff_duration_days: 9,
      is_active: false,
      created_at: now,
      updated_at: t.app.clock.now().toISOString(),
      balance_bonus_kopeks: 1_500,
    });
    expect(changed.body.tariff_name ?? changed.body.tariff.name).toBe('Gold');
  });

  it('null clears what can be empty and nothing else', async () => {
    const { id } = await create({
      bonus_type: 'subscription',
      subscription_duration_days: 3,
      subscription_traffic_gb: 5,
      subscription_device_limit: 2,
      tariff_id: await aTariff(t.app),
      tariff_duration_days: 4,
    });
    const path = `${base}/${id}`;
    const kept = { name: null, start_parameter: null, bonus_type: null, balance_bonus_kopeks: null, is_active: null };
    const before = (await client()[change](path, {})).body;
    expect((await client()[change](path, { ...kept, subscription_squads: null })).body).toEqual(before);
    const cleared = await client()[change](path, {
      bonus_type: 'none',
      subscription_duration_days: null,
      subscription_traffic_gb: null,
      subscription_device_limit: null,
      tariff_id: null,
      tariff_duration_days: null,
    });
    expect(cleared.body).toMatchObject({
      subscription_duration_days: null,
      subscription_traffic_gb: null,
      subscription_device_limit: null,
      tariff_id: null,
      tariff_duration_days: null,
      balance_bonus_kopeks: 1_500,
    });
  });

  it('lists newest first, inactive ones too unless asked otherwise, in pages', async () => {
    const [one, two] = [await create(), await create({ is_active: false })];
    const read = async (query: string) => {
      const { body } = await client().get(`${base}?${query}`);
      return { ids: (body.items ?? body.campaigns).map((item: { id: number }) => item.id), total: body.total };
    };
    expect(await read('')).toEqual({ ids: [two.id, one.id], total: 2 });
    expect(await read('include_inactive=false')).toEqual({ ids: [one.id], total: 1 });
    expect(await read('limit=1&offset=1')).toEqual({ ids: [one.id], total: 2 });
    expect(await read('offset=99')).toEqual({ ids: [], total: 2 });
    for (const query of ['limit=0', 'limit=201', 'offset=-1', 'include_inactive=perhaps']) {
      expect((await client().get(`${base}?${query}`)).status).toBe(422);
    }
  });

  it('holds the bounds', async () => {
    for (const fields of [
      { name: '' },
      { name: '   ' },
      { name: 'x'.repeat(256) },
      { start_parameter: '' },
      { start_parameter: 'x'.repeat(65) },
      { bonus_type: 'money' },
      { balance_bonus_kopeks: -1 },
      { balance_bonus_kopeks: 2_147_483_648 },
      { subscription_duration_days: 36_501 },
      { subscription_traffic_gb: -1 },
      { subscription_traffic_gb: 2_147_483_648 },
      { tariff_duration_days: 0 },
      { tariff_duration_days: 36_501 },
      { subscription_squads: [1] },
    ]) {
      expect([fields, (await client().post(base, aBody(fields))).status]).toEqual([fields, 422]);
    }
    for (const fields of [{ name: 'x'.repeat(255) }, { start_parameter: 'x'.repeat(64) }, { name: 'x', start_parameter: 'x' }]) {
      expect((await client().post(base, aBody(fields))).status).toBe(200);
    }
    expect((await rowOf<{ n: number }>(t.app, 'SELECT count(*)::int AS n FROM advertising_campaigns')).n).toBe(3);
  });

  it('refuses a slug twice, on creation and change', async () => {
    const [one, two] = [await create(), await create()];
    const detail =
      base === ADMIN
        ? `Campaign with start parameter '${one.start_parameter}' already exists`
        : 'Campaign with this start_parameter already exists';
    const again = await client().post(base, aBody({ start_parameter: one.start_parameter }));
    expect([again.status, again.body]).toEqual([400, { detail }]);
    const renamed = await client()[change](`${base}/${two.id}`, { start_parameter: one.start_parameter });
    expect([renamed.status, renamed.body]).toEqual([400, { detail }]);
    expect((await client().post(base, aBody({ start_parameter: one.start_parameter.toUpperCase() }))).status).toBe(200);
  });

  it('refuses a tariff that does not exist', async () => {
    const bonus = { bonus_type: 'tariff', tariff_duration_days: 3 };
    for (const fields of [
      { ...bonus, tariff_id: UNKNOWN },
      { ...bonus, tariff_id: 9_007_199_254_740_000 },
      { tariff_id: UNKNOWN },
    ]) {
      const reply = await client().post(base, aBody(fields));
      expect([reply.status, reply.body]).toEqual([400, { detail: 'Tariff not found' }]);
    }
    const { id } = await create();
    expect((await client()[change](`${base}/${id}`, { ...bonus, tariff_id: UNKNOWN })).body).toEqual({
      detail: 'Tariff not found',
    });
  });

  it('answers 404 to unknown ids, however large', async () => {
    for (const id of [UNKNOWN, 9_007_199_254_740_000]) {
      const path = `${base}/${id}`;
      for (const reply of [await client()[change](path, {}), await client().delete(path)]) {
        expect([reply.status, reply.body]).toEqual([404, { detail: 'Campaign not found' }]);
      }
    }
  });

  it('can be switched off after its tariff was deleted', async () => {
    const tariffId = await aTariff(t.app);
    const { id } = await create({ bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 3 });
    await t.app.db.sql('DELETE FROM tariffs WHERE id = $1::int RETURNING id', [tariffId]);
    const off = await client()[change](`${base}/${id}`, { is_active: false, name: 'Over' });
    expect(off.body).toMatchObject({ is_active: false, name: 'Over', tariff_id: null });
    const refused = await client()[change](`${base}/${id}`, { tariff_duration_days: 5 });
    expect(refused.status).toBe(base === ADMIN ? 400 : 422);
  });
});

describe('Web API', () => {
  it('spec 04 section 6.4: the id of an API token is no user: created_by is null, and a repeat says what it is', async () => {
    await aUser(t.app);
    expect((await create({}, web)).created_by).toBeNull();
    expect((await create({}, admin)).created_by).toBe(admin.user.id);
  });

  it.each([
    ['balance_bonus_kopeks', { balance_bonus_kopeks: 0 }],
    ['balance_bonus_kopeks', { balance_bonus_kopeks: undefined }],
    ['subscription_duration_days', { bonus_type: 'subscription' }],
    ['subscription_duration_days', { bonus_type: 'subscription', subscription_duration_days: 0 }],
    ['tariff_id', { bonus_type: 'tariff', tariff_duration_days: 3 }],
    ['tariff_duration_days', { bonus_type: 'tariff', tariff_id: 1 }],
  ])(
    'spec 04 section 6.4: a bonus that could never be given is 422 at %s, also where the field is absent',
    async (field, fields) => {
      const reply = await web.post('/campaigns', aBody(fields));
      expect(reply.status).toBe(422);
      expect(reply.body.detail).toEqual([
        { loc: ['body', field], type: 'value_error', msg: expect.stringContaining(field), input: expect.toSatisfy(() => true) },
      ]);
    },
  );

  it('counts the characters of a name, not their halves', async () => {
    const name = '🎁'.repeat(255);
    for (const [client, path] of [
      [web, '/campaigns'],
      [admin, '/cabinet/admin/campaigns'],
    ] as const) {
      expect(await client.post(path, aBody({ name }))).toMatchObject({ status: 200, body: { name } });
      expect((await client.post(path, aBody({ name: `${name}x` }))).body.detail).toMatchObject([
        { loc: ['body', 'name'], type: 'string_too_long', ctx: { max_length: 255 } },
      ]);
    }
  });

  it('validates the bonus that results from a change', async () => {
    const { id } = await create({}, web);
    const path = `/campaigns/${id}`;
    expect((await web.patch(path, { balance_bonus_kopeks: 0 })).status).toBe(422);
    expect((await web.patch(path, { bonus_type: 'subscription' })).status).toBe(422);
    expect((await web.patch(path, { bonus_type: 'none', balance_bonus_kopeks: 0 })).status).toBe(200);
    expect((await web.patch(path, { bonus_type: 'balance', balance_bonus_kopeks: 5 })).status).toBe(200);
  });

  it('answers the whole campaign, with the number of registrations', async () => {
    const made = await create({}, web);
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Spring',
      start_parameter: made.start_parameter,
      bonus_type: 'balance',
      balance_bonus_kopeks: 1_500,
      balance_bonus_rubles: 15,
      subscription_duration_days: null,
      subscription_traffic_gb: null,
      subscription_device_limit: null,
      subscription_squads: [],
      tariff_id: null,
      tariff_duration_days: null,
      tariff_name: null,
      is_active: true,
      created_by: null,
      created_at: t.app.clock.now().toISOString(),
      updated_at: t.app.clock.now().toISOString(),
      registrations_count: 0,
    });
    for (const _ of [1, 2]) expect((await signIn(fixture, made.start_parameter)).status).toBe(200);
    expect((await web.get('/campaigns')).body).toMatchObject({
      total: 1,
      limit: 50,
      offset: 0,
      items: [{ id: made.id, registrations_count: 2 }],
    });
  });

  it('deletes a campaign with its registrations, while what partners earned stays', async () => {
    const partner = await aPartner(fixture);
    const made = await create({ partner_user_id: partner });
    expect((await signIn(fixture, made.start_parameter)).status).toBe(200);
    const gone = await web.delete(`/campaigns/${made.id}`);
    expect([gone.status, gone.body]).toEqual([200, { success: true }]);
    expect(
      await t.app.db.sql('SELECT id FROM advertising_campaign_registrations WHERE campaign_id = $1::int', [made.id]),
    ).toEqual([]);
    expect(await t.app.db.sql<object>('SELECT campaign_id FROM referral_earnings WHERE user_id = $1::int', [partner])).toEqual([
      { campaignId: null },
    ]);
  });
});
