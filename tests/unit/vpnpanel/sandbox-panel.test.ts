import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMemoryStore, createWriteBehind } from '../../../packages/sandbox/src/panel/panel-state.ts';
import { startSandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { DAY_MS } from '../../../src/core/clock.ts';
import { aDraft, GERMANY, movableClock, NETHERLANDS, startPanel } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';

const patient = createPlainHttpClient({ retries: 0 });
const get = (url: string, headers: Record<string, string> = {}, http = patient) => http.request({ method: 'GET', url, headers });
const linksOf = (text: string) => Buffer.from(text, 'base64').toString('utf8').split('\n');

describe('subscription', () => {
  it('opens at the URL that the user has and follows squads, status and clock', async () => {
    const { adapter, panel, clock } = await startPanel();
    const user = await adapter.createUser(aDraft({ squadUuids: [NETHERLANDS, GERMANY] }));
    const answer = await get(user.subscriptionUrl);
    expect(answer.status).toBe(200);
    expect(answer.headers['subscription-userinfo']).toBe(
      `upload=0; download=0; total=${10 * 1024 ** 3}; expire=${user.expireAt.getTime() / 1000}`,
    );
    const links = linksOf(answer.text);
    expect(links.map((link) => link.split('#')[1])).toEqual(['Netherlands%201', 'Germany%201']);
    expect(links.every((link) => link.startsWith(`vless://${user.vlessUuid}@`))).toBe(true);
    clock.move(60 * DAY_MS);
    expect(linksOf((await get(user.subscriptionUrl)).text)).toEqual([expect.stringContaining('#Subscription%20has%20expired')]);
    expect((await get(`${panel.url}/sub/unknown`)).status).toBe(404);
    await adapter.revokeUser(user.uuid);
    expect((await get(user.subscriptionUrl)).status).toBe(404);
  });

  it('counts devices of applications up to the limit', async () => {
    const { adapter } = await startPanel();
    const user = await adapter.createUser(aDraft({ deviceLimit: 1 }));
    expect((await get(user.subscriptionUrl, { 'x-hwid': 'phone-00001', 'x-device-os': 'iOS' })).status).toBe(200);
    expect((await get(user.subscriptionUrl, { 'x-hwid': 'phone-00001' })).status).toBe(200);
    const refused = await get(user.subscriptionUrl, { 'x-hwid': 'phone-00002' });
    expect([refused.status, refused.headers['x-hwid-max-devices-reached']]).toEqual([404, 'true']);
    expect(await adapter.listDevices(user.uuid)).toMatchObject([{ hwid: 'phone-00001', platform: 'iOS' }]);
  });
});

describe('state', () => {
  it('survives a restart, links included', async () => {
    const store = createMemoryStore();
    const clock = movableClock();
    const first = await startPanel({ state: store, clock });
    const user = await first.adapter.createUser(aDraft());
    first.panel.addDevice(user.uuid, 'phone-00001');
    const removed = await first.adapter.createUser(aDraft({ username: 'removed', messengerId: 3 }));
    await first.adapter.deleteUser(removed.uuid);
    const squad = await first.adapter.createInternalSquad({ name: 'Sweden', inboundUuids: [] });
    await first.panel.close();

    const second = await startPanel({ state: store, clock });
    expect(second.panel.url).toBe(first.panel.url);
    expect(await second.adapter.findByUuid(user.uuid)).toEqual(user);
    expect(await second.adapter.listDevices(user.uuid)).toMatchObject([{ hwid: 'phone-00001' }]);
    expect(await second.adapter.findByUuid(removed.uuid)).toBeNull();
    expect((await second.adapter.getInternalSquad(squad.uuid))?.name).toBe('Sweden');
    expect((await get(user.subscriptionUrl)).status).toBe(200);
  });

  it('takes another port when the last one is taken, and refuses a taken port that was asked for', async () => {
    const store = createMemoryStore();
    const first = await startPanel({ state: store });
    await first.panel.flush();
    const second = await startPanel({ state: store });
    expect(second.panel.url).not.toBe(first.panel.url);
    const port = Number(new URL(first.panel.url).port);
    await expect(startSandboxPanel({ state: createMemoryStore(), clock: movableClock(), port })).rejects.toThrow('EADDRINUSE');
  });

  it('is saved shortly after a change, without a stop', async () => {
    const store = createMemoryStore();
    const { adapter } = await startPanel({ state: store });
    await adapter.createUser(aDraft());
    let rows: unknown;
    for (let tries = 0; tries < 40 && rows === undefined; tries += 1) {
      await wait(25);
      rows = await store.load('panel/users/1');
    }
    expect(rows).toMatchObject([{ username: 'user_100500' }]);
  });

  it('keeps a change whose saving failed for the next time', async () => {
    const saved: string[] = [];
    let isBroken = true;
    const store = {
      load: async () => undefined,
      async save(key: string) {
        if (isBroken) throw new Error('disk full');
        saved.push(key);
      },
    };
    const pending = createWriteBehind(store, () => 1, 5);
    pending.touch('a');
    await expect(pending.flush()).rejects.toThrow('disk full');
    isBroken = false;
    pending.touch('b');
    await pending.flush();
    expect(saved.sort()).toEqual(['a', 'b']);
  });

  it('stores 20 000 users', async () => {
    const store = createMemoryStore();
    const users = Array.from({ length: 20_000 }, (_, index) => ({
      id: index + 1,
      uuid: `11111111-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
      shortUuid: `short${index + 1}`,
      username: `user_${index + 1}`,
      status: 'ACTIVE',
      trafficLimitBytes: 0,
      trafficLimitStrategy: 'NO_RESET',
      expireAt: '2026-04-01T12:00:00.000Z',
      telegramId: index + 1,
      email: null,
      description: null,
      tag: null,
      hwidDeviceLimit: null,
      externalSquadUuid: null,
      trojanPassword: 'trojan-password',
      vlessUuid: `22222222-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
      ssPassword: 'shadow-password',
      subRevokedAt: null,
      lastTrafficResetAt: null,
      createdAt: '2026-03-01T12:00:00.000Z',
      updatedAt: '2026-03-01T12:00:00.000Z',
      usedTrafficBytes: 0,
      lifetimeUsedTrafficBytes: 0,
      onlineAt: null,
      firstConnectedAt: null,
      squadUuids: [NETHERLANDS],
      devices: [],
    }));
    const empty = await startPanel({ state: store });
    await empty.panel.close();
    const meta = (await store.load('panel/meta')) as { shards: number[] };
    await store.save('panel/meta', { ...meta, shards: Array.from({ length: 64 }, (_, shard) => shard) });
    for (let shard = 0; shard < 64; shard += 1) {
      await store.save(
        `panel/users/${shard}`,
        users.filter((user) => user.id % 64 === shard),
      );
    }

    const { adapter, panel } = await startPanel({ state: store });
    let pages = 0;
    const seen = new Set<string>();
    for (let start = 0; ; start += 1000) {
      const page = await adapter.listUsers({ start, size: 1000 });
      pages += 1;
      if (page.users.length === 0) break;
      for (const user of page.users) seen.add(user.uuid);
      expect(page.total).toBe(20_000);
    }
    expect(seen.size).toBe(20_000);
    expect(pages).toBe(21);
    expect((await adapter.listInternalSquads())[0]?.membersCount).toBe(20_000);
    const created = await adapter.createUser(aDraft({ messengerId: 30_000 }));
    expect(panel.listUsers(1)).toMatchObject([{ uuid: created.uuid }]);
    expect((await adapter.findByMessengerId(12_345))?.username).toBe('user_12345');
  });
});

describe('faults', () => {
  it('delays and fails every n-th call until the faults are removed', async () => {
    const { panel } = await startPanel();
    const call = async (http = patient) => (await get(`${panel.url}/api/nodes`, { 'x-api-key': panel.apiKey }, http)).status;
    panel.faults.set({ failEvery: 3, status: 503 });
    expect([await call(), await call(), await call(), await call(), await call(), await call()]).toEqual([
      200, 200, 503, 200, 200, 503,
    ]);
    panel.faults.set({ delayMs: 2_000 });
    await expect(call(createPlainHttpClient({ retries: 0, timeoutMs: 500 }))).rejects.toMatchObject({ failure: 'timeout' });
    panel.faults.set({});
    expect(await call()).toBe(200);
  });

  it('answers 429', async () => {
    const { panel } = await startPanel();
    panel.faults.set({ status: 429 });
    const answer = await get(`${panel.url}/api/nodes`, { 'x-api-key': panel.apiKey });
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
  });
});

describe('page view', () => {
  it('shows users and squads and plays the node and the device', async () => {
    const { adapter, panel } = await startPanel();
    const user = await adapter.createUser(aDraft({ trafficLimitBytes: 10 }));
    expect(panel.addDevice(user.uuid, 'phone-00001')).toBe(true);
    expect(panel.addTraffic(user.uuid, 10)).toBe(true);
    expect(panel.listUsers()).toEqual([
      {
        uuid: user.uuid,
        username: 'user_100500',
        status: 'LIMITED',
        expireAt: '2026-04-01T12:00:00.000Z',
        usedTrafficBytes: 10,
        trafficLimitBytes: 10,
        subscriptionUrl: user.subscriptionUrl,
        squads: ['Netherlands'],
        hwids: ['phone-00001'],
      },
    ]);
    expect(panel.listSquads().map((squad) => [squad.name, squad.membersCount, squad.isExternal])).toEqual([
      ['Netherlands', 1, false],
      ['Germany', 0, false],
      ['Finland', 0, false],
      ['Partners', 0, true],
    ]);
    expect(panel.addDevice('nobody', 'x')).toBe(false);
    expect(panel.addTraffic('nobody', 1)).toBe(false);
  });
});
