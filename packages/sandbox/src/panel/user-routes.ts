import { z } from 'zod';
import { accessibleNodes, userAnswer } from './panel-answers.ts';
import type { StoredUser } from './panel-data.ts';
import {
  BodyRefusal,
  checked,
  ERRORS,
  type PanelErrorEntry,
  PanelRefusal,
  type PanelRoute,
  type RouteAnswer,
  type RouteRequest,
} from './panel-route.ts';
import type { PanelState } from './panel-state.ts';
import {
  CreateUserBody,
  PageQuery,
  PatchUserBody,
  ResolveUserBody,
  RevokeUserBody,
  UserStreamQuery,
  UsersSquadsBody,
} from './user-requests.ts';
import { currentStatus, newPassword, newShortUuid, newUuid, statusAfterPatch, statusAfterReset } from './user-rules.ts';

/** The user that `:user` names: a uuid in the older generation, a number in the newer. @throws PanelRefusal A063, BodyRefusal */
export function userOf({ context, params }: Pick<RouteRequest, 'context' | 'params'>): StoredUser {
  const name = params.user ?? '';
  const isOfKind = context.generation === 'uuid' ? z.guid().safeParse(name).success : /^\d+$/.test(name);
  if (!isOfKind) throw new BodyRefusal([{ code: 'custom', path: ['user'], message: 'Invalid id' }]);
  const found = context.generation === 'uuid' ? context.state.byUuid(name) : context.state.byId(Number(name));
  if (!found) throw new PanelRefusal(ERRORS.GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND);
  return found;
}

const oneUser = (request: RouteRequest, user: StoredUser) => ({ response: userAnswer(request.context, user) });

/** The list of a look-up in the older generation; an empty one is its 404. */
function userList(request: RouteRequest, users: StoredUser[]) {
  if (users.length === 0) throw new PanelRefusal(ERRORS.USERS_NOT_FOUND);
  return { response: users.map((user) => userAnswer(request.context, user)) };
}

export const userRoutes: PanelRoute[] = [
  {
    method: 'POST',
    path: '/api/users',
    body: CreateUserBody,
    handle: (request) => ({ ...oneUser(request, createUser(request)), status: 201 }),
  },
  {
    method: 'PATCH',
    path: '/api/users',
    // Checked in `patchUser`: whether the end is past depends on the sandbox's clock.
    handle: (request) => oneUser(request, patchUser(request)),
  },
  {
    method: 'GET',
    path: '/api/users',
    query: PageQuery,
    handle(request) {
      const { start, size } = checked(PageQuery, Object.fromEntries(request.query));
      const { state } = request.context;
      const users = state.usersFrom(start, size);
      return { response: { users: users.map((user) => userAnswer(request.context, user)), total: state.userCount() } };
    },
  },
  {
    method: 'GET',
    path: '/api/users/stream',
    only: 'number',
    query: UserStreamQuery,
    handle: streamUsers,
  },
  {
    method: 'POST',
    path: '/api/users/resolve',
    only: 'number',
    body: ResolveUserBody,
    handle({ context: { state }, body }) {
      const { id, shortUuid, username } = body as ResolveUserBody;
      const user = id !== undefined ? state.byId(id) : (state.byShortUuid(shortUuid ?? '') ?? state.byUsername(username ?? ''));
      if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
      return { response: { id: user.id, username: user.username, shortUuid: user.shortUuid } };
    },
  },
  {
    method: 'GET',
    path: '/api/users/by-username/:username',
    handle(request) {
      const user = request.context.state.byUsername(request.params.username ?? '');
      if (!user) throw new PanelRefusal(ERRORS.GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND);
      return oneUser(request, user);
    },
  },
  {
    method: 'GET',
    path: '/api/users/by-short-uuid/:shortUuid',
    handle(request) {
      const user = request.context.state.byShortUuid(request.params.shortUuid ?? '');
      if (!user) throw new PanelRefusal(ERRORS.GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND);
      return oneUser(request, user);
    },
  },
  {
    method: 'GET',
    path: '/api/users/by-telegram-id/:telegramId',
    only: 'uuid',
    handle: (request) => userList(request, request.context.state.byTelegramId(Number(request.params.telegramId))),
  },
  {
    method: 'GET',
    path: '/api/users/by-email/:email',
    only: 'uuid',
    handle: (request) => userList(request, request.context.state.byEmail(request.params.email ?? '')),
  },
  {
    method: 'POST',
    path: '/api/users/bulk/update-squads',
    // The older generation names uuids; it has no number of users for those it does not know.
    adapt(body, { context: { state, generation } }) {
      const { uuids, userIds: _unknown, ...rest } = body as { uuids?: unknown; userIds?: unknown };
      if (generation === 'number') return body;
      if (!Array.isArray(uuids)) return rest;
      return { ...rest, userIds: uuids.map((uuid) => state.byUuid(String(uuid))?.id ?? 0) };
    },
    body: UsersSquadsBody,
    handle: (request) => setSquads(request),
  },
  {
    method: 'GET',
    path: '/api/users/:user',
    handle: (request) => oneUser(request, userOf(request)),
  },
  {
    method: 'DELETE',
    path: '/api/users/:user',
    handle(request) {
      request.context.state.remove(userOf(request));
      return request.context.generation === 'uuid' ? { response: { isDeleted: true } } : { status: 204 };
    },
  },
  {
    method: 'GET',
    path: '/api/users/:user/accessible-nodes',
    handle(request) {
      const user = userOf(request);
      const activeNodes = accessibleNodes(request.context.state, user.squadUuids);
      const uuid = request.context.generation === 'uuid' ? { userUuid: user.uuid } : {};
      return { response: { ...uuid, userId: user.id, activeNodes } };
    },
  },
  {
    method: 'POST',
    path: '/api/users/:user/actions/enable',
    handle(request) {
      const user = userOf(request);
      const { state } = request.context;
      if (currentStatus(user, state.clock.now()) === 'ACTIVE') throw new PanelRefusal(ERRORS.USER_ALREADY_ENABLED);
      state.update(user, { status: 'ACTIVE' });
      return oneUser(request, user);
    },
  },
  {
    method: 'POST',
    path: '/api/users/:user/actions/disable',
    handle(request) {
      const user = userOf(request);
      if (user.status === 'DISABLED') throw new PanelRefusal(ERRORS.USER_ALREADY_DISABLED);
      request.context.state.update(user, { status: 'DISABLED' });
      return oneUser(request, user);
    },
  },
  {
    method: 'POST',
    path: '/api/users/:user/actions/reset-traffic',
    handle(request) {
      const user = userOf(request);
      const now = request.context.state.clock.now();
      const status = statusAfterReset(user, now);
      request.context.state.update(user, { usedTrafficBytes: 0, lastTrafficResetAt: now.toISOString(), status });
      return oneUser(request, user);
    },
  },
  {
    method: 'POST',
    path: '/api/users/:user/actions/revoke',
    body: RevokeUserBody,
    handle(request) {
      const user = userOf(request);
      const { state } = request.context;
      const { revokeOnlyPasswords, shortUuid } = request.body as RevokeUserBody;
      if (shortUuid !== undefined && state.byShortUuid(shortUuid)) throw new PanelRefusal(ERRORS.USER_SHORT_UUID_ALREADY_EXISTS);
      state.update(user, {
        ...(revokeOnlyPasswords ? {} : { shortUuid: shortUuid ?? newShortUuid(state.random) }),
        vlessUuid: newUuid(state.random),
        trojanPassword: newPassword(state.random),
        ssPassword: newPassword(state.random),
        subRevokedAt: state.clock.now().toISOString(),
      });
      return oneUser(request, user);
    },
  },
];

/** Unknown users are skipped, as by a real panel. */
function setSquads({ context: { state, generation }, body }: RouteRequest): RouteAnswer {
  const { userIds, activeInternalSquads } = body as UsersSquadsBody;
  checkStorable(state, { activeInternalSquads }, ERRORS.BULK_ADD_INBOUNDS_TO_USERS_ERROR);
  const users = userIds.map((id) => state.byId(id)).filter((user) => user !== undefined);
  for (const user of users) state.update(user, { squadUuids: [...new Set(activeInternalSquads)] });
  return generation === 'uuid' ? { response: { affectedRows: users.length } } : { status: 204 };
}

function createUser(request: RouteRequest): StoredUser {
  const { state } = request.context;
  const body = request.body as CreateUserBody;
  if (state.byUsername(body.username)) throw new PanelRefusal(ERRORS.USER_USERNAME_ALREADY_EXISTS);
  if (body.shortUuid && state.byShortUuid(body.shortUuid)) throw new PanelRefusal(ERRORS.USER_SHORT_UUID_ALREADY_EXISTS);
  checkStorable(state, body, ERRORS.CREATE_USER_ERROR);
  const now = state.clock.now().toISOString();
  const user: StoredUser = {
    id: state.meta.nextId++,
    uuid: newUuid(state.random),
    shortUuid: body.shortUuid ?? newShortUuid(state.random),
    username: body.username,
    status: body.status ?? 'ACTIVE',
    trafficLimitBytes: body.trafficLimitBytes ?? 0,
    trafficLimitStrategy: body.trafficLimitStrategy ?? 'NO_RESET',
    expireAt: body.expireAt.toISOString(),
    telegramId: body.telegramId ?? null,
    email: body.email ?? null,
    description: body.description ?? null,
    tag: body.tag ?? null,
    hwidDeviceLimit: body.hwidDeviceLimit ?? null,
    externalSquadUuid: body.externalSquadUuid ?? null,
    trojanPassword: body.trojanPassword ?? newPassword(state.random),
    vlessUuid: body.vlessUuid ?? newUuid(state.random),
    ssPassword: body.ssPassword ?? newPassword(state.random),
    subRevokedAt: null,
    lastTrafficResetAt: body.lastTrafficResetAt?.toISOString() ?? null,
    createdAt: body.createdAt?.toISOString() ?? now,
    updatedAt: now,
    usedTrafficBytes: 0,
    lifetimeUsedTrafficBytes: 0,
    onlineAt: null,
    firstConnectedAt: null,
    squadUuids: [...new Set(body.activeInternalSquads ?? [])],
    devices: [],
  };
  state.insert(user);
  return user;
}

function patchUser(request: RouteRequest): StoredUser {
  const { state } = request.context;
  const body = checkedPatch(request);
  const user = body.id !== undefined ? state.byId(body.id) : state.byUsername(body.username ?? '');
  if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
  checkStorable(state, body, ERRORS.UPDATE_USER_ERROR);
  state.update(user, {
    status: statusAfterPatch(user, body, state.clock.now()),
    ...defined({
      trafficLimitBytes: body.trafficLimitBytes,
      trafficLimitStrategy: body.trafficLimitStrategy,
      expireAt: body.expireAt?.toISOString(),
      telegramId: body.telegramId,
      email: body.email,
      description: body.description,
      tag: body.tag,
      hwidDeviceLimit: body.hwidDeviceLimit,
      externalSquadUuid: body.externalSquadUuid,
      squadUuids: body.activeInternalSquads && [...new Set(body.activeInternalSquads)],
    }),
  });
  return user;
}

/** Replaces a uuid by the user's number, checks the body, and compares the end date with the sandbox's clock. */
function checkedPatch({ context, body }: RouteRequest): PatchUserBody {
  const raw: Record<string, unknown> = { ...(body as object) };
  if (context.generation === 'uuid' && typeof raw.uuid === 'string') {
    const user = context.state.byUuid(raw.uuid);
    if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
    raw.id = user.id;
  } else if (context.generation === 'uuid') {
    delete raw.id;
  }
  const patch = checked(PatchUserBody, raw);
  if (patch.expireAt !== undefined && patch.expireAt <= context.state.clock.now()) {
    throw new BodyRefusal([{ code: 'custom', path: ['expireAt'], message: 'Expiration date cannot be in the past' }]);
  }
  return patch;
}

function defined<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> | Extract<T[K], null> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> | Extract<T[K], null> };
}

function streamUsers(request: RouteRequest) {
  const { context, query } = request;
  const filter = checked(UserStreamQuery, Object.fromEntries(query));
  const { state } = context;
  const now = state.clock.now();
  let candidates: Iterable<StoredUser> = state.users();
  if (filter.telegramId !== undefined) candidates = state.byTelegramId(filter.telegramId);
  else if (filter.email !== undefined) candidates = state.byEmail(filter.email);
  const found: StoredUser[] = [];
  let hasMore = false;
  for (const user of candidates) {
    if (user.id <= (filter.cursor ?? 0)) continue;
    if (filter.email !== undefined && user.email?.toLowerCase() !== filter.email.toLowerCase()) continue;
    if (filter.status !== undefined && currentStatus(user, now) !== filter.status) continue;
    if (filter.trafficLimitStrategy !== undefined && user.trafficLimitStrategy !== filter.trafficLimitStrategy) continue;
    if (filter.tag !== undefined && user.tag !== filter.tag) continue;
    if (filter.externalSquadUuid !== undefined && user.externalSquadUuid !== filter.externalSquadUuid) continue;
    hasMore = found.length === filter.size;
    if (hasMore) break;
    found.push(user);
  }
  const nextCursor = hasMore ? String(found.at(-1)?.id) : null;
  return { response: { users: found.map((user) => userAnswer(context, user)), nextCursor, hasMore } };
}

/** Above the 64-bit integers of the panel's database. */
const BIGINT_LIMIT = 2 ** 63;
const INT_LIMIT = 2 ** 31;

interface StoredFields {
  activeInternalSquads?: readonly string[];
  externalSquadUuid?: string | null;
  telegramId?: number | null;
  trafficLimitBytes?: number;
  hwidDeviceLimit?: number | null;
}

/**
 * Refuses what passes the panel's schema but not its database: squads that do not exist and numbers that do not fit. The panel
 * answers these with status 500 and the general code of the operation, whatever the cause (08 P3, P4).
 *
 * @param failure that code: A018 for a creation, A039 for a change, A088 for a change of many
 * @throws PanelRefusal
 */
function checkStorable(state: PanelState, fields: StoredFields, failure: PanelErrorEntry): void {
  const { internalSquads, externalSquads } = state.meta;
  const external = fields.externalSquadUuid;
  const isStorable =
    (external == null || externalSquads.some(({ uuid }) => uuid === external)) &&
    (fields.activeInternalSquads ?? []).every((wanted) => internalSquads.some(({ uuid }) => uuid === wanted)) &&
    isInteger(fields.telegramId, BIGINT_LIMIT) &&
    isInteger(fields.trafficLimitBytes, BIGINT_LIMIT) &&
    isInteger(fields.hwidDeviceLimit, INT_LIMIT);
  if (!isStorable) throw new PanelRefusal(failure);
}

function isInteger(value: number | null | undefined, limit: number): boolean {
  return value == null || (Number.isInteger(value) && Math.abs(value) < limit);
}
