import { z } from 'zod';
import {
  accessibleNodes,
  externalSquadsAnswer,
  inboundAnswer,
  internalSquadsAnswer,
  metadataAnswer,
  nodeAnswer,
  statsAnswer,
  subscriptionInfoAnswer,
} from './panel-answers.ts';
import type { StoredNode, StoredSquad } from './panel-data.ts';
import { BodyRefusal, ERRORS, PanelRefusal, type PanelRoute, type RouteAnswer, type RouteRequest } from './panel-route.ts';
import { newUuid } from './user-rules.ts';

/** What the fake accepts about squads, nodes, devices and usage. */

const SquadName = z
  .string()
  .min(2)
  .max(30)
  .regex(/^[\w\s-]+$/);
const Inbounds = z.array(z.uuid());

export const CreateSquadBody = z.object({ name: SquadName, inbounds: Inbounds });
type CreateSquadBody = z.output<typeof CreateSquadBody>;

export const PatchSquadBody = z.object({ uuid: z.uuid(), name: SquadName.optional(), inbounds: Inbounds.optional() });
type PatchSquadBody = z.output<typeof PatchSquadBody>;

const RestartBody = z.object({ forceRestart: z.boolean() });

/** The user whose devices are meant; the older generation's `userUuid` is converted before. */
export const DeviceOwnerBody = z.object({ userId: z.number() });
export type DeviceOwnerBody = z.output<typeof DeviceOwnerBody>;

export const DeviceNameBody = DeviceOwnerBody.extend({ hwid: z.string() });
export type DeviceNameBody = z.output<typeof DeviceNameBody>;

/** Name of a device, as applications send it in `x-hwid`. */
export const HWID_PATTERN = /^[a-zA-Z0-9=-]{10,64}$/;

export const NewDeviceBody = DeviceOwnerBody.extend({
  hwid: z.string().regex(HWID_PATTERN),
  platform: z.string().optional(),
  osVersion: z.string().optional(),
  deviceModel: z.string().optional(),
  userAgent: z.string().optional(),
  requestIp: z.string().optional(),
});
export type NewDeviceBody = z.output<typeof NewDeviceBody>;

/** Days as `YYYY-MM-DD`, both included. */
export const UsageQuery = z.object({ start: z.iso.date(), end: z.iso.date() });

export const NodeUsersQuery = UsageQuery.extend({ topUsersLimit: z.coerce.number().min(1).default(100) });

/** Users of several nodes; those with less traffic are left out. */
export const NodeTotalsQuery = UsageQuery.extend({ minTotalBytes: z.coerce.number().min(0).default(0) });
export const NodeTotalsBody = z.object({ nodesUuids: z.array(z.uuid()).min(1) });
export type NodeTotalsBody = z.output<typeof NodeTotalsBody>;

function squadOf({ context, params }: RouteRequest): StoredSquad {
  const squad = context.state.meta.internalSquads.find(({ uuid }) => uuid === params.uuid);
  if (!squad) throw new PanelRefusal(ERRORS.INTERNAL_SQUAD_NOT_FOUND);
  return squad;
}

function squadAnswer({ context }: RouteRequest, squad: StoredSquad): RouteAnswer {
  return { response: internalSquadsAnswer(context.state).find(({ uuid }) => uuid === squad.uuid) };
}

/** Work that the panel does after its answer. */
const eventSent = ({ context }: RouteRequest): RouteAnswer =>
  context.generation === 'uuid' ? { response: { eventSent: true } } : { status: 204 };

/** @throws PanelRefusal when there is no such node */
export function nodeOf({ context, params }: RouteRequest): StoredNode {
  const node = context.state.meta.nodes.find(({ uuid }) => uuid === params.uuid);
  if (!node) throw new PanelRefusal(ERRORS.NODE_NOT_FOUND);
  return node;
}

function switchNode(request: RouteRequest, isDisabled: boolean): RouteAnswer {
  const node = nodeOf(request);
  node.isDisabled = isDisabled;
  node.changedAt = request.context.state.clock.now().toISOString();
  request.context.state.touchMeta();
  return { response: nodeAnswer(request.context.state, node) };
}

const squadRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/internal-squads',
    handle({ context: { state } }) {
      const internalSquads = internalSquadsAnswer(state);
      return { response: { total: internalSquads.length, internalSquads } };
    },
  },
  {
    method: 'POST',
    path: '/api/internal-squads',
    body: CreateSquadBody,
    handle(request) {
      const { name, inbounds } = request.body as CreateSquadBody;
      const { state } = request.context;
      if (state.meta.internalSquads.some((squad) => squad.name === name)) {
        throw new PanelRefusal(ERRORS.INTERNAL_SQUAD_NAME_ALREADY_EXISTS);
      }
      const viewPosition = state.meta.internalSquads.length + 1;
      const squad = { uuid: newUuid(state.random), name, viewPosition, inboundUuids: inbounds };
      state.meta.internalSquads.push(squad);
      state.touchMeta();
      return { ...squadAnswer(request, squad), status: 201 } as RouteAnswer;
    },
  },
  {
    method: 'PATCH',
    path: '/api/internal-squads',
    body: PatchSquadBody,
    handle(request) {
      const { uuid, name, inbounds } = request.body as PatchSquadBody;
      const squad = squadOf({ ...request, params: { uuid } });
      squad.name = name ?? squad.name;
      squad.inboundUuids = inbounds ?? squad.inboundUuids;
      request.context.state.touchMeta();
      return squadAnswer(request, squad);
    },
  },
  {
    method: 'GET',
    path: '/api/internal-squads/:uuid',
    handle: (request) => squadAnswer(request, squadOf(request)),
  },
  {
    method: 'DELETE',
    path: '/api/internal-squads/:uuid',
    handle(request) {
      const squad = squadOf(request);
      const { state } = request.context;
      state.meta.internalSquads = state.meta.internalSquads.filter(({ uuid }) => uuid !== squad.uuid);
      for (const user of state.users()) {
        if (user.squadUuids.includes(squad.uuid)) {
          state.update(user, { squadUuids: user.squadUuids.filter((uuid) => uuid !== squad.uuid) });
        }
      }
      state.touchMeta();
      return request.context.generation === 'uuid' ? { response: { isDeleted: true } } : { status: 204 };
    },
  },
  {
    method: 'GET',
    path: '/api/internal-squads/:uuid/accessible-nodes',
    handle(request) {
      const squad = squadOf(request);
      return { response: { squadUuid: squad.uuid, accessibleNodes: accessibleNodes(request.context.state, [squad.uuid]) } };
    },
  },
  {
    method: 'POST',
    path: '/api/internal-squads/:uuid/bulk-actions/add-users',
    handle(request) {
      const { uuid } = squadOf(request);
      const { state } = request.context;
      for (const user of state.users()) {
        if (!user.squadUuids.includes(uuid)) state.update(user, { squadUuids: [...user.squadUuids, uuid] });
      }
      return eventSent(request);
    },
  },
  {
    method: 'DELETE',
    path: '/api/internal-squads/:uuid/bulk-actions/remove-users',
    handle(request) {
      const { uuid } = squadOf(request);
      const { state } = request.context;
      for (const user of state.users()) {
        if (user.squadUuids.includes(uuid)) {
          state.update(user, { squadUuids: user.squadUuids.filter((other) => other !== uuid) });
        }
      }
      return eventSent(request);
    },
  },
  {
    method: 'GET',
    path: '/api/external-squads',
    handle({ context: { state } }) {
      const externalSquads = externalSquadsAnswer(state);
      return { response: { total: externalSquads.length, externalSquads } };
    },
  },
  {
    method: 'GET',
    path: '/api/config-profiles/inbounds',
    handle({ context: { state } }) {
      const inbounds = state.meta.inbounds.map(({ uuid }) => ({
        ...inboundAnswer(state, uuid),
        activeSquads: state.meta.internalSquads.filter((squad) => squad.inboundUuids.includes(uuid)).map((squad) => squad.uuid),
      }));
      return { response: { total: inbounds.length, inbounds } };
    },
  },
];

const nodeRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/nodes',
    handle: ({ context: { state } }) => ({ response: state.meta.nodes.map((node) => nodeAnswer(state, node)) }),
  },
  {
    method: 'POST',
    path: '/api/nodes/actions/restart-all',
    adapt: (body, { context }) => (context.generation === 'uuid' ? { forceRestart: false, ...(body as object) } : body),
    body: RestartBody,
    handle: eventSent,
  },
  {
    method: 'GET',
    path: '/api/nodes/:uuid',
    handle: (request) => ({ response: nodeAnswer(request.context.state, nodeOf(request)) }),
  },
  {
    method: 'POST',
    path: '/api/nodes/:uuid/actions/enable',
    handle: (request) => switchNode(request, false),
  },
  {
    method: 'POST',
    path: '/api/nodes/:uuid/actions/disable',
    handle: (request) => switchNode(request, true),
  },
  {
    method: 'POST',
    path: '/api/nodes/:uuid/actions/restart',
    adapt: (body, { context }) => (context.generation === 'uuid' ? { forceRestart: false, ...(body as object) } : body),
    body: RestartBody,
    handle(request) {
      nodeOf(request);
      return eventSent(request);
    },
  },
];

const systemRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/system/metadata',
    handle: ({ context }) => ({ response: metadataAnswer(context.generation) }),
  },
  {
    method: 'GET',
    path: '/api/system/stats',
    handle: ({ context: { state } }) => ({ response: statsAnswer(state) }),
  },
  {
    method: 'POST',
    path: '/api/system/tools/happ/encrypt',
    only: 'uuid',
    handle({ body }) {
      const link = typeof body === 'object' && body !== null && 'linkToEncrypt' in body ? body.linkToEncrypt : undefined;
      if (typeof link !== 'string' || !URL.canParse(link)) {
        throw new BodyRefusal([{ code: 'invalid_format', format: 'url', path: ['linkToEncrypt'], message: 'Invalid URL' }]);
      }
      return { response: { encryptedLink: `happ://crypt4/${Buffer.from(link).toString('base64url')}` } };
    },
  },
  {
    method: 'GET',
    path: '/api/sub/:shortUuid/info',
    handle({ context, params }) {
      const user = context.state.byShortUuid(params.shortUuid ?? '');
      if (!user) throw new PanelRefusal(ERRORS.USER_NOT_FOUND);
      return { response: subscriptionInfoAnswer(context, user) };
    },
  },
];

export const infraRoutes: PanelRoute[] = [...squadRoutes, ...nodeRoutes, ...systemRoutes];
