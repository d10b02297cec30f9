import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import { uuidFromPanelNumber } from '../../../src/integrations/vpnpanel/panel-generation.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { aDraft, connectionTo, GERMANY, NETHERLANDS, PARTNERS, startPanel, UNKNOWN_UUID } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';

describe.each(['uuid', 'number'] as const)('vpn panel adapter, %s generation', (generation) => {
  const start = () => startPanel({ generation });
  const unknownUser = generation === 'uuid' ? UNKNOWN_UUID : uuidFromPanelNumber(1_000_000);

  it('creates a user and reads back every field', async () => {
    const { adapter, panel } = await start();
    const created = await adapter.createUser(aDraft({ externalSquadUuid: PARTNERS }));
    expect(created).toMatchObject({
      username: 'user_100500',
      status: 'ACTIVE',
      expireAt: new Date('2026-04-01T12:00:00.000Z'),
      trafficLimitBytes: 10 * 1024 ** 3,
      trafficResetStrategy: 'MONTH',
      usedTrafficBytes: 0,
      lifetimeUsedTrafficBytes: 0,
      messengerId: 100500,
      email: 'ivan@example.com',
      deviceLimit: 2,
      description: 'Bot user: Ivan @ivan',
      tag: 'PAID',
      squads: [{ uuid: NETHERLANDS, name: 'Netherlands' }],
      externalSquadUuid: PARTNERS,
      subscriptionUrl: `${panel.url}/sub/${created.shortUuid}`,
    });
    expect(created.uuid).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    expect(await adapter.findByUuid(created.uuid)).toEqual(created);
  });

  it('finds a user in five ways', async () => {
    const { adapter } = await start();
    await adapter.createUser(aDraft({ username: 'somebody', messengerId: 7, email: 'b@example.com' }));
    const { uuid, shortUuid } = await adapter.createUser(aDraft());
    expect((await adapter.findByUuid(uuid))?.uuid).toBe(uuid);
    expect((await adapter.findByShortUuid(shortUuid))?.uuid).toBe(uuid);
    expect((await adapter.findByMessengerId(100500))?.uuid).toBe(uuid);
    expect((await adapter.findByEmail('Ivan@example.com'))?.uuid).toBe(uuid);
    expect((await adapter.findByUsername('user_100500'))?.uuid).toBe(uuid);
  });

  it('answers null for users that the panel does not have', async () => {
    const { adapter } = await start();
    expect(await adapter.findByUuid(unknownUser)).toBeNull();
    expect(await adapter.findByMessengerId(1)).toBeNull();
    expect(await adapter.findByEmail('nobody@example.com')).toBeNull();
    // The panel would refuse the look-up of these.
    expect(await adapter.findByEmail('иван@почта.рф')).toBeNull();
    expect(await adapter.findByEmail('a..b@example.com')).toBeNull();
    expect(await adapter.findByShortUuid('nobody')).toBeNull();
    expect(await adapter.findByUsername('nobody/../x')).toBeNull();
    expect(await adapter.updateUser({ uuid: unknownUser, trafficLimitBytes: 0 })).toBeNull();
    expect(await adapter.enableUser(unknownUser)).toBeNull();
    expect(await adapter.disableUser(unknownUser)).toBeNull();
    expect(await adapter.resetTraffic(unknownUser)).toBeNull();
    expect(await adapter.revokeUser(unknownUser)).toBeNull();
    expect(await adapter.deleteUser(unknownUser)).toBe(false);
    expect(await adapter.listDevices(unknownUser)).toEqual([]);
    expect(await adapter.getSubscriptionInfo('nothing')).toBeNull();
    expect(await adapter.getInternalSquad(UNKNOWN_UUID)).toBeNull();
    expect(await adapter.getNode(UNKNOWN_UUID)).toBeNull();
  });

  it('picks of several users of one messenger id the one that ends last', async () => {
    const { adapter } = await start();
    await adapter.createUser(aDraft({ username: 'first' }));
    await adapter.createUser(aDraft({ username: 'second', expireAt: new Date('2026-06-01T00:00:00.000Z') }));
    await adapter.createUser(aDraft({ username: 'third', expireAt: new Date('2026-05-01T00:00:00.000Z') }));
    expect((await adapter.findByMessengerId(100500))?.username).toBe('second');
  });

  it('changes only what a patch names', async () => {
    const { adapter } = await start();
    const before = await adapter.createUser(aDraft({ externalSquadUuid: PARTNERS }));
    const end = new Date('2026-07-01T00:00:00.000Z');
    const after = await adapter.updateUser({ uuid: before.uuid, expireAt: end, squadUuids: [GERMANY] });
    expect(after).toEqual({ ...before, expireAt: end, squads: [{ uuid: GERMANY, name: 'Germany' }] });
  });

  it('enables and disables twice without an error', async () => {
    const { adapter } = await start();
    const { uuid } = await adapter.createUser(aDraft());
    expect((await adapter.enableUser(uuid))?.status).toBe('ACTIVE');
    expect((await adapter.disableUser(uuid))?.status).toBe('DISABLED');
    expect((await adapter.disableUser(uuid))?.status).toBe('DISABLED');
    expect((await adapter.enableUser(uuid))?.status).toBe('ACTIVE');
  });

  it('08 P3: gives the code of a refused external squad to the caller and sends nothing else', async () => {
    const { adapter, panel } = await start();
    await expect(adapter.createUser(aDraft({ externalSquadUuid: UNKNOWN_UUID }))).rejects.toMatchObject({ errorCode: 'A018' });
    const { uuid } = await adapter.createUser(aDraft({ externalSquadUuid: PARTNERS }));
    const patch = { uuid, trafficLimitBytes: 5, externalSquadUuid: UNKNOWN_UUID };
    await expect(adapter.updateUser(patch)).rejects.toMatchObject({ errorCode: 'A039' });
    expect(await adapter.findByUuid(uuid)).toMatchObject({ externalSquadUuid: PARTNERS });
    const sent = panel
      .calls()
      .filter((call) => call.method === 'PATCH' || (call.method === 'POST' && call.path === '/api/users'));
    expect(sent.map((call) => call.status)).toEqual([500, 201, 500]);
  });

  it('08 P3: the same for an internal squad beside a known external one', async () => {
    const { adapter } = await start();
    const draft = aDraft({ externalSquadUuid: PARTNERS, squadUuids: [UNKNOWN_UUID] });
    await expect(adapter.createUser(draft)).rejects.toMatchObject({ name: 'PanelError', errorCode: 'A018' });
  });

  it('refuses a taken username with the code of the panel', async () => {
    const { adapter } = await start();
    await adapter.createUser(aDraft());
    const second = adapter.createUser(aDraft({ messengerId: 2 }));
    await expect(second).rejects.toMatchObject({ kind: 'rejected', status: 400, errorCode: 'A019' });
  });

  it('never sends a creation twice, also when the answer was lost', async () => {
    const { adapter, panel } = await start();
    await adapter.ping();
    await adapter.findByMessengerId(100500);
    panel.faults.set({ timeoutAfterEffect: true, method: 'POST', path: '/api/users' });
    await expect(adapter.createUser(aDraft())).rejects.toMatchObject({ kind: 'unavailable', status: null });
    panel.faults.set({});
    expect(panel.calls().filter((call) => call.method === 'POST' && call.path === '/api/users')).toHaveLength(1);
    expect((await adapter.findByMessengerId(100500))?.username).toBe('user_100500');
  });

  it('sends a change again when the answer was lost', async () => {
    const { adapter, panel } = await start();
    const { uuid } = await adapter.createUser(aDraft());
    panel.faults.set({ timeoutAfterEffect: true, method: 'PATCH' });
    await expect(adapter.updateUser({ uuid, trafficLimitBytes: 1 })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(panel.calls().filter((call) => call.method === 'PATCH')).toHaveLength(3);
    panel.faults.set({ failEvery: 2, status: 503, path: '/api/users' });
    expect((await adapter.updateUser({ uuid, trafficLimitBytes: 2 }))?.trafficLimitBytes).toBe(2);
    expect((await adapter.findByUuid(uuid))?.trafficLimitBytes).toBe(2);
  });

  it('pages through all users exactly once', async () => {
    const { adapter } = await start();
    for (let index = 0; index < 7; index += 1) {
      await adapter.createUser(aDraft({ username: `user_${index}_x`, messengerId: index + 1, email: `u${index}@example.com` }));
    }
    const pages = [];
    for (let page = 0; page < 4; page += 1) pages.push(await adapter.listUsers({ start: page * 3, size: 3 }));
    expect(pages.map((page) => page.users.length)).toEqual([3, 3, 1, 0]);
    expect(pages.every((page) => page.total === 7)).toBe(true);
    expect(new Set(pages.flatMap((page) => page.users.map((user) => user.messengerId)))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
  });

  it('lists and removes devices', async () => {
    const { adapter, panel } = await start();
    const { uuid } = await adapter.createUser(aDraft());
    const viewed = panel.listUsers()[0]!;
    for (const hwid of ['device-0001', 'device-0002', 'device-0003']) expect(panel.addDevice(viewed.uuid, hwid)).toBe(true);
    const devices = await adapter.listDevices(uuid);
    expect(devices.map((device) => device.hwid)).toEqual(['device-0001', 'device-0002', 'device-0003']);
    expect(devices[0]).toMatchObject({ userUuid: uuid, platform: 'Android', createdAt: new Date('2026-03-01T12:00:00.000Z') });
    expect(await adapter.listAllDevices({ start: 1, size: 1 })).toMatchObject({ total: 3, devices: [{ hwid: 'device-0002' }] });
    await adapter.deleteDevice(uuid, 'device-0002');
    await adapter.deleteDevice(uuid, 'device-0002');
    expect((await adapter.listDevices(uuid)).map((device) => device.hwid)).toEqual(['device-0001', 'device-0003']);
    expect(await adapter.resetDevices(uuid)).toEqual({ deleted: 2, failed: 0 });
    expect(await adapter.listDevices(uuid)).toEqual([]);
  });

  it('determines limited and expired users by traffic and clock', async () => {
    const { adapter, panel, clock } = await start();
    const { uuid } = await adapter.createUser(aDraft({ trafficLimitBytes: 100 }));
    panel.addTraffic(panel.listUsers()[0]!.uuid, 150);
    expect(await adapter.findByUuid(uuid)).toMatchObject({
      status: 'LIMITED',
      usedTrafficBytes: 150,
      lifetimeUsedTrafficBytes: 150,
    });
    expect((await adapter.updateUser({ uuid, status: 'ACTIVE', deviceLimit: 3 }))?.status).toBe('LIMITED');
    // 08 P1: a raised limit ends it.
    expect((await adapter.updateUser({ uuid, trafficLimitBytes: 1000 }))?.status).toBe('ACTIVE');
    expect((await adapter.enableUser(uuid))?.status).toBe('ACTIVE');
    expect(await adapter.resetTraffic(uuid)).toMatchObject({ usedTrafficBytes: 0, lifetimeUsedTrafficBytes: 150 });
    clock.move(40 * DAY_MS);
    expect((await adapter.findByUuid(uuid))?.status).toBe('EXPIRED');
    const renewed = await adapter.updateUser({ uuid, status: 'ACTIVE', expireAt: new Date(clock.now().getTime() + DAY_MS) });
    expect(renewed?.status).toBe('ACTIVE');
  });

  it('gives new links on revoke and keeps them when only passwords change', async () => {
    const { adapter } = await start();
    const user = await adapter.createUser(aDraft());
    const passwords = await adapter.revokeUser(user.uuid, { onlyPasswords: true });
    expect(passwords).toMatchObject({ shortUuid: user.shortUuid, uuid: user.uuid });
    expect(passwords?.vlessUuid).not.toBe(user.vlessUuid);
    const links = await adapter.revokeUser(user.uuid);
    expect(links?.shortUuid).not.toBe(user.shortUuid);
    expect(links?.uuid).toBe(user.uuid);
  });

  it('deletes a user', async () => {
    const { adapter } = await start();
    const { uuid } = await adapter.createUser(aDraft());
    expect(await adapter.deleteUser(uuid)).toBe(true);
    expect(await adapter.findByUuid(uuid)).toBeNull();
    expect(await adapter.deleteUser(uuid)).toBe(false);
  });

  it('reads links and nodes of a subscription', async () => {
    const { adapter } = await start();
    const user = await adapter.createUser(aDraft({ squadUuids: [NETHERLANDS, GERMANY] }));
    const info = await adapter.getSubscriptionInfo(user.shortUuid);
    expect(info?.links).toHaveLength(2);
    expect(info?.subscriptionUrl).toBe(user.subscriptionUrl);
    expect((await adapter.listUserNodes(user.uuid)).map((node) => node.countryCode)).toEqual(['NL', 'DE']);
  });

  it('reads traffic by node and day', async () => {
    const { adapter, panel, clock } = await start();
    const { uuid } = await adapter.createUser(aDraft({ squadUuids: [GERMANY] }));
    const range = { from: new Date(clock.now().getTime() - 2 * 24 * 3_600_000), to: clock.now() };
    const days = ['2026-02-27', '2026-02-28', '2026-03-01'];
    expect(await adapter.readUserTraffic(uuid, range)).toEqual({ days, nodes: [] });
    panel.addTraffic(panel.listUsers()[0]!.uuid, 3 * 1024 ** 3);
    expect(await adapter.readUserTraffic(uuid, range)).toEqual({
      days,
      nodes: [
        {
          uuid: expect.any(String),
          name: 'Germany 1',
          countryCode: 'DE',
          totalBytes: 3 * 1024 ** 3,
          dailyBytes: [0, 0, 3 * 1024 ** 3],
        },
      ],
    });
    expect(await adapter.readUserTraffic(unknownUser, range)).toBeNull();
  });

  it('manages squads', async () => {
    const { adapter } = await start();
    await adapter.createUser(aDraft());
    const squads = await adapter.listInternalSquads();
    expect(squads.map((squad) => [squad.name, squad.membersCount])).toEqual([
      ['Netherlands', 1],
      ['Germany', 0],
      ['Finland', 0],
    ]);
    expect((await adapter.listExternalSquads()).map((squad) => squad.name)).toEqual(['Partners']);
    const inbounds = await adapter.listInbounds();
    const created = await adapter.createInternalSquad({ name: 'Test', inboundUuids: [inbounds[0]!.uuid] });
    expect(await adapter.updateInternalSquad({ uuid: created.uuid, name: 'Renamed' })).toEqual({ ...created, name: 'Renamed' });
    expect(await adapter.addAllUsersToSquad(created.uuid)).toBe(true);
    expect((await adapter.getInternalSquad(created.uuid))?.membersCount).toBe(1);
    expect(await adapter.removeAllUsersFromSquad(created.uuid)).toBe(true);
    expect((await adapter.getInternalSquad(created.uuid))?.membersCount).toBe(0);
    expect(await adapter.listInternalSquadNodes(created.uuid)).toMatchObject([{ nodeName: 'Netherlands 1' }]);
    expect(await adapter.deleteInternalSquad(created.uuid)).toBe(true);
    expect(await adapter.deleteInternalSquad(created.uuid)).toBe(false);
  });

  it('gives many users the same squads in one call', async () => {
    const { adapter, panel } = await start();
    const first = await adapter.createUser(aDraft());
    const second = await adapter.createUser(aDraft({ username: 'user_2', messengerId: 2 }));
    const affected = await adapter.setSquadsOfUsers([first.uuid, second.uuid], [GERMANY]);
    // The newer panel does not count.
    expect(affected).toBe(generation === 'uuid' ? 2 : null);
    expect(panel.listUsers().map((user) => user.squads)).toEqual([['Germany'], ['Germany']]);
    // A user that the panel does not have is passed over; where the panel counts, it shows.
    const some = await adapter.setSquadsOfUsers([first.uuid, UNKNOWN_UUID], [NETHERLANDS]);
    expect(some).toBe(1);
    expect((await adapter.findByUuid(first.uuid))?.squads.map((squad) => squad.uuid)).toEqual([NETHERLANDS]);
    await expect(adapter.setSquadsOfUsers([first.uuid], [UNKNOWN_UUID])).rejects.toMatchObject({ errorCode: 'A088' });
    expect(await adapter.setSquadsOfUsers([], [NETHERLANDS])).toBe(0);
  });

  it('spec 10 V2, V3: the usage of a node is by days, and an unknown node has none', async () => {
    const { adapter, panel, clock } = await start();
    const { uuid } = await adapter.createUser(aDraft({ squadUuids: [GERMANY] }));
    panel.addTraffic(panel.listUsers()[0]!.uuid, 1024);
    const range = { from: new Date(clock.now().getTime() - DAY_MS), to: clock.now() };
    const german = (await adapter.listNodes()).find((node) => node.name === 'Germany 1')!;
    expect(await adapter.listNodeUsage(german.uuid, range)).toMatchObject([{ date: '2026-03-01', totalBytes: 1024 }]);
    expect(await adapter.listNodeUserBytes(german.uuid, range)).toEqual([{ userUuid: uuid, totalBytes: 1024 }]);
    expect(await adapter.listNodeUsage(UNKNOWN_UUID, range)).toBeNull();
    expect((await adapter.listNodeUserBytes(UNKNOWN_UUID, range)) ?? []).toEqual([]);
  });

  it('manages nodes and reads statistics', async () => {
    const { adapter } = await start();
    await adapter.createUser(aDraft());
    const nodes = await adapter.listNodes();
    expect(nodes.map((node) => node.name)).toEqual(['Netherlands 1', 'Germany 1', 'Finland 1']);
    expect(await adapter.disableNode(nodes[0]!.uuid)).toMatchObject({ isDisabled: true, isConnected: false });
    expect(await adapter.enableNode(nodes[0]!.uuid)).toMatchObject({ isDisabled: false, isConnected: true, cpuCount: 2 });
    expect(await adapter.restartNode(nodes[0]!.uuid)).toBe(true);
    expect(await adapter.restartNode(UNKNOWN_UUID)).toBe(false);
    await adapter.restartAllNodes();
    expect(await adapter.getSystemStats()).toMatchObject({
      totalUsers: 1,
      usersByStatus: { ACTIVE: 1 },
      nodesOnline: 3,
      neverOnline: 1,
    });
  });

  it('08 P12: calls a wrong key an outage, not absent', async () => {
    const { panel } = await start();
    const connection = connectionTo(panel, { apiKey: 'wrong' });
    const adapter = createVpnPanelAdapter({ http: createPlainHttpClient(), connection: () => connection });
    await expect(adapter.ping()).rejects.toMatchObject({ kind: 'unavailable', status: 401, isKeyRefused: true });
    await expect(adapter.findByUuid(UNKNOWN_UUID)).rejects.toMatchObject({
      kind: 'unavailable',
      status: 401,
      isKeyRefused: true,
    });
  });

  it('calls an unreadable answer unavailable', async () => {
    const { adapter, panel } = await start();
    const { uuid } = await adapter.createUser(aDraft());
    panel.faults.set({ malformed: true });
    await expect(adapter.findByUuid(uuid)).rejects.toMatchObject({ name: 'PanelError', kind: 'unavailable' });
    await expect(adapter.listUsers({ start: 0, size: 10 })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(adapter.listInternalSquads()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('vpn panel adapter, crypto links', () => {
  it('are made by the panel where it is asked to, and not with what else is read or written', async () => {
    const { adapter, panel } = await startPanel();
    const user = await adapter.createUser(aDraft());
    expect(user.cryptoLink).toBeNull();
    expect(panel.calls().some((call) => call.path.includes('encrypt'))).toBe(false);
    expect(await adapter.encryptLink(user.subscriptionUrl)).toBe(
      `happ://crypt4/${Buffer.from(user.subscriptionUrl).toString('base64url')}`,
    );
    panel.faults.set({ status: 500, path: '/encrypt' });
    expect(await adapter.encryptLink(user.subscriptionUrl)).toBeNull();
  });

  it('are not asked for on a panel that has none', async () => {
    const { adapter, panel } = await startPanel({ generation: 'number' });
    expect(await adapter.encryptLink((await adapter.createUser(aDraft())).subscriptionUrl)).toBeNull();
    expect(panel.calls().some((call) => call.path.includes('encrypt'))).toBe(false);
  });
});

describe('vpn panel adapter, connection', () => {
  it('reads the settings for every call', async () => {
    const first = await startPanel();
    const second = await startPanel({ generation: 'number' });
    let current = connectionTo(first.panel);
    const adapter = createVpnPanelAdapter({ http: createPlainHttpClient(), connection: () => current });
    const one = await adapter.createUser(aDraft());
    current = connectionTo(second.panel, { baseUrl: `${second.panel.url}/` });
    await expect(adapter.findByUuid(one.uuid)).rejects.toMatchObject({ kind: 'unavailable', isOtherGeneration: true });
    expect(await adapter.findByMessengerId(100500)).toBeNull();
    const two = await adapter.createUser(aDraft());
    expect(two.uuid).toBe('00000000-0000-8000-8000-000000000001');
    current = connectionTo(first.panel, { baseUrl: null });
    expect(adapter.configurationError()).toBe('VPNPANEL_API_URL is not set');
    await expect(adapter.ping()).rejects.toMatchObject({ kind: 'not_configured', message: 'VPNPANEL_API_URL is not set' });
    current = connectionTo(first.panel, { baseUrl: null, apiKey: '' });
    expect(adapter.configurationError()).toBe('VPNPANEL_API_URL and VPNPANEL_API_KEY are not set');
  });

  it('names no host in an error', async () => {
    const { panel, adapter } = await startPanel();
    await panel.close();
    const error = await adapter.ping().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: 'unavailable', message: 'VPN panel did not answer' });
  });

  it('does not take a foreign 404 for an absent user', async () => {
    const { panel } = await startPanel();
    const connection = connectionTo(panel, { baseUrl: `${panel.url}/elsewhere` });
    const adapter = createVpnPanelAdapter({ http: createPlainHttpClient(), connection: () => connection });
    await expect(adapter.findByUuid(UNKNOWN_UUID)).rejects.toMatchObject({ kind: 'unavailable', status: 404 });
  });

  it('refuses what is no uuid before anything is sent', async () => {
    const { panel, adapter } = await startPanel();
    await expect(adapter.findByUuid('../nodes')).rejects.toMatchObject({ kind: 'rejected' });
    await expect(adapter.deleteInternalSquad('1 or 1')).rejects.toMatchObject({ kind: 'rejected' });
    await expect(adapter.findByUsername('..')).rejects.toMatchObject({ kind: 'rejected' });
    expect(panel.calls()).toEqual([]);
  });
});
