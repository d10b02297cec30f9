import { CreateUserCommand, ERRORS, UpdateInternalSquadCommand, UpdateUserCommand } from '@remnawave/backend-contract';
import { describe, expect, it } from 'vitest';
import { SANDBOX_APP_CONFIG_UUID } from '../../../packages/sandbox/src/panel/device-routes.ts';
import type { HttpRequest } from '../../../src/core/http/http-client.ts';
import { panelNumberFromUuid, uuidFromPanelNumber } from '../../../src/integrations/vpnpanel/panel-generation.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { PANEL_CONTRACT } from '../../support/panel-contract.ts';
import { aDraft, connectionTo, NETHERLANDS, PARTNERS, startPanel, UNKNOWN_UUID } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';
import { createRecordingHttpClient } from '../../support/recording-http-client.ts';

type Started = Awaited<ReturnType<typeof startPanel>>;
interface Sample {
  path: string;
  body?: unknown;
  /** A body that the panel must refuse. */
  badBody?: unknown;
}

/** @throws for a route that is not in the table */
function contractOf(route: string) {
  if (!(route in PANEL_CONTRACT)) throw new Error(`no contract named for ${route}`);
  return PANEL_CONTRACT[route];
}

async function send({ panel }: Pick<Started, 'panel'>, method: string, path: string, body?: unknown) {
  const response = await createPlainHttpClient({ retries: 0 }).request({
    method: method as HttpRequest['method'],
    url: panel.url + path,
    headers: { authorization: `Bearer ${panel.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: response.text === '' ? undefined : JSON.parse(response.text) };
}

/** One good and, where the route accepts a body, one bad call for every route; a user with everything set is number 1. */
async function samples(started: Started, generation: 'uuid' | 'number'): Promise<Record<string, Sample>> {
  const { panel, adapter } = started;
  const user = await adapter.createUser(aDraft({ externalSquadUuid: PARTNERS }));
  const stored = panel.listUsers()[0]!;
  panel.addDevice(stored.uuid, 'device-0001');
  panel.addTraffic(stored.uuid, 5 * 1024 ** 3);
  const isNumber = generation === 'number';
  const ref = isNumber ? 1 : user.uuid;
  const owner = isNumber ? { userId: 1 } : { userUuid: user.uuid };
  const address = isNumber ? { id: 1 } : { uuid: user.uuid };
  const squad = (await adapter.createInternalSquad({ name: 'Spare', inboundUuids: [] })).uuid;
  const node = (await adapter.listNodes())[0]!.uuid;
  const expireAt = '2026-05-01T00:00:00.000Z';
  const common: Record<string, Sample> = {
    'POST /api/users': { path: '/api/users', body: { username: 'another', expireAt }, badBody: { username: 'x y', expireAt } },
    'PATCH /api/users': {
      path: '/api/users',
      body: { ...address, tag: 'NEW', expireAt },
      badBody: { ...address, status: 'LIMITED' },
    },
    'POST /api/users/bulk/update-squads': {
      path: '/api/users/bulk/update-squads',
      body: { ...(isNumber ? { userIds: [1] } : { uuids: [user.uuid] }), activeInternalSquads: [squad] },
      badBody: { ...(isNumber ? { userIds: [] } : { uuids: [] }), activeInternalSquads: [squad] },
    },
    'GET /api/users': { path: '/api/users?start=0&size=5' },
    'GET /api/users/by-username/:username': { path: '/api/users/by-username/user_100500' },
    'GET /api/users/by-short-uuid/:shortUuid': { path: `/api/users/by-short-uuid/${user.shortUuid}` },
    'GET /api/users/:user': { path: `/api/users/${ref}` },
    'GET /api/users/:user/accessible-nodes': { path: `/api/users/${ref}/accessible-nodes` },
    'GET /api/bandwidth-stats/users/:user': { path: `/api/bandwidth-stats/users/${ref}?start=2026-02-01&end=2026-03-02` },
    'POST /api/users/:user/actions/disable': { path: `/api/users/${ref}/actions/disable` },
    'POST /api/users/:user/actions/enable': { path: `/api/users/${ref}/actions/enable` },
    'POST /api/users/:user/actions/reset-traffic': { path: `/api/users/${ref}/actions/reset-traffic` },
    'POST /api/users/:user/actions/revoke': {
      path: `/api/users/${ref}/actions/revoke`,
      body: { revokeOnlyPasswords: true },
      badBody: { shortUuid: 'short' },
    },
    'GET /api/hwid/devices': { path: '/api/hwid/devices' },
    'GET /api/hwid/devices/:user': { path: `/api/hwid/devices/${ref}` },
    'POST /api/hwid/devices': {
      path: '/api/hwid/devices',
      body: { ...owner, hwid: 'device-0002' },
      badBody: { ...owner, hwid: '?' },
    },
    'POST /api/hwid/devices/delete': {
      path: '/api/hwid/devices/delete',
      body: { ...owner, hwid: 'device-0001' },
      badBody: { hwid: 'device-0001' },
    },
    'POST /api/hwid/devices/delete-all': { path: '/api/hwid/devices/delete-all', body: owner, badBody: {} },
    'GET /api/internal-squads': { path: '/api/internal-squads' },
    'GET /api/subscription-page-configs': { path: '/api/subscription-page-configs' },
    'GET /api/subscription-page-configs/:uuid': { path: `/api/subscription-page-configs/${SANDBOX_APP_CONFIG_UUID}` },
    'POST /api/internal-squads': {
      path: '/api/internal-squads',
      body: { name: 'Sweden', inbounds: [] },
      badBody: { name: 'Sweden', inbounds: 'all' },
    },
    'PATCH /api/internal-squads': {
      path: '/api/internal-squads',
      body: { uuid: squad, name: 'Spare 2' },
      badBody: { uuid: squad, name: '!' },
    },
    'GET /api/internal-squads/:uuid': { path: `/api/internal-squads/${NETHERLANDS}` },
    'GET /api/internal-squads/:uuid/accessible-nodes': { path: `/api/internal-squads/${NETHERLANDS}/accessible-nodes` },
    'POST /api/internal-squads/:uuid/bulk-actions/add-users': { path: `/api/internal-squads/${squad}/bulk-actions/add-users` },
    'DELETE /api/internal-squads/:uuid/bulk-actions/remove-users': {
      path: `/api/internal-squads/${squad}/bulk-actions/remove-users`,
    },
    'DELETE /api/internal-squads/:uuid': { path: `/api/internal-squads/${squad}` },
    'GET /api/external-squads': { path: '/api/external-squads' },
    'GET /api/config-profiles/inbounds': { path: '/api/config-profiles/inbounds' },
    'GET /api/nodes': { path: '/api/nodes' },
    'GET /api/nodes/:uuid': { path: `/api/nodes/${node}` },
    'POST /api/nodes/:uuid/actions/enable': { path: `/api/nodes/${node}/actions/enable` },
    'POST /api/nodes/:uuid/actions/disable': { path: `/api/nodes/${node}/actions/disable` },
    'POST /api/nodes/:uuid/actions/restart': {
      path: `/api/nodes/${node}/actions/restart`,
      body: { forceRestart: true },
      badBody: { forceRestart: 'yes' },
    },
    'POST /api/nodes/actions/restart-all': {
      path: '/api/nodes/actions/restart-all',
      body: { forceRestart: true },
      badBody: { forceRestart: 'yes' },
    },
    'GET /api/bandwidth-stats/nodes/:uuid/users': {
      path: `/api/bandwidth-stats/nodes/${node}/users?start=2026-02-23&end=2026-03-01&topUsersLimit=10`,
    },
    'GET /api/system/nodes/metrics': { path: '/api/system/nodes/metrics' },
    'GET /api/system/stats/bandwidth': { path: '/api/system/stats/bandwidth' },
    'GET /api/system/stats/nodes': { path: '/api/system/stats/nodes' },
    'GET /api/system/metadata': { path: '/api/system/metadata' },
    'GET /api/system/stats': { path: '/api/system/stats' },
    'GET /api/sub/:shortUuid/info': { path: `/api/sub/${user.shortUuid}/info` },
  };
  const ofGeneration: Record<string, Sample> = isNumber
    ? {
        'GET /api/users/stream': { path: '/api/users/stream?telegramId=100500' },
        'POST /api/bandwidth-stats/nodes/usage': {
          path: '/api/bandwidth-stats/nodes/usage?start=2026-02-23&end=2026-03-01',
          body: { nodesUuids: [node] },
          badBody: { nodesUuids: [] },
        },
        'POST /api/users/resolve': { path: '/api/users/resolve', body: { id: 1 }, badBody: { id: 1, username: 'user_100500' } },
      }
    : {
        'GET /api/users/by-telegram-id/:telegramId': { path: '/api/users/by-telegram-id/100500' },
        'GET /api/bandwidth-stats/nodes/:uuid/users/legacy': {
          path: `/api/bandwidth-stats/nodes/${node}/users/legacy?start=2026-02-23&end=2026-03-01`,
        },
        'GET /api/users/by-email/:email': { path: '/api/users/by-email/ivan%40example.com' },
        'POST /api/system/tools/happ/encrypt': {
          path: '/api/system/tools/happ/encrypt',
          body: { linkToEncrypt: 'https://example.com' },
          badBody: { linkToEncrypt: 'no link' },
        },
      };
  return { ...common, ...ofGeneration, 'DELETE /api/users/:user': { path: `/api/users/${ref}` } };
}

describe.each(['uuid', 'number'] as const)('sandbox panel, %s generation', (generation) => {
  it('answers every served route by the contract', async () => {
    const started = await startPanel({ generation });
    const calls = await samples(started, generation);
    const served = started.panel.routes.map((route) => `${route.method} ${route.path}`);
    expect(Object.keys(calls).sort()).toEqual([...served].sort());
    for (const [name, sample] of Object.entries(calls)) {
      const route = started.panel.routes.find((candidate) => `${candidate.method} ${candidate.path}` === name)!;
      const { status, json } = await send(started, route.method, sample.path, sample.body);
      expect(status, name).toBeGreaterThanOrEqual(200);
      expect(status, name).toBeLessThan(300);
      const answer = contractOf(name)?.ResponseSchema;
      // A number of uuids instead of users is the older generation's; the newer one answers 204 there.
      if (answer && json !== undefined) {
        const result = answer.safeParse(json);
        expect(result.success ? [] : result.error.issues, name).toEqual([]);
      }
    }
  });

  it('refuses bodies that the contract refuses, in the shape of the panel', async () => {
    const started = await startPanel({ generation });
    const calls = await samples(started, generation);
    const withBody = started.panel.routes.filter((route) => route.body);
    expect(withBody.length).toBeGreaterThan(8);
    for (const route of withBody) expect(calls[`${route.method} ${route.path}`]?.badBody, route.path).toBeDefined();
    for (const [name, sample] of Object.entries(calls)) {
      if (sample.badBody === undefined) continue;
      const { status, json } = await send(started, name.split(' ')[0]!, sample.path, sample.badBody);
      expect({ name, status, message: json.message }).toEqual({ name, status: 400, message: 'Validation failed' });
      expect(json.errors[0], name).toMatchObject({ code: expect.any(String), path: expect.any(Array) });
    }
  });

  it('refuses calls without the key on every route but the public one', async () => {
    const { panel } = await startPanel({ generation });
    for (const route of panel.routes) {
      const path = route.path.replace(/:\w+/g, '1');
      const { status } = await createPlainHttpClient({ retries: 0 }).request({ method: route.method, url: panel.url + path });
      expect(status, route.path).toBe(route.path.startsWith('/api/sub/') ? 404 : 401);
    }
  });

  it('answers errors as the panel does', async () => {
    const started = await startPanel({ generation });
    const absent = await send(started, 'GET', '/api/users/by-username/nobody');
    expect(absent).toMatchObject({
      status: 404,
      json: { errorCode: ERRORS.GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND.code, path: '/api/users/by-username/nobody' },
    });
    expect(await send(started, 'GET', '/api/nothing')).toMatchObject({
      status: 404,
      json: { message: 'Cannot GET /api/nothing' },
    });
    const past = { username: 'user_100500', expireAt: '2020-01-01T00:00:00.000Z' };
    await started.adapter.createUser(aDraft());
    expect(await send(started, 'PATCH', '/api/users', past)).toMatchObject({
      status: 400,
      json: { errors: [{ path: ['expireAt'], message: 'Expiration date cannot be in the past' }] },
    });
  });
});

describe('adapter requests', () => {
  const full = aDraft({ externalSquadUuid: PARTNERS });
  const { username: _username, ...fields } = full;

  async function bodiesOf(generation: 'uuid' | 'number') {
    const { panel } = await startPanel({ generation });
    const { http, sent } = createRecordingHttpClient();
    const adapter = createVpnPanelAdapter({ http, connection: () => connectionTo(panel) });
    const { uuid } = await adapter.createUser(full);
    await adapter.updateUser({ ...fields, uuid, status: 'DISABLED' });
    const squad = (await adapter.listInternalSquads())[0]!;
    await adapter.updateInternalSquad({ uuid: squad.uuid, name: 'Renamed', inboundUuids: [] });
    const body = (method: string, path: string) => {
      const request = sent.find((call) => call.method === method && call.url === panel.url + path);
      return JSON.parse(String(request?.body)) as Record<string, unknown>;
    };
    return {
      uuid,
      create: body('POST', '/api/users'),
      patch: body('PATCH', '/api/users'),
      squad: body('PATCH', '/api/internal-squads'),
    };
  }

  it('carries only fields that the contract knows, in the form it wants', async () => {
    const { create, patch, squad } = await bodiesOf('number');
    expect(CreateUserCommand.RequestBodySchema.strict().safeParse(create).error?.issues ?? []).toEqual([]);
    expect(UpdateInternalSquadCommand.RequestBodySchema.strict().safeParse(squad).error?.issues ?? []).toEqual([]);
    // The end lies in the sandbox's future; the contract's own clock is the machine's.
    const later = { ...patch, expireAt: '2999-01-01T00:00:00.000Z' };
    expect(UpdateUserCommand.RequestBodySchema.safeParse(later).error?.issues ?? []).toEqual([]);
    const known = Object.keys(UpdateUserCommand.RequestBodySchema.shape);
    expect(Object.keys(patch).filter((key) => !known.includes(key))).toEqual([]);
    expect(patch).toMatchObject({ id: 1, status: 'DISABLED', expireAt: '2026-04-01T12:00:00.000Z' });
  });

  it('maps the messenger id and the other neutral names', async () => {
    const { create, patch, uuid } = await bodiesOf('uuid');
    expect(create).toEqual({
      username: 'user_100500',
      status: 'ACTIVE',
      expireAt: '2026-04-01T12:00:00.000Z',
      trafficLimitBytes: 10 * 1024 ** 3,
      trafficLimitStrategy: 'MONTH',
      telegramId: 100500,
      email: 'ivan@example.com',
      hwidDeviceLimit: 2,
      description: 'Bot user: Ivan @ivan',
      tag: 'PAID',
      activeInternalSquads: [NETHERLANDS],
      externalSquadUuid: PARTNERS,
    });
    const { username: _name, ...rest } = create;
    expect(patch).toEqual({ ...rest, uuid, status: 'DISABLED' });
  });
});

describe('handles of users without a uuid', () => {
  it.each([1, 4711, 2 ** 32 + 5, 2 ** 48 - 1])('keeps number %i', (id) => {
    expect(panelNumberFromUuid(uuidFromPanelNumber(id))).toBe(id);
  });

  it('has no number for a real uuid and none for 0', () => {
    expect(panelNumberFromUuid(UNKNOWN_UUID)).toBeNull();
    expect(panelNumberFromUuid('00000000-0000-8000-8000-000000000000')).toBeNull();
    expect(() => uuidFromPanelNumber(0)).toThrow(RangeError);
  });
});
