import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import type { HttpClient } from '../../../src/core/http/http-client.ts';
import { withoutInboundSecrets } from '../../../src/integrations/vpnpanel/inbound-secrets.ts';
import { shownUrl } from '../../../src/integrations/vpnpanel/panel-connection.ts';
import { bytesOfSizeText, fromWireNodeUsage } from '../../../src/integrations/vpnpanel/panel-wire-traffic.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { aDraft, connectionTo, GERMANY, START, startPanel, UNKNOWN_UUID } from '../../support/panel-setup.ts';

const GB = 1024 ** 3;
const GERMAN_NODE = '40de0000-0000-4000-8000-000000000002';
const DUTCH_NODE = '40de0000-0000-4000-8000-000000000001';
const WEEK = { from: new Date(START.getTime() - 7 * DAY_MS), to: START };

describe('sizes as the panel writes them', () => {
  it.each([
    ['1.5 GiB', 1.5 * GB],
    ['1,5 GiB', 1.5 * GB],
    ['1 GB', GB],
    ['300 MiB', 300 * 1024 ** 2],
    ['12 KiB', 12 * 1024],
    ['2 TiB', 2 * 1024 ** 4],
    ['7 B', 7],
    ['7 bytes', 7],
    ['42', 42],
    ['0', 0],
    ['0.4 B', 0],
    ['', 0],
    ['-1 GiB', 0],
    ['a lot', 0],
    ['1.5 furlongs', 0],
    ['99999 YiB', Number.MAX_SAFE_INTEGER],
  ])('%s', (text, bytes) => expect(bytesOfSizeText(text)).toBe(bytes));
});

describe.each(['uuid', 'number'] as const)('node statistics, %s generation', (generation) => {
  async function start() {
    const started = await startPanel({ generation });
    await started.adapter.createUser(aDraft({ squadUuids: [GERMANY] }));
    started.panel.addTraffic(started.panel.listUsers()[0]!.uuid, 10 * GB);
    return started;
  }

  it('reads the current traffic of nodes', async () => {
    const { adapter, clock } = await start();
    const german = async () => (await adapter.listNodeTraffic()).find((node) => node.nodeUuid === GERMAN_NODE)!;
    expect(await german()).toMatchObject({
      downloadBytes: 9 * GB,
      uploadBytes: GB,
      raw: { nodeUuid: GERMAN_NODE, nodeName: 'Germany 1', downloadBytes: 9 * GB, uploadBytes: GB, totalBytes: 10 * GB },
    });
    clock.move(DAY_MS);
    expect(await german()).toMatchObject({ downloadBytes: 0, uploadBytes: 0 });
  });

  it('reads the usage of a node by day, and null of an unknown node', async () => {
    const { adapter } = await start();
    const user =
      generation === 'uuid' ? { userUuid: expect.any(String), username: 'user_100500' } : { userUuid: null, username: null };
    const row = { ...user, nodeUuid: GERMAN_NODE, totalBytes: 10 * GB, date: '2026-03-01' };
    expect(await adapter.listNodeUsage(GERMAN_NODE, WEEK)).toEqual([row]);
    expect(await adapter.listNodeUsage(DUTCH_NODE, WEEK)).toEqual([]);
    expect(await adapter.listNodeUsage(GERMAN_NODE, { from: new Date(0), to: WEEK.from })).toEqual([]);
    expect(await adapter.listNodeUsage(UNKNOWN_UUID, WEEK)).toBeNull();
    expect(await adapter.listNodeUsage('../users', WEEK)).toBeNull();
  });

  it('reads periods and days in bytes', async () => {
    const { adapter, clock } = await start();
    const now = { currentBytes: 10 * GB, previousBytes: 0, difference: '10.00 GiB' };
    expect(await adapter.getTrafficPeriods()).toEqual({
      last2Days: now,
      last7Days: now,
      last30Days: now,
      currentMonth: now,
      currentYear: now,
    });
    const days = await adapter.listNodeDays();
    expect(days).toHaveLength(21);
    expect(days.filter((day) => day.totalBytes > 0)).toEqual([
      { nodeName: 'Germany 1', date: '2026-03-01', totalBytes: 10 * GB },
    ]);
    clock.move(3 * DAY_MS);
    expect((await adapter.getTrafficPeriods()).last2Days).toEqual({
      currentBytes: 0,
      previousBytes: 10 * GB,
      difference: '-10.00 GiB',
    });
  });

  it('counts who is connected where, and the traffic of all', async () => {
    const { adapter } = await start();
    const nodes = await adapter.listNodes();
    expect(nodes.map((node) => [node.name, node.usersOnline])).toEqual([
      ['Netherlands 1', 0],
      ['Germany 1', 1],
      ['Finland 1', 0],
    ]);
    expect(nodes[0]).toMatchObject({ totalRam: '2.00 GiB', cpuModel: 'Sandbox CPU', cpuCount: 2, coreUptime: 0 });
    expect(await adapter.getSystemStats()).toMatchObject({
      totalTrafficBytes: 10 * GB,
      cpuCores: 2,
      cpuPhysicalCores: 2,
      memoryAvailableBytes: GB,
    });
  });
});

/** An adapter on a panel that answers one path with one value, and knows no other. */
function answering(path: string, value: unknown) {
  const http: HttpClient = {
    request: async (request) =>
      new URL(request.url).pathname === path
        ? { status: 200, headers: {}, text: JSON.stringify({ response: value }) }
        : { status: 404, headers: {}, text: '{"message":"Cannot GET /x"}' },
  };
  return createVpnPanelAdapter({ http, connection: () => connectionTo({ url: 'http://panel.test', apiKey: 'key' }) });
}

describe('answers of older panels', () => {
  it('gives the realtime list unchanged, odd entries included', async () => {
    const list = [{ nodeUuid: GERMAN_NODE, downloadBytes: '12', extra: { deep: [1] } }, { odd: true }];
    const adapter = answering('/api/bandwidth-stats/nodes/realtime', list);
    expect(await adapter.listNodeTraffic()).toEqual([
      { nodeUuid: GERMAN_NODE, downloadBytes: 12, uploadBytes: 0, raw: list[0] },
      { nodeUuid: '', downloadBytes: 0, uploadBytes: 0, raw: list[1] },
    ]);
  });

  it('reads cores, memory and traffic where version 2 has them', async () => {
    const adapter = answering('/api/system/stats', {
      cpu: { cores: 8, physicalCores: 4 },
      memory: { total: 10, used: 4, free: 2, available: 6 },
      uptime: 12.9,
      users: { totalUsers: 3, statusCounts: { ACTIVE: 3 }, totalTrafficBytes: '9007199254740993' },
    });
    expect(await adapter.getSystemStats()).toMatchObject({
      cpuCores: 8,
      cpuPhysicalCores: 4,
      memoryFreeBytes: 2,
      memoryAvailableBytes: 6,
      uptimeSeconds: 12,
      totalTrafficBytes: 2 ** 53,
      onlineNow: 0,
      nodesOnline: 0,
    });
  });

  it('keeps the memory text of a node', async () => {
    const node = { uuid: GERMAN_NODE, name: 'Old', cpuCount: 4, cpuModel: 'Xeon', totalRam: '3.8 GB', xrayUptime: '86400' };
    expect((await answering('/api/nodes', [node]).listNodes())[0]).toMatchObject({
      cpuCount: 4,
      cpuModel: 'Xeon',
      totalRam: '3.8 GB',
      coreUptime: 86400,
      isConnected: false,
    });
  });

  it('reports an answer that is not a list as unavailable', () => {
    expect(() => fromWireNodeUsage({ rows: [] })).toThrow(expect.objectContaining({ kind: 'unavailable' }));
    expect(() => fromWireNodeUsage([{ total: 1 }])).toThrow(expect.objectContaining({ kind: 'unavailable' }));
  });
});

describe('what administrators may not see', () => {
  it('blanks keys and passwords inside of raw inbounds and nothing else', () => {
    const raw = {
      tag: 'VLESS',
      port: 443,
      settings: { clients: [{ id: 'a', password: 'p' }], decryption: 'none' },
      streamSettings: {
        realitySettings: { privateKey: 'k', publicKey: 'shown', shortIds: ['1'] },
        tlsSettings: { certificates: [{ certificateFile: '/a', key: ['-----BEGIN'] }] },
      },
    };
    expect(withoutInboundSecrets(raw)).toEqual({
      tag: 'VLESS',
      port: 443,
      settings: { clients: [{ id: 'a', password: '[redacted]' }], decryption: 'none' },
      streamSettings: {
        realitySettings: { privateKey: '[redacted]', publicKey: 'shown', shortIds: ['1'] },
        tlsSettings: { certificates: [{ certificateFile: '/a', key: '[redacted]' }] },
      },
    });
    expect(withoutInboundSecrets(undefined)).toBeNull();
  });

  it('does so in the lists of inbounds and of squads', async () => {
    const inbound = {
      uuid: 'u',
      profileUuid: 'p',
      tag: 't',
      type: 'vless',
      rawInbound: { realitySettings: { privateKey: 'k' } },
    };
    const shown = { realitySettings: { privateKey: '[redacted]' } };
    const inbounds = answering('/api/config-profiles/inbounds', { inbounds: [inbound] });
    expect((await inbounds.listInbounds())[0]?.rawInbound).toEqual(shown);
    const squads = answering('/api/internal-squads', { internalSquads: [{ uuid: 's', name: 'n', inbounds: [inbound] }] });
    expect((await squads.listInternalSquads())[0]?.inbounds[0]?.rawInbound).toEqual(shown);
  });

  it.each([
    ['https://panel.example.com/', 'https://panel.example.com'],
    ['https://user:pass@panel.example.com:8443/base/?key=1#x', 'https://panel.example.com:8443/base'],
    ['no url', null],
    [null, null],
  ])('shows the address %s without credentials', (baseUrl, shown) => {
    expect(shownUrl(connectionTo({ url: 'x', apiKey: 'k' }, { baseUrl }))).toBe(shown);
  });
});
