import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { authenticateToken } from '../../src/domain/access/tokens.ts';
import { putSetting, resetSetting } from '../../src/domain/settings/change-setting.ts';
import { followSettings, storeOf } from '../../src/domain/settings/settings-store.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { busOf } from '../support/test-bus.ts';
import { accessToken, anApiToken, emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { connect, disconnectAll } from './socket-client.ts';

const SYSTEM = { kind: 'system' } as const;
const OFF = { code: 1008, reason: 'Not Found' };

/** Where settings are changed; the sockets are another instance's, which receives the change. */
let here: TestApp;
let there: TestApp;
let server: TestRealtime;
let token: string;
let unfollow: () => void;
/** Runs before an API token is looked at. */
let beforeToken = async (): Promise<void> => undefined;

beforeAll(async () => {
  [here, there] = [await testApp(), await testApp()];
  unfollow = await followSettings(there.app, storeOf(there.app), await busOf(there.database));
  token = (await anApiToken(here.app)).token;
});
beforeEach(async () => {
  beforeToken = async () => undefined;
  server = await startRealtime(there.app, there.database, {
    // No tick comes to the rescue.
    limits: { tickMs: 60_000 },
    overrides: {
      authenticateToken: async (...args) => {
        await beforeToken();
        return authenticateToken(...args);
      },
    },
  });
});
afterEach(async () => {
  for (const key of ['WEB_API_ENABLED', 'CABINET_ENABLED']) await resetSetting(here.app, SYSTEM, key);
  await settingIs(true);
  await settingIs(true, 'CABINET_ENABLED');
  disconnectAll();
  await server.close();
});
afterAll(() => unfollow());

async function feed() {
  const client = connect(`${server.url}/ws?token=${token}`);
  expect(await client.next()).toMatchObject({ type: 'connection' });
  return client;
}

async function cabinet(userId: number) {
  server.person(userId);
  const client = connect(`${server.url}/cabinet/ws?token=${accessToken(userId)}`);
  expect(await client.next()).toMatchObject({ type: 'connected' });
  return client;
}

it('closes every open /ws when the Web API is switched off on any instance, and lets the cabinet be', async () => {
  const clients = [await feed(), await feed()];
  const other = await cabinet(41);
  await putSetting(here.app, SYSTEM, 'WEB_API_ENABLED', false);
  expect(await Promise.all(clients.map((client) => client.closed))).toEqual([OFF, OFF]);
  await emit(here.app, { payload: { user_id: 41 } });
  await other.ping();
  expect(clients.flatMap((client) => client.received)).toHaveLength(2);
  expect(server.realtime.counts()).toEqual({ ws: 0, cabinet: 1 });
});

it('closes every open /cabinet/ws when the cabinet is switched off, and lets the Web API be', async () => {
  const clients = [await cabinet(42), await cabinet(43)];
  const other = await feed();
  await putSetting(here.app, SYSTEM, 'CABINET_ENABLED', false);
  expect(await Promise.all(clients.map((client) => client.closed))).toEqual([OFF, OFF]);
  await other.ping();
  expect(server.realtime.counts()).toEqual({ ws: 1, cabinet: 0 });
});

it('takes no socket whose credential was being looked at when the area was switched off', async () => {
  beforeToken = () => putSetting(here.app, SYSTEM, 'WEB_API_ENABLED', false).then(() => settingIs(false));
  const client = connect(`${server.url}/ws?token=${token}`);
  expect(await client.closed).toEqual(OFF);
  expect(client.received).toEqual([]);
});

it('serves again when the area is back', async () => {
  await putSetting(here.app, SYSTEM, 'WEB_API_ENABLED', false);
  await settingIs(false);
  await resetSetting(here.app, SYSTEM, 'WEB_API_ENABLED');
  await settingIs(true);
  await (await feed()).ping();
});

/** Resolves when the instance with the sockets has an area on, or off. */
function settingIs(isOn: boolean, key: 'WEB_API_ENABLED' | 'CABINET_ENABLED' = 'WEB_API_ENABLED'): Promise<void> {
  const store = storeOf(there.app);
  return new Promise((resolve) => {
    const look = () => {
      if (store.get(key) !== isOn) return;
      stop();
      resolve();
    };
    const stop = store.onChange(key, look);
    look();
  });
}
