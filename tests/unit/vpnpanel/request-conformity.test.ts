import { ERRORS as PANEL_ERRORS } from '@remnawave/backend-contract';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { appConfigRoutes, deviceRoutes, SANDBOX_APP_CONFIG_UUID } from '../../../packages/sandbox/src/panel/device-routes.ts';
import { infraRoutes } from '../../../packages/sandbox/src/panel/infra-routes.ts';
import { nodeUsageRoutes } from '../../../packages/sandbox/src/panel/node-usage-routes.ts';
import { ERRORS, findRoute } from '../../../packages/sandbox/src/panel/panel-route.ts';
import type { SandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { usageRoutes } from '../../../packages/sandbox/src/panel/usage-routes.ts';
import { userBytesRoutes } from '../../../packages/sandbox/src/panel/user-bytes-routes.ts';
import { PatchUserBody } from '../../../packages/sandbox/src/panel/user-requests.ts';
import { userRoutes } from '../../../packages/sandbox/src/panel/user-routes.ts';
import { listFiles, projectRoot, readFiles } from '../../../scripts/checks/source-files.ts';
import { DAY_MS } from '../../../src/core/clock.ts';
import type { VpnPanelPort } from '../../../src/domain/provisioning/ports.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { type ContractSchema, PANEL_CONTRACT } from '../../support/panel-contract.ts';
import { aDraft, connectionTo, GERMANY, NETHERLANDS, PARTNERS, START, startPanel } from '../../support/panel-setup.ts';
import { createRecordingHttpClient } from '../../support/recording-http-client.ts';

const LATER = '2999-01-01T00:00:00.000Z';
/** A valid body for each route of the fake that accepts one. */
const BODIES: Record<string, Record<string, unknown>> = {
  'POST /api/users': { username: 'somebody', expireAt: LATER },
  'PATCH /api/users': { id: 1 },
  'POST /api/users/resolve': { id: 1 },
  'POST /api/users/bulk/update-squads': { userIds: [1], activeInternalSquads: [] },
  'POST /api/users/:user/actions/revoke': {},
  'POST /api/hwid/devices': { userId: 1, hwid: 'device-0001' },
  'POST /api/hwid/devices/delete': { userId: 1, hwid: 'device-0001' },
  'POST /api/hwid/devices/delete-all': { userId: 1 },
  'POST /api/internal-squads': { name: 'Sweden', inbounds: [] },
  'PATCH /api/internal-squads': { uuid: NETHERLANDS },
  'POST /api/bandwidth-stats/nodes/usage': { nodesUuids: [NETHERLANDS] },
  'POST /api/nodes/actions/restart-all': { forceRestart: true },
  'POST /api/nodes/:uuid/actions/restart': { forceRestart: false },
};
const QUERIES: Record<string, Record<string, unknown>> = {
  'GET /api/users': {},
  'GET /api/users/stream': {},
  'GET /api/hwid/devices': {},
  'POST /api/bandwidth-stats/nodes/usage': { start: '2026-02-01', end: '2026-02-02' },
  'GET /api/bandwidth-stats/users/:user': { start: '2026-02-01', end: '2026-02-02' },
  'GET /api/bandwidth-stats/nodes/:uuid/users': { start: '2026-02-01', end: '2026-02-02' },
};
const ofLength = (...lengths: number[]) => lengths.flatMap((length) => ['a'.repeat(length), 'A'.repeat(length)]);
const IN_BODIES: unknown[] = [
  ...[undefined, null, true, false, 0, 1, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 63, {}, [], [1], ['x'], [null]],
  ...[NETHERLANDS, [NETHERLANDS], [NETHERLANDS, 'x'], '12345678-1234-0234-0234-123456789abc', 'not-a-uuid'],
  ...['', ' ', 'a b', 'a_b-C', 'имя', 'A_1', 'a.b', 'line\nbreak', 'a=b-c12345', 'a+b1234567'],
  ...ofLength(1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 30, 31, 32, 33, 36, 37, 64, 65),
  ...['a@example.com', 'a..b@example.com', 'a@localhost', 'имя@example.com', '1', '1000', '-1'],
  ...[
    LATER,
    '2999-01-01T00:00:00',
    '2999-01-01T03:00:00+03:00',
    '2999-01-01',
    '2999-02-30T00:00:00Z',
    '2999-01-01 00:00:00',
    'tomorrow',
  ],
  ...['ACTIVE', 'DISABLED', 'LIMITED', 'EXPIRED', 'FROZEN', 'NO_RESET', 'DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING', 'YEAR'],
  ...[Array.from({ length: 500 }, () => 1), Array.from({ length: 501 }, () => 1)],
];
/** A query carries texts only. */
const IN_QUERIES = [
  ...IN_BODIES.filter((value) => value === undefined || typeof value === 'string'),
  '0',
  '1001',
  '1.5',
  '2026-02-30',
];

/** Values of single fields on which ours and the panel's schema disagree. */
function disagreements(
  ours: z.ZodType,
  panel: ContractSchema,
  base: Record<string, unknown>,
  values: readonly unknown[],
): string[] {
  const fields = Object.keys((ours as z.ZodObject).shape);
  return fields.flatMap((field) =>
    values.flatMap((value) => {
      const sent = { ...base, [field]: value };
      const [mine, theirs] = [ours.safeParse(sent).success, panel.safeParse(sent).success];
      return mine === theirs ? [] : [`${field} = ${JSON.stringify(value)?.slice(0, 60)}: ours ${mine}, the panel's ${theirs}`];
    }),
  );
}

const ROUTES = [userRoutes, usageRoutes, nodeUsageRoutes, userBytesRoutes, appConfigRoutes, deviceRoutes, infraRoutes]
  .flat()
  .filter((route) => route.only !== 'uuid')
  // This body is checked in the handler, because the end is compared with the fake's clock.
  .map((route) => (route.path === '/api/users' && route.method === 'PATCH' ? { ...route, body: PatchUserBody } : route))
  .map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

describe('what the fake accepts', () => {
  it('is compared for every route', () => {
    const named = (part: 'body' | 'query') => ROUTES.filter((route) => route[part]).map(({ name }) => name);
    expect(named('body').sort()).toEqual(Object.keys(BODIES).sort());
    expect(named('query').sort()).toEqual(Object.keys(QUERIES).sort());
  });

  it.each(Object.keys(BODIES))('08: the body of %s as the package of the panel', (name) => {
    const ours = ROUTES.find((route) => route.name === name)!.body!;
    const theirs = PANEL_CONTRACT[name]!.RequestBodySchema!;
    expect(theirs.safeParse(BODIES[name]).success).toBe(true);
    expect(disagreements(ours, theirs, BODIES[name]!, IN_BODIES)).toEqual([]);
  });

  it.each(Object.keys(QUERIES))('08: the query of %s as the package of the panel', (name) => {
    const ours = ROUTES.find((route) => route.name === name)!.query!;
    const theirs = PANEL_CONTRACT[name]!.RequestQuerySchema!;
    expect(theirs.safeParse(QUERIES[name]).success).toBe(true);
    expect(disagreements(ours, theirs, QUERIES[name]!, IN_QUERIES)).toEqual([]);
  });
});

it('08: refuses with codes, sentences and statuses of the panel', () => {
  for (const [name, { code, message, httpCode }] of Object.entries(ERRORS)) {
    expect({ name, code, message, httpCode }).toEqual({ name, ...PANEL_ERRORS[name as keyof typeof PANEL_ERRORS] });
  }
});

it("08: nothing that ships imports the panel's package, whose licence is AGPL", () => {
  const files = readFiles(projectRoot, [...listFiles(projectRoot, 'src'), ...listFiles(projectRoot, 'packages')]);
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter(({ text }) => /(?:from|import|require)\W+@remnawave\//.test(text)).map(({ path }) => path)).toEqual([]);
});

describe.each(['uuid', 'number'] as const)('what the adapter sends, %s generation', (generation) => {
  it('08: is known to the fake and, in version 3, to the package of the panel with every field', async () => {
    const started = await startPanel({ generation });
    const { panel } = started;
    const { http, sent } = createRecordingHttpClient();
    const adapter = createVpnPanelAdapter({ http, connection: () => connectionTo(panel) });
    await callEverything(adapter, panel);

    const used = new Set<string>();
    for (const { method, url, body } of sent) {
      const { pathname, searchParams } = new URL(url);
      const found = findRoute(panel.routes, method, pathname);
      const name = found ? `${method} ${found.route.path}` : `no route: ${method} ${pathname}`;
      expect(found, name).not.toBeNull();
      used.add(name);
      if (generation === 'uuid') continue;
      const { RequestBodySchema, RequestQuerySchema } = PANEL_CONTRACT[name]!;
      if (RequestQuerySchema) expect(problems(RequestQuerySchema, Object.fromEntries(searchParams)), name).toEqual([]);
      if (body === undefined) continue;
      const { expireAt, ...rest } = JSON.parse(String(body)) as Record<string, unknown>;
      // The end lies in the sandbox's future; the package compares it with the machine's clock.
      const whole = expireAt === undefined ? rest : { ...rest, expireAt: LATER };
      expect(RequestBodySchema, `${name} takes a body`).toBeDefined();
      expect(problems(RequestBodySchema!, whole), name).toEqual([]);
    }
    const unused = panel.routes.map(({ method, path }) => `${method} ${path}`).filter((name) => !used.has(name));
    expect(unused.sort()).toEqual([...UNUSED, UNUSED_OF[generation]].sort());
  });
});

/** Routes that only tests, devices or other clients of the panel use. */
const UNUSED = ['GET /api/users/by-short-uuid/:shortUuid', 'POST /api/hwid/devices', 'POST /api/hwid/devices/delete-all'];

const UNUSED_OF = { uuid: 'GET /api/bandwidth-stats/nodes/:uuid/users', number: 'POST /api/users/resolve' };

/** Every method of the port that sends a request, once. */
async function callEverything(adapter: VpnPanelPort, panel: SandboxPanel): Promise<void> {
  const full = aDraft({ externalSquadUuid: PARTNERS });
  const { username: _username, ...fields } = full;
  const { uuid, shortUuid } = await adapter.createUser(full);
  await adapter.updateUser({ ...fields, uuid, status: 'DISABLED', externalSquadUuid: null });
  await adapter.findByUuid(uuid);
  await adapter.findByMessengerId(100500);
  await adapter.findByEmail('ivan@example.com');
  await adapter.findByUsername('user_100500');
  await adapter.enableUser(uuid);
  await adapter.disableUser(uuid);
  await adapter.resetTraffic(uuid);
  await adapter.revokeUser(uuid, { onlyPasswords: true });
  await adapter.setSquadsOfUsers([uuid], [GERMANY]);
  await adapter.listUsers({ start: 0, size: 1000 });
  await adapter.listUserNodes(uuid);
  const range = { from: new Date(START.getTime() - DAY_MS), to: START };
  await adapter.readUserTraffic(uuid, range);
  await adapter.getSubscriptionInfo(shortUuid);
  panel.addDevice(panel.listUsers()[0]!.uuid, 'device-0001');
  await adapter.listAllDevices({ start: 0, size: 1000 });
  await adapter.resetDevices(uuid);
  const squad = await adapter.createInternalSquad({ name: 'Sweden', inboundUuids: [(await adapter.listInbounds())[0]!.uuid] });
  await adapter.listInternalSquads();
  await adapter.getInternalSquad(squad.uuid);
  await adapter.updateInternalSquad({ uuid: squad.uuid, name: 'Norway', inboundUuids: [] });
  await adapter.listInternalSquadNodes(squad.uuid);
  await adapter.addAllUsersToSquad(squad.uuid);
  await adapter.removeAllUsersFromSquad(squad.uuid);
  await adapter.deleteInternalSquad(squad.uuid);
  await adapter.listExternalSquads();
  const node = (await adapter.listNodes())[0]!.uuid;
  await adapter.getNode(node);
  await adapter.enableNode(node);
  await adapter.disableNode(node);
  await adapter.restartNode(node);
  await adapter.restartAllNodes();
  await adapter.listNodeTraffic();
  await adapter.listNodeUsage(node, range);
  await adapter.listNodeUserBytes(node, range);
  await adapter.listAppConfigs();
  await adapter.getAppConfig(SANDBOX_APP_CONFIG_UUID);
  await adapter.encryptLink('https://sub.example.com/link');
  await adapter.listNodeDays();
  await adapter.getSystemStats();
  await adapter.getTrafficPeriods();
  await adapter.deleteUser(uuid);
}

/** What the schema objects to, with fields that it does not know. */
function problems(schema: ContractSchema, value: Record<string, unknown>): unknown[] {
  const result = schema.safeParse(value);
  // The body of a revocation may be left out: the package makes it an empty object first.
  const zod = schema as unknown as z.ZodObject | z.ZodPipe<z.ZodTransform, z.ZodObject>;
  const known = Object.keys('shape' in zod ? zod.shape : zod.out.shape);
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  return [...(result.success ? [] : result.error.issues), ...unknown];
}
