import { CreateSquadBody, PatchSquadBody, RestartBody } from './infra-requests.ts';
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
import { ERRORS } from './panel-errors.ts';
import { BodyRefusal, PanelRefusal, type PanelRoute, type RouteAnswer, type RouteRequest } from './panel-route.ts';
import { newUuid } from './user-rules.ts';

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
