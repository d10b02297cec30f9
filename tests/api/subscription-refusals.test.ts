/** What the operations on the own subscription refuse, in the cabinet and in the mini-app (spec 02 sections 5 and 12). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { aBuyer, aMembership, aServer, aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type Switches, switchableApp } from '../support/switchable-app.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let switches: Switches;
let server: FastifyInstance;
let anonymous: ApiClient;
let isPanelSetUp = true;
beforeAll(async () => {
  const made = await testApp({ environment: { SALES_MODE: 'tariffs' } });
  const panel = { ...made.app.ports.panel, configurationError: () => (isPanelSetUp ? null : 'no address') };
  const switchable = switchableApp({ ...made.app, ports: { ...made.app.ports, panel } });
  switches = switchable.switches;
  t = { ...made, app: switchable.app };
  server = await testServer(t.app);
  anonymous = clientOf(server);
});
beforeEach(() => {
  switches.restore();
  isPanelSetUp = true;
});
afterAll(() => server.close());

type Columns = Record<string, unknown>;
type Answer = [status: number, detail: string];
type Operation = [method: 'POST' | 'PUT', path: string, body?: (value: number) => Columns];
/** What is refused, and with what: the cabinet's sentence or the text of its object, the mini-app's code. */
type Case = [
  name: string,
  prepare: (user: ActorClient) => Promise<number | null>,
  cabinet: Answer | null,
  miniapp: Answer | null,
];

const ENDED = { end_date: new Date(0) };
const PACKAGES = { traffic_topup_enabled: true, traffic_topup_packages: { 10: 1_000 } };
const NOBODY = 2_147_000_000;

async function storeSubscription(user: ActorClient, columns: Columns = {}, tariff: Columns | null = {}): Promise<number | null> {
  await topUp(t.app, user.user.id, 100_000);
  const tariffId = tariff === null ? null : await aTariff(t.app, tariff);
  await aStoredSubscription(t.app, user.user.id, { tariff_id: tariffId, ...columns });
  return tariffId;
}

/** The user has such a subscription and asks for something else. */
function subscribedWith(columns: Columns, tariff: Columns, asked: () => number | Promise<number>): Case[1] {
  return async (user) => {
    await storeSubscription(user, columns, tariff);
    return asked();
  };
}

const textOf = (detail: string | { message: string }) => (typeof detail === 'string' ? detail : detail.message);

async function refuse(operations: Operation[], area: 'cabinet' | 'miniapp', prepare: Case[1], expected: Answer) {
  for (const [method, path, bodyOf = () => ({})] of operations) {
    const user = await userClient(t.app, server, { language: 'en' });
    const body = bodyOf((await prepare(user)) ?? 0);
    const { status, body: answer } =
      area === 'cabinet'
        ? await user.send(method, path, body)
        : await anonymous.send(method, path, { ...body, initData: initDataOf(t, user.user) });
    expect([path, status, area === 'cabinet' ? textOf(answer.detail) : answer.detail.code]).toEqual([path, ...expected]);
  }
}

interface Group {
  cabinet: Operation[];
  miniapp: Operation[];
  cases: Case[];
}

const tariffs: Group = {
  cabinet: ['/preview', ''].map((ending) => [
    'POST',
    `/cabinet/subscription/tariff/switch${ending}`,
    (id) => ({ tariff_id: id, period_days: 30 }),
  ]),
  miniapp: ['/preview', ''].map((ending) => [
    'POST',
    `/miniapp/subscription/tariff/switch${ending}`,
    (id) => ({ tariff_id: id }),
  ]),
  cases: [
    [
      'outside of tariffs mode',
      async (user) => {
        await storeSubscription(user);
        switches.settings.set('SALES_MODE', 'classic');
        return aTariff(t.app);
      },
      [400, 'Tariffs mode is not enabled'],
      [400, 'tariffs_mode_disabled'],
    ],
    ['without a subscription', async () => aTariff(t.app), [400, 'No active subscription with tariff'], [400, 'no_subscription']],
    [
      'of an ended subscription',
      subscribedWith(ENDED, {}, () => aTariff(t.app)),
      [400, 'The subscription has expired. Please make a new purchase.'],
      [400, 'subscription_inactive'],
    ],
    [
      'of a disabled subscription',
      subscribedWith({ status: 'disabled' }, {}, () => aTariff(t.app)),
      [400, 'The subscription is not active'],
      [400, 'subscription_inactive'],
    ],
    [
      'to an unknown tariff',
      subscribedWith({}, {}, () => NOBODY),
      [404, 'Tariff not found or inactive'],
      [404, 'tariff_not_found'],
    ],
    ['to the same tariff', (user) => storeSubscription(user), [400, 'Already on this tariff'], [400, 'same_tariff']],
    [
      'to a daily tariff without a price',
      subscribedWith({}, {}, () => aTariff(t.app, { is_daily: true, daily_price_kopeks: 0 })),
      [400, 'Daily tariff has invalid price'],
      [400, 'daily_price_invalid'],
    ],
    [
      'to a tariff without a price to switch at',
      subscribedWith({}, {}, () => aTariff(t.app, { period_prices: {} })),
      [400, 'This tariff has no price to switch at'],
      [400, 'period_unavailable'],
    ],
  ],
};

async function tariffOfOthers(user: ActorClient): Promise<number> {
  await storeSubscription(user);
  const tariffId = await aTariff(t.app);
  const promoGroupId = await aMembership(t.app, (await aBuyer(t.app)).userId, {});
  await storeRow(t.app, 'TariffPromoGroup', { tariffId, promoGroupId });
  return tariffId;
}

/** A classic subscription without money for anything further. */
async function aPoorSubscriber({ user }: ActorClient): Promise<null> {
  setTo('SALES_MODE', 'classic');
  await aStoredSubscription(t.app, user.id, { tariff_id: null });
  return null;
}

function setTo(key: string, value: unknown): null {
  switches.settings.set(key, value);
  return null;
}

async function paid({ user }: ActorClient): Promise<null> {
  await t.app.db.sql('UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int RETURNING id', [user.id]);
  return null;
}

const groups: Record<string, Group> = {
  'A switch of the tariff': tariffs,
  'The trial': {
    cabinet: [['POST', '/cabinet/subscription/trial']],
    miniapp: [['POST', '/miniapp/subscription/trial']],
    cases: [
      [
        'for another type of account',
        async () => setTo('TRIAL_DISABLED_FOR', 'messenger'),
        [400, 'Trial is not available for your account type'],
        [400, 'trial_unavailable'],
      ],
      [
        'without a length',
        async () => setTo('TRIAL_DURATION_DAYS', 0),
        [400, 'Trial is not available for your account type'],
        [400, 'trial_disabled'],
      ],
      ['after a purchase', paid, [400, 'Trial already used'], [400, 'trial_expired']],
    ],
  },
  'The pause of a daily subscription': {
    cabinet: [['POST', '/cabinet/subscription/pause']],
    miniapp: [['POST', '/miniapp/subscription/daily/toggle-pause']],
    cases: [
      [
        'of a tariff without a price',
        (user) => storeSubscription(user, { status: 'disabled' }, { is_daily: true, daily_price_kopeks: 0 }),
        [400, 'Daily tariff has invalid price'],
        [400, 'daily_price_invalid'],
      ],
    ],
  },
  'A package of traffic': {
    cabinet: ['', '/save-cart'].map((ending) => ['POST', `/cabinet/subscription/traffic${ending}`, (id) => ({ gb: id })]),
    miniapp: [['POST', '/miniapp/subscription/traffic-topup', (id) => ({ gb: id })]],
    cases: [
      [
        'of a tariff without packages',
        subscribedWith({}, { traffic_topup_enabled: false }, () => 10),
        [400, 'Traffic top-up is disabled for this tariff'],
        [403, 'traffic_topup_disabled'],
      ],
      [
        'above the maximum',
        subscribedWith({}, { ...PACKAGES, max_topup_traffic_gb: 105 }, () => 10),
        [400, 'Traffic limit exceeded. Max: 105 GB, available: 5 GB'],
        [400, 'topup_limit_exceeded'],
      ],
      [
        'that there is not',
        subscribedWith({}, PACKAGES, () => 11),
        [400, 'Traffic package 11GB is not available'],
        [400, 'invalid_package'],
      ],
      [
        'for an unlimited subscription',
        subscribedWith({ traffic_limit_gb: 0 }, PACKAGES, () => 10),
        [400, 'Cannot add traffic to unlimited subscription'],
        [400, 'unlimited_traffic'],
      ],
      [
        'during the trial',
        subscribedWith({ is_trial: true, status: 'trial' }, PACKAGES, () => 10),
        [400, 'Not available during the trial'],
        null,
      ],
      [
        'for an ended subscription',
        subscribedWith({ ...ENDED }, PACKAGES, () => 10),
        [400, 'The subscription is not active'],
        null,
      ],
    ],
  },
  'Further devices': {
    cabinet: ['/purchase', '', '/save-cart'].map((ending) => [
      'POST',
      `/cabinet/subscription/devices${ending}`,
      () => ({ devices: 1 }),
    ]),
    miniapp: [],
    cases: [
      [
        'without a price',
        (user) => storeSubscription(user, {}, { device_price_kopeks: 0 }),
        [400, 'Buying devices is not available'],
        null,
      ],
      [
        'above the maximum',
        (user) => storeSubscription(user, { device_limit: 2 }, { device_price_kopeks: 1_000, max_device_limit: 2 }),
        [400, 'Maximum number of devices: 2'],
        null,
      ],
      [
        'for an ended subscription',
        (user) => storeSubscription(user, { ...ENDED }, { device_price_kopeks: 1_000 }),
        [400, 'The subscription is not active'],
        null,
      ],
    ],
  },
  'A purchase of a tariff': {
    cabinet: [['POST', '/cabinet/subscription/purchase-tariff', (id) => ({ tariff_id: id, period_days: 30 })]],
    miniapp: [],
    cases: [
      [
        'that the balance does not cover',
        (user) => storeSubscription(user, {}, { period_prices: { 30: 200_000 } }),
        [402, 'Not enough money on the balance. 1000 ₽ is missing.'],
        null,
      ],
      ['that does not exist', async () => NOBODY, [404, 'Tariff not found or inactive'], null],
    ],
  },
  'Another package of a classic subscription': {
    cabinet: [['PUT', '/cabinet/subscription/traffic', () => ({ gb: 250 })]],
    miniapp: [['POST', '/miniapp/subscription/traffic', () => ({ traffic: 250 })]],
    cases: [
      [
        'during the trial',
        (user) => storeSubscription(user, { is_trial: true, status: 'trial' }, null),
        [403, 'Traffic management is only available for paid subscriptions'],
        null,
      ],
      [
        'that the balance does not cover',
        aPoorSubscriber,
        [402, 'Insufficient balance. Need 20.00 RUB'],
        [402, 'insufficient_funds'],
      ],
      [
        'while one limit is for all',
        (user) => {
          setTo('TRAFFIC_SELECTION_MODE', 'fixed');
          return storeSubscription(user, {}, null);
        },
        null,
        [403, 'traffic_fixed'],
      ],
    ],
  },
  'The removal of a device': {
    cabinet: [],
    miniapp: [['POST', '/miniapp/devices/remove', () => ({ hwid: 'A1B2C3D4E5F6' })]],
    cases: [
      [
        'without a panel',
        async (user) => {
          isPanelSetUp = false;
          return storeSubscription(user);
        },
        null,
        [503, 'service_unavailable'],
      ],
    ],
  },
};

describe.each(Object.entries(groups))('%s is refused', (_group, { cabinet, miniapp, cases }) => {
  const ofCabinet = cases.flatMap(([name, prepare, expected]) => (expected ? [[name, prepare, expected] as const] : []));
  const ofMiniapp = cases.flatMap(([name, prepare, , expected]) => (expected ? [[name, prepare, expected] as const] : []));
  test.each(ofCabinet)('in the cabinet: %s', (_name, prepare, expected) => refuse(cabinet, 'cabinet', prepare, expected));
  test.each(ofMiniapp)('in the mini-app: %s', (_name, prepare, expected) => refuse(miniapp, 'miniapp', prepare, expected));
});

test.each([
  ['cabinet', '/preview', 'Tariff not available for your promo group'],
  ['cabinet', '', 'Tariff not available'],
  ['miniapp', '/preview', 'Tariff not available for your promo group'],
  ['miniapp', '', 'Tariff not available'],
])('a switch to a tariff of another promo group is refused: %s %s', async (area, ending, message) => {
  const user = await userClient(t.app, server, { language: 'en' });
  const tariff_id = await tariffOfOthers(user);
  const body = { tariff_id, ...(area === 'cabinet' ? { period_days: 30 } : { initData: initDataOf(t, user.user) }) };
  const reply = await user.post(`/${area}/subscription/tariff/switch${ending}`, body);
  expect([reply.status, textOf(reply.body.detail)]).toEqual([403, message]);
});

test('a package of traffic that the balance does not cover is refused in the cabinet, and the order is saved', async () => {
  const user = await userClient(t.app, server, { language: 'en' });
  await aStoredSubscription(t.app, user.user.id, { tariff_id: await aTariff(t.app, PACKAGES) });
  const reply = await user.post('/cabinet/subscription/traffic', { gb: 10 });
  expect(reply.body.detail).toMatchObject({ code: 'insufficient_funds', cart_saved: true, missing_amount: 1_000 });
});

test('a further server that the balance does not cover is refused in the mini-app', async () => {
  const user = await userClient(t.app, server, { language: 'en' });
  await aPoorSubscriber(user);
  const squad_uuid = crypto.randomUUID();
  await aServer(t.app, { squad_uuid, price_kopeks: 10_000 });
  const reply = await anonymous.post('/miniapp/subscription/servers', {
    servers: [squad_uuid],
    initData: initDataOf(t, user.user),
  });
  expect([reply.status, reply.body.detail.code]).toEqual([402, 'insufficient_funds']);
});

// Older installations store it; new trials are active ones (spec 02 section 12.2: trials are admitted).
test('a subscription that is stored as a trial may change its traffic and its servers in the mini-app', async () => {
  const user = await userClient(t.app, server, { language: 'en' });
  setTo('SALES_MODE', 'classic');
  await storeSubscription(user, { is_trial: true, status: 'trial' }, null);
  const squad_uuid = crypto.randomUUID();
  await aServer(t.app, { squad_uuid, price_kopeks: 1_000 });
  const initData = initDataOf(t, user.user);
  for (const [change, body] of [
    ['traffic', { traffic: 250 }],
    ['servers', { servers: [squad_uuid] }],
    ['devices', { devices: 3 }],
  ] as const)
    expect([change, (await anonymous.post(`/miniapp/subscription/${change}`, { ...body, initData })).body]).toEqual([
      change,
      { success: true, message: expect.any(String) },
    ]);
});

test('a trial that the balance does not cover is refused in the cabinet', async () => {
  setTo('TRIAL_PAYMENT_ENABLED', true);
  setTo('TRIAL_ACTIVATION_PRICE', 10_000);
  const user = await userClient(t.app, server, { language: 'en' });
  await aServer(t.app, { is_trial_eligible: true });
  const reply = await user.post('/cabinet/subscription/trial');
  expect([reply.status, reply.body.detail]).toEqual([400, 'Insufficient balance. Need 100.00 RUB']);
});

test('the resumption of a daily subscription that the balance does not cover is refused in the cabinet', async () => {
  const user = await userClient(t.app, server, { language: 'en' });
  await aStoredSubscription(t.app, user.user.id, {
    tariff_id: await aTariff(t.app, { is_daily: true, daily_price_kopeks: 500 }),
    status: 'disabled',
  });
  const reply = await user.post('/cabinet/subscription/pause');
  expect([reply.status, reply.body.detail.code]).toEqual([402, 'insufficient_balance']);
});
