import { beforeEach, describe, expect, it } from 'vitest';
import { seedInstallation } from '../../../src/composition/start-service.ts';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import {
  effectiveSquadsOf,
  findTariff,
  findTrialTariff,
  listVisibleTariffs,
  lockTariff,
} from '../../../src/domain/catalog/find-tariff.ts';
import {
  changeTariff,
  createTariff,
  deleteTariff,
  ensureDefaultTariff,
  listTariffs,
  sortTariffs,
  toggleTariff,
  toggleTrialTariff,
} from '../../../src/domain/catalog/tariffs.ts';
import { changeOfferTemplate, listOfferTemplates, nameFirstOfferTemplates } from '../../../src/domain/promo/offers/offers.ts';
import { defaultPromoGroup, findPrimaryPromoGroup, listPromoGroups } from '../../../src/domain/promo-groups/find-groups.ts';
import { aUser, unique } from '../../support/builders.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';
import { freshDatabase } from '../../support/test-database.ts';

const actor = { kind: 'system', name: 'test' } as const;
let app: App;

beforeEach(async () => {
  ({ app } = await testApp());
  await app.db.sql('DELETE FROM tariffs');
  await app.db.sql('DELETE FROM server_squads');
  // Without a server an open tariff is not offered (08 P5).
  await storeRow(app, 'ServerSquad', { squadUuid: 'squad', displayName: 'S', isAvailable: true });
});

const make = (request: Partial<Parameters<typeof createTariff>[2]> = {}) =>
  createTariff(app, actor, { name: 'Basic', ...request });

async function aGroup(priority = 0): Promise<number> {
  const row = await storeRow(app, 'PromoGroup', { name: `Group ${unique()}`, priority });
  return row.id;
}

async function subscribe(tariffId: number, status: Rows['Subscription']['status'], days: number): Promise<number> {
  const user = await aUser(app);
  const row = await storeRow(app, 'Subscription', { userId: user.id, status, endDate: addDays(app.clock.now(), days), tariffId });
  return row.id;
}

const syncJobs = (tariffId: number) =>
  app.db.sql("SELECT id FROM jobs.job WHERE name = 'provisioning.sync-squads' AND data->>'tariffId' = $1", [String(tariffId)]);

describe('a tariff', () => {
  it('reads back what was written', async () => {
    const group = await aGroup();
    const made = await make({
      name: '  Basic  ',
      description: 'd',
      periodPrices: { 30: 9900, 90: 25000 },
      allowedSquads: ['a', 'b', 'a'],
      serverTrafficLimits: { a: { trafficLimitGb: 5 } },
      trafficTopupPackages: { 10: 5000, oops: 1 } as Record<number, number>,
      trafficResetMode: 'week',
      externalSquadUuid: 'E87E4A00-0000-4000-8000-000000000001',
      promoGroupIds: [group, 987_654],
      displayOrder: 9,
    });
    expect(made).toMatchObject({
      name: 'Basic',
      displayOrder: 0,
      isTrialAvailable: false,
      periodPrices: { 30: 9900, 90: 25000 },
      allowedSquads: ['a', 'b'],
      serverTrafficLimits: { a: { trafficLimitGb: 5 } },
      trafficTopupPackages: { 10: 5000 },
      trafficResetMode: 'WEEK',
      externalSquadUuid: 'e87e4a00-0000-4000-8000-000000000001',
      allowedPromoGroupIds: [group],
    });
    expect(await findTariff(app, made.id)).toEqual(made);
    expect(await inTransaction(app, (t) => lockTariff(t, made.id))).toEqual(made);
    expect(await findTariff(app, 99_999_999_999)).toBeNull();
  });

  it('changes only what is given, while an explicit null clears where null means something', async () => {
    const made = await make({ trafficResetMode: 'DAY', description: 'd', maxDeviceLimit: 3, promoGroupIds: [await aGroup()] });
    const changed = await changeTariff(app, actor, made.id, { deviceLimit: 4, trafficResetMode: null, promoGroupIds: [] });
    expect(changed).toMatchObject({ deviceLimit: 4, trafficResetMode: null, description: 'd', maxDeviceLimit: 3 });
    expect(changed.allowedPromoGroupIds).toEqual([]);
    await expect(changeTariff(app, actor, 987_654, {})).rejects.toMatchObject({ status: 404, detail: 'Tariff not found' });
  });

  it('refuses what no column or panel holds as 422', async () => {
    const issue = (type: string) => ({ status: 422, issues: [expect.objectContaining({ type })] });
    await expect(make({ name: '   ' })).rejects.toMatchObject(issue('string_too_short'));
    await expect(make({ trafficResetMode: 'HOURLY' })).rejects.toMatchObject(issue('literal_error'));
    await expect(make({ dailyPriceKopeks: 3_000_000_000 })).rejects.toMatchObject(issue('less_than_equal'));
    await expect(make({ trafficTopupPackages: { 5: -1 } })).rejects.toMatchObject(issue('greater_than_equal'));
  });

  it('starts a squad sync when squads change as a set or the external squad does, and only then', async () => {
    const { id } = await make({ allowedSquads: ['a', 'b'] });
    await changeTariff(app, actor, id, { allowedSquads: ['b', 'a'], name: 'Other' });
    expect(await syncJobs(id)).toHaveLength(0);
    await changeTariff(app, actor, id, { allowedSquads: ['a'] });
    await changeTariff(app, actor, id, { allowedSquads: ['c'] });
    expect(await syncJobs(id)).toHaveLength(1);
    const other = await make();
    await changeTariff(app, actor, other.id, { externalSquadUuid: 'e87e4a00-0000-4000-8000-000000000001' });
    expect(await syncJobs(other.id)).toHaveLength(1);
  });

  it('names all available servers, beyond any page, when it lists none (spec 02 H9)', async () => {
    await app.db.sql('DELETE FROM server_squads');
    const servers = Array.from({ length: 70 }, (_, n) => ({ squadUuid: `squad-${n}`, displayName: 'S', isAvailable: n < 60 }));
    await storeRows(app, 'ServerSquad', servers);
    expect(await effectiveSquadsOf(app, { allowedSquads: [] })).toHaveLength(60);
    expect(await effectiveSquadsOf(app, { allowedSquads: ['x'] })).toEqual(['x']);
  });
});

describe('the trial flag', () => {
  it('is on one tariff at most', async () => {
    const [first, second] = [await make(), await make()];
    expect(await findTrialTariff(app)).toBeNull();
    expect(await toggleTrialTariff(app, actor, first.id)).toBe(true);
    expect(await toggleTrialTariff(app, actor, second.id)).toBe(true);
    expect((await findTrialTariff(app))?.id).toBe(second.id);
    expect(await findTariff(app, first.id)).toMatchObject({ isTrialAvailable: false });
    expect(await toggleTrialTariff(app, actor, second.id)).toBe(false);
    expect(await findTrialTariff(app)).toBeNull();
    const configured = await testApp({ environment: { TRIAL_TARIFF_ID: String(first.id) } });
    expect((await findTrialTariff(configured.app))?.id).toBe(first.id);
    await expect(toggleTrialTariff(app, actor, 987_654)).rejects.toMatchObject({ status: 404 });
  });
});

describe('order, sale and deletion', () => {
  it('sorts by the given ids and passes over unknown ones', async () => {
    const tariffs = [await make({ name: 'A' }), await make({ name: 'B' }), await make({ name: 'C' })];
    await sortTariffs(app, actor, [tariffs[2]!.id, 987_654, tariffs[0]!.id, tariffs[1]!.id]);
    const listed = await listTariffs(app, { includeInactive: true });
    expect(listed.map((entry) => [entry.tariff.name, entry.tariff.displayOrder])).toEqual([
      ['C', 0],
      ['A', 2],
      ['B', 3],
    ]);
  });

  it('shows active tariffs to everyone or to members of their groups (spec 02 H19)', async () => {
    const group = await aGroup();
    const open = await make({ name: 'Open' });
    const restricted = await make({ name: 'Restricted', promoGroupIds: [group] });
    const off = await make({ name: 'Off' });
    expect(await toggleTariff(app, actor, off.id)).toBe(false);
    const ids = async (groupId: number | null) =>
      (await listVisibleTariffs(app, groupId === null ? null : { id: groupId })).map((tariff) => tariff.id);
    expect(await ids(null)).toEqual([open.id]);
    expect(await ids(group)).toEqual([open.id, restricted.id]);
    expect(await toggleTariff(app, actor, off.id)).toBe(true);
    await expect(toggleTariff(app, actor, 987_654)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['active', 5],
    ['trial', 5],
    ['limited', 5],
    ['pending', -5],
  ] as const)('refuses to delete a tariff with a subscription that is %s (spec 02 H18)', async (status, days) => {
    const { id } = await make();
    await subscribe(id, status, days);
    await expect(deleteTariff(app, actor, id)).rejects.toMatchObject({ status: 409, code: 'tariff_in_use' });
    expect(await findTariff(app, id)).not.toBeNull();
  });

  it('deletes one that only ended subscriptions were on, and they lose it', async () => {
    const { id } = await make();
    const ended = [await subscribe(id, 'expired', -5), await subscribe(id, 'active', -1)];
    expect(await deleteTariff(app, actor, id)).toEqual({ name: 'Basic', affectedSubscriptions: 2 });
    const rows = await app.db.sql('SELECT tariff_id FROM subscriptions WHERE id = ANY($1::int[])', [ended]);
    expect(rows).toEqual([{ tariffId: null }, { tariffId: null }]);
    await expect(deleteTariff(app, actor, id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('the first tariff', () => {
  it('is made of the settings once, and not when prices are all 0', async () => {
    const free = await testApp({
      environment: Object.fromEntries([14, 30, 60, 90, 180, 360].map((days) => [`PRICE_${days}_DAYS`, '0'])),
    });
    await ensureDefaultTariff(free.app);
    expect(await listTariffs(app, { includeInactive: true })).toEqual([]);
    await ensureDefaultTariff(app);
    await ensureDefaultTariff(app);
    const listed = await listTariffs(app, { includeInactive: true });
    expect(listed).toHaveLength(1);
    expect(listed[0]!.tariff).toMatchObject({
      isTrialAvailable: true,
      isActive: true,
      allowedSquads: [],
      trafficLimitGb: 100,
      deviceLimit: 1,
      periodPrices: { 14: 50000, 30: 99000, 60: 189000, 90: 269000, 180: 499000, 360: 899000 },
    });
  });
});

it.each([
  ['ru', 'Стандартный', 'Базовая группа', ['Скидка на продление', 'Скидка на покупку', 'Пробный доступ']],
  ['en', 'Standard', 'Default', ['Renewal discount', 'Purchase discount', 'Trial access']],
])('spec 10 R5: in a new shop of the language %s the first rows are named in it', async (language, tariff, group, offers) => {
  const { app: fresh } = await testApp({ database: await freshDatabase(), environment: { DEFAULT_LANGUAGE: language } });
  await ensureDefaultTariff(fresh);
  await seedInstallation(fresh);
  expect((await listTariffs(fresh, { includeInactive: true })).map((one) => one.tariff.name)).toEqual([tariff]);
  expect((await listPromoGroups(fresh)).map((one) => one.name)).toEqual([group]);
  const templates = await listOfferTemplates(fresh);
  expect(templates.map((one) => one.name)).toEqual(offers);
  for (const { messageText, buttonText } of templates) {
    expect([/[а-яё]/i.test(messageText), /[а-яё]/i.test(buttonText)]).toEqual([language === 'ru', language === 'ru']);
  }
  // A name that an administrator gave, and that of a service with users, stay.
  await fresh.db.sql("UPDATE promo_groups SET name = 'Default' WHERE is_default RETURNING id");
  await aUser(fresh);
  await fresh.db.sql("UPDATE promo_offer_templates SET name = 'Seeded' RETURNING id");
  await seedInstallation(fresh);
  expect((await listPromoGroups(fresh)).map((one) => one.name)).toEqual(['Default']);
  expect((await listOfferTemplates(fresh)).map((one) => one.name)).toEqual(['Seeded', 'Seeded', 'Seeded']);
});

it('spec 10 R5: a template that an administrator changed keeps its texts', async () => {
  const { app: fresh } = await testApp({ database: await freshDatabase(), environment: { DEFAULT_LANGUAGE: 'en' } });
  const [first] = await listOfferTemplates(fresh);
  await changeOfferTemplate(fresh, { kind: 'system', name: 'test' }, first!.id, { name: 'Mine' });
  await nameFirstOfferTemplates(fresh);
  expect((await listOfferTemplates(fresh)).map((one) => one.name)).toEqual(['Mine', 'Purchase discount', 'Trial access']);
});

describe('promo groups', () => {
  it('the primary one is the membership with the highest (priority, id), else the one on the user', async () => {
    const user = await aUser(app);
    const standard = await defaultPromoGroup(app);
    expect((await findPrimaryPromoGroup(app.db, user.id))?.id).toBe(standard.id);
    const [low, high, highest] = [await aGroup(1), await aGroup(7), await aGroup(7)];
    const join = (groupId: number) => storeRow(app, 'UserPromoGroup', { userId: user.id, promoGroupId: groupId });
    await join(low);
    expect((await findPrimaryPromoGroup(app.db, user.id))?.id).toBe(low);
    await join(high);
    await join(highest);
    expect((await findPrimaryPromoGroup(app.db, user.id))?.id).toBe(highest);
    expect(await findPrimaryPromoGroup(app.db, 987_654)).toBeNull();
    const listed = (await listPromoGroups(app)).map((group) => group.priority);
    expect(listed).toEqual([...listed].sort((a, b) => b - a));
  });
});
