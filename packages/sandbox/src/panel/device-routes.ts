import { DeviceNameBody, DeviceOwnerBody, NewDeviceBody } from './infra-requests.ts';
import { deviceAnswer, devicesAnswer } from './panel-answers.ts';
import type { StoredUser } from './panel-data.ts';
import { ERRORS } from './panel-errors.ts';
import { checked, PanelRefusal, type PanelRoute, type RouteRequest } from './panel-route.ts';
import { PageQuery } from './user-requests.ts';
import { userOf } from './user-routes.ts';

/** In the older generation bodies have `userUuid`; the newer one's have `userId`. */
function adapt(body: unknown, { context }: Pick<RouteRequest, 'context'>): unknown {
  if (context.generation === 'number' || typeof body !== 'object' || body === null) return body;
  const { userUuid, userId: _unknown, ...rest } = body as Record<string, unknown>;
  if (typeof userUuid !== 'string') return rest;
  const user = context.state.byUuid(userUuid);
  if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
  return { ...rest, userId: user.id };
}

function ownerOf({ context, body }: RouteRequest): StoredUser {
  const user = context.state.byId((body as DeviceOwnerBody).userId);
  if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
  return user;
}

export const deviceRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/hwid/devices',
    query: PageQuery,
    handle({ context, query }) {
      const { start, size } = checked(PageQuery, Object.fromEntries(query));
      const rows = [...context.state.users()].flatMap((user) => user.devices.map((device) => ({ user, device })));
      const devices = rows.slice(start, start + size).map(({ user, device }) => deviceAnswer(context, user, device));
      return { response: { devices, total: rows.length } };
    },
  },
  {
    method: 'GET',
    path: '/api/hwid/devices/:user',
    handle: (request) => ({ response: devicesAnswer(request.context, userOf(request)) }),
  },
  {
    method: 'POST',
    path: '/api/hwid/devices',
    adapt,
    body: NewDeviceBody,
    handle(request) {
      const user = ownerOf(request);
      const { userId: _userId, hwid, ...details } = request.body as NewDeviceBody;
      const { state } = request.context;
      if (user.devices.some((device) => device.hwid === hwid)) throw new PanelRefusal(ERRORS.USER_HWID_DEVICE_ALREADY_EXISTS);
      const now = state.clock.now().toISOString();
      const unknown = { platform: null, osVersion: null, deviceModel: null, userAgent: null, requestIp: null };
      state.addDevice(user, { ...unknown, ...details, hwid, createdAt: now, updatedAt: now });
      return { response: devicesAnswer(request.context, user) };
    },
  },
  {
    method: 'POST',
    path: '/api/hwid/devices/delete',
    adapt,
    body: DeviceNameBody,
    handle(request) {
      const user = ownerOf(request);
      const { hwid } = request.body as DeviceNameBody;
      if (!request.context.state.removeDevice(user, hwid)) throw new PanelRefusal(ERRORS.HWID_DEVICE_NOT_FOUND);
      return { response: devicesAnswer(request.context, user) };
    },
  },
  {
    method: 'POST',
    path: '/api/hwid/devices/delete-all',
    adapt,
    body: DeviceOwnerBody,
    handle(request) {
      const user = ownerOf(request);
      for (const device of user.devices) request.context.state.removeDevice(user, device.hwid);
      return { response: devicesAnswer(request.context, user) };
    },
  },
];
