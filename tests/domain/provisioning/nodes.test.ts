import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import { OutboundError } from '../../../src/core/http/http-client.ts';
import {
  listNodes,
  nodesOverview,
  nodesRealtime,
  readNode,
  readNodeStatistics,
  readNodeUsage,
  readPanelStatus,
  readSystem,
  readUserTraffic,
  restartAllNodes,
  runNodeAction,
} from '../../../src/domain/provisioning/nodes.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { GB, GERMANY, NETHERLANDS, unconfigured, withPanel, withPort } from '../../support/provisioning-setup.ts';

const DUTCH_NODE = '40de0000-0000-4000-8000-000000000001';
const GERMAN_NODE = '40de0000-0000-4000-8000-000000000002';
const UNKNOWN = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const admin = { kind: 'system', name: 'test' } as const;
const ANY_TIME = { from: null, to: null };

/** A panel with one user who moved 10 GiB through the German node just now. */
async function withTraffic() {
  const t = await withPanel();
  const user = await t.adapter.createUser({
    username: 'mover',
    status: 'ACTIVE',
    expireAt: new Date(t.clock.now().getTime() + 30 * DAY_MS),
    messengerId: 100500,
    squadUuids: [GERMANY],
  });
  t.panel.addTraffic(user.uuid, 10 * GB);
  return { ...t, user };
}

describe('reading the panel', () => {
  it('lists nodes and counts them', async () => {
    const t = await withTraffic();
    await t.adapter.disableNode(DUTCH_NODE);
    expect(await listNodes(t.app)).toMatchObject([
      { uuid: DUTCH_NODE, isDisabled: true, isConnected: false },
      { uuid: GERMAN_NODE, usersOnline: 1 },
      { name: 'Finland 1' },
    ]);
    const overview = await nodesOverview(t.app);
    expect(overview).toMatchObject({ total: 3, online: 2, offline: 0, disabled: 1, usersOnline: 1 });
    expect((await nodesRealtime(t.app)).map((node) => [node.nodeUuid, node.downloadBytes])).toContainEqual([GERMAN_NODE, 9 * GB]);
  });

  it('gives a node with its current traffic and that of the last week', async () => {
    const t = await withTraffic();
    const found = await readNodeStatistics(t.app, GERMAN_NODE);
    expect(found).toMatchObject({
      node: { uuid: GERMAN_NODE },
      realtime: { nodeUuid: GERMAN_NODE, uploadBytes: GB },
      usage: [{ userUuid: t.user.uuid, totalBytes: 10 * GB }],
      at: t.clock.now(),
    });
    await t.adapter.disableNode(DUTCH_NODE);
    expect(await readNodeStatistics(t.app, DUTCH_NODE)).toMatchObject({ realtime: null, usage: [] });
    const before = { from: null, to: new Date(t.clock.now().getTime() - 2 * DAY_MS) };
    expect(await readNodeUsage(t.app, GERMAN_NODE, before)).toEqual([]);
    expect(await readNodeUsage(t.app, GERMAN_NODE, ANY_TIME)).toHaveLength(1);
  });

  it('gives the statistics of the panel', async () => {
    const t = await withTraffic();
    const system = await readSystem(t.app);
    expect(system).toMatchObject({
      stats: { totalUsers: 1, onlineNow: 1, nodesOnline: 3, totalTrafficBytes: 10 * GB },
      realtime: { downloadBytes: 9 * GB, uploadBytes: GB },
      periods: { last7Days: { currentBytes: 10 * GB, previousBytes: 0 } },
    });
    expect(system.nodesNow).toHaveLength(3);
    expect(system.nodesWeekly[0]).toMatchObject({ name: 'Germany 1', totalBytes: 10 * GB });
    expect(system.nodesWeekly[0]!.days).toHaveLength(7);
  });

  it('finds the traffic of a messenger id', async () => {
    const t = await withTraffic();
    expect(await readUserTraffic(t.app, 100500)).toMatchObject({ uuid: t.user.uuid, usedTrafficBytes: 10 * GB });
    for (const id of [1, 0, -5]) {
      await expect(readUserTraffic(t.app, id)).rejects.toMatchObject({ status: 404, detail: 'User not found' });
    }
  });

  it('refuses an unknown node and an invalid range', async () => {
    const t = await withPanel();
    const absent = { status: 404, detail: 'Node not found' };
    await expect(readNode(t.app, UNKNOWN)).rejects.toMatchObject(absent);
    await expect(readNodeStatistics(t.app, UNKNOWN)).rejects.toMatchObject(absent);
    await expect(readNodeUsage(t.app, UNKNOWN, ANY_TIME)).rejects.toMatchObject(absent);
    const now = t.clock.now();
    await expect(readNodeUsage(t.app, DUTCH_NODE, { from: now, to: now })).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid date range',
    });
  });
});

describe('a panel that is down', () => {
  const troubles = {
    'answers 503': [503, { status: 503 }],
    'refuses the credentials': [403, { status: 403 }],
    'talks nonsense': [200, { malformed: true }],
    'hangs up': [null, { timeoutAfterEffect: true }],
  } as const;
  it.each(Object.entries(troubles))(
    '08 P10: %s: lists and single things are 502, the state says so',
    async (_name, [statusCode, faults]) => {
      const t = await withPanel();
      t.panel.faults.set(faults);
      const down = { status: 502, code: 'panel_unavailable', detail: expect.stringContaining('VPN panel') };
      await expect(listNodes(t.app)).rejects.toMatchObject(down);
      await expect(nodesOverview(t.app)).rejects.toMatchObject(down);
      await expect(nodesRealtime(t.app)).rejects.toMatchObject(down);
      await expect(readNodeUsage(t.app, DUTCH_NODE, ANY_TIME)).rejects.toMatchObject(down);
      await expect(readNode(t.app, DUTCH_NODE)).rejects.toMatchObject(down);
      await expect(readNodeStatistics(t.app, DUTCH_NODE)).rejects.toMatchObject(down);
      await expect(readUserTraffic(t.app, 100500)).rejects.toMatchObject(down);
      await expect(readSystem(t.app)).rejects.toMatchObject({ ...down, detail: 'Failed to get system statistics' });
      const state = { connection: 'error', configurationError: null, systemInfo: null, apiUrl: t.panel.url, statusCode };
      expect(await readPanelStatus(t.app)).toMatchObject(state);
    },
  );

  it('08 P6, P10: a page leaves out what this version of the panel has no route for, and hides no other failure', async () => {
    const t = await withTraffic();
    const failing = (status: number) => {
      const fail = () => Promise.reject(new PanelError('unavailable', `VPN panel answered with status ${status}`, { status }));
      return withPort(t.app, { ...t.adapter, listNodeTraffic: fail, getTrafficPeriods: fail });
    };
    expect(await readNodeStatistics(failing(404), GERMAN_NODE)).toMatchObject({ node: { uuid: GERMAN_NODE }, realtime: null });
    expect(await readSystem(failing(404))).toMatchObject({
      stats: { totalUsers: 1 },
      realtime: { downloadBytes: 0, uploadBytes: 0 },
      periods: { last7Days: { currentBytes: 0, difference: null } },
      nodesNow: [],
    });
    const answered = { status: 502, detail: 'VPN panel answered with status 500' };
    await expect(readNodeStatistics(failing(500), GERMAN_NODE)).rejects.toMatchObject(answered);
    await expect(readSystem(failing(500))).rejects.toMatchObject(answered);
    await expect(nodesRealtime(failing(404))).rejects.toMatchObject({ status: 502 });
  });

  it('08 P6: the metrics of a panel without realtime counters are its current traffic', async () => {
    const t = await withPanel();
    const raw = { nodeUuid: GERMAN_NODE, nodeName: 'Germany', downloadBytes: 7, uploadBytes: 5, totalBytes: 12, usersOnline: 1 };
    const traffic = { nodeUuid: GERMAN_NODE, downloadBytes: 7, uploadBytes: 5, raw };
    const app = withPort(t.app, { ...t.adapter, listNodeTraffic: async () => [traffic] });
    expect(await nodesRealtime(app)).toEqual([raw]);
    expect(await readSystem(app)).toMatchObject({ realtime: { downloadBytes: 7, uploadBytes: 5 }, nodesNow: [traffic] });
    expect(await readNodeStatistics(app, GERMAN_NODE)).toMatchObject({ realtime: raw });
  });

  it('an open circuit is the same as a panel that does not answer', async () => {
    const t = await withPanel();
    const cause = new OutboundError('vpnpanel', 'circuit_open', 'no answer');
    const refuse = () => Promise.reject(new PanelError('unavailable', 'VPN panel did not answer', { cause }));
    const app = withPort(t.app, { ...t.adapter, listNodes: refuse, getNode: refuse });
    await expect(listNodes(app)).rejects.toMatchObject({ status: 502, detail: 'VPN panel did not answer' });
    await expect(readNode(app, DUTCH_NODE)).rejects.toMatchObject({ status: 502, detail: 'VPN panel did not answer' });
  });

  it('does not answer an empty list for an error of the service itself', async () => {
    const t = await withPanel();
    const broken = () => Promise.reject(new TypeError('ours'));
    const app = withPort(t.app, { ...t.adapter, listNodes: broken, getNode: broken, restartAllNodes: broken });
    await expect(listNodes(app)).rejects.toThrow('ours');
    await expect(readNode(app, DUTCH_NODE)).rejects.toThrow('ours');
    await expect(restartAllNodes(app, admin)).rejects.toThrow('ours');
  });
});

describe('a panel that is not configured', () => {
  it('is 503 with the reason everywhere except in the status', async () => {
    const t = await withPanel();
    const app = unconfigured(t.app);
    const refused = { status: 503, detail: 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set' };
    const calls = [
      () => listNodes(app),
      () => nodesOverview(app),
      () => nodesRealtime(app),
      () => readNode(app, DUTCH_NODE),
      () => readNodeStatistics(app, DUTCH_NODE),
      () => readNodeUsage(app, DUTCH_NODE, ANY_TIME),
      () => readSystem(app),
      () => readUserTraffic(app, 1),
      () => readUserTraffic(app, -1),
      () => runNodeAction(app, admin, DUTCH_NODE, 'disable'),
      () => restartAllNodes(app, admin),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject(refused);
    expect(await readPanelStatus(app)).toEqual({
      configurationError: refused.detail,
      connection: 'not_configured',
      message: refused.detail,
      apiUrl: null,
      statusCode: null,
      systemInfo: null,
    });
  });

  it('an invalid address counts as not configured', async () => {
    const t = await withPanel();
    const app = unconfigured(t.app, { baseUrl: 'not a url', apiKey: 'key' });
    const detail = 'VPNPANEL_API_URL is not a URL';
    await expect(listNodes(app)).rejects.toMatchObject({ status: 503, detail });
    await expect(readNode(app, DUTCH_NODE)).rejects.toMatchObject({ status: 503, detail });
    await expect(restartAllNodes(app, admin)).rejects.toMatchObject({ status: 503, detail });
    expect(await readPanelStatus(app)).toMatchObject({ connection: 'not_configured', configurationError: detail });
  });
});

describe('operating nodes', () => {
  it('disables and enables a node, also twice', async () => {
    const t = await withPanel();
    const run = (action: 'enable' | 'disable' | 'restart') => runNodeAction(t.app, admin, DUTCH_NODE, action);
    for (let count = 0; count < 2; count++) {
      expect(await run('disable')).toEqual({ outcome: 'done', value: { isDisabled: true } });
      expect(await t.adapter.getNode(DUTCH_NODE)).toMatchObject({ isDisabled: true });
    }
    expect(await run('enable')).toEqual({ outcome: 'done', value: { isDisabled: false } });
    expect(await run('restart')).toEqual({ outcome: 'done', value: { isDisabled: null } });
    expect(t.panel.calls().at(-1)).toMatchObject({ path: `/api/nodes/${DUTCH_NODE}/actions/restart`, status: 200 });
    expect(await restartAllNodes(t.app, admin)).toEqual({ outcome: 'done', value: true });
    expect(t.panel.calls().at(-1)).toMatchObject({ path: '/api/nodes/actions/restart-all', status: 200 });
  });

  it.each(['enable', 'disable', 'restart'] as const)('%s distinguishes an unknown node from a failure', async (action) => {
    const t = await withPanel();
    expect(await runNodeAction(t.app, admin, UNKNOWN, action)).toEqual({ outcome: 'absent' });
    t.panel.faults.set({ status: 500 });
    expect(await runNodeAction(t.app, admin, NETHERLANDS, action)).toEqual({ outcome: 'failed', reason: expect.any(String) });
  });

  it('never sends a restart twice: the panel may have received it', async () => {
    const t = await withPanel({ retries: 2 });
    t.panel.faults.set({ timeoutAfterEffect: true, method: 'POST' });
    expect(await restartAllNodes(t.app, admin)).toMatchObject({ outcome: 'failed', reason: 'VPN panel did not answer' });
    expect(await runNodeAction(t.app, admin, DUTCH_NODE, 'restart')).toMatchObject({ outcome: 'failed' });
    expect(t.panel.calls().filter((call) => call.method === 'POST')).toHaveLength(2);
  });
});
