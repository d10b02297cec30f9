import { type AnswerContext, deviceAnswer, metadataAnswer, nodeAnswer, userAnswer } from './panel-answers.ts';
import type { StoredDevice, StoredNode, StoredUser, UserStatus } from './panel-data.ts';
import type { PanelRoute, RouteAnswer, RouteRequest } from './panel-route.ts';
import type { PanelListener } from './panel-state.ts';
import { currentStatus } from './user-rules.ts';
import type { PanelEvent, WebhookSender } from './webhook-sender.ts';

/** Events that a call causes, with the object of its answer as data. A change of many users sends none, as in the real panel. */
const EVENT_OF_CALL: Readonly<Record<string, string>> = {
  'PATCH /api/users': 'user.modified',
  'POST /api/users/:user/actions/enable': 'user.enabled',
  'POST /api/users/:user/actions/disable': 'user.disabled',
  'POST /api/users/:user/actions/reset-traffic': 'user.traffic_reset',
  'POST /api/users/:user/actions/revoke': 'user.revoked',
  'POST /api/nodes/:uuid/actions/enable': 'node.enabled',
  'POST /api/nodes/:uuid/actions/disable': 'node.disabled',
};
/** Statuses that users reach without a call; the panel's schedulers report them. */
const EVENT_OF_STATUS: Partial<Record<UserStatus, string>> = { EXPIRED: 'user.expired', LIMITED: 'user.limited' };

/** What an event is about; without it the first user or node, or `data` as it is. */
export interface EventSubject {
  userUuid?: string;
  nodeUuid?: string;
  hwid?: string;
  data?: unknown;
  meta?: Record<string, unknown>;
}

export interface PanelEvents {
  /** For the state: creations, deletions and devices, whoever caused them. */
  readonly listener: PanelListener;
  /** Reports what a successful call changed. */
  afterCall(route: PanelRoute, request: RouteRequest, answer: RouteAnswer): void;
  /** Reports users who expired or reached their limit since the last review, as the panel's schedulers do. */
  reviewUsers(): void;
  /** Reports an event that no call of the fake causes. @throws when there is no such user, node or device */
  sendEvent(event: string, subject?: EventSubject): void;
  panelStarted(): void;
}

export function createPanelEvents(context: AnswerContext, sender: WebhookSender): PanelEvents {
  const { state } = context;
  const send = (event: string, data: unknown, meta?: PanelEvent['meta']) => sender.send({ event, data, meta });
  const user = (event: string, stored: StoredUser, meta?: PanelEvent['meta']) => send(event, userAnswer(context, stored), meta);
  const device = (event: string, owner: StoredUser, stored: StoredDevice) => {
    // The panel leaves the squads of the owner out here.
    const owned = { ...userAnswer(context, owner), activeInternalSquads: [] };
    send(event, { hwidUserDevice: deviceAnswer(context, owner, stored), user: owned });
  };
  const seen = new Map<number, UserStatus>();
  const review = (report: boolean) => {
    const now = state.clock.now();
    for (const stored of state.users()) {
      const status = currentStatus(stored, now);
      const event = EVENT_OF_STATUS[status];
      if (report && event !== undefined && seen.get(stored.id) !== status) user(event, stored);
      seen.set(stored.id, status);
    }
  };

  function subjectOf(event: string, subject: EventSubject): unknown {
    const [scope] = event.split('.');
    if (subject.data !== undefined || !['user', 'user_hwid_devices', 'node'].includes(scope ?? '')) return subject.data ?? {};
    if (scope === 'node') {
      const node = state.meta.nodes.find(({ uuid }) => subject.nodeUuid === undefined || uuid === subject.nodeUuid);
      if (!node) throw new Error('The fake panel has no such node');
      return nodeData(context, node);
    }
    const owner = subject.userUuid === undefined ? state.users().next().value : state.byUuid(subject.userUuid);
    if (!owner) throw new Error('The fake panel has no such user');
    if (scope === 'user') return userAnswer(context, owner);
    const stored = owner.devices.find((known: StoredDevice) => subject.hwid === undefined || known.hwid === subject.hwid);
    if (!stored) throw new Error('The fake panel has no such device');
    return {
      hwidUserDevice: deviceAnswer(context, owner, stored),
      user: { ...userAnswer(context, owner), activeInternalSquads: [] },
    };
  }

  review(false);
  return {
    listener: {
      created: (stored) => user('user.created', stored),
      deleted(stored) {
        seen.delete(stored.id);
        user('user.deleted', stored);
      },
      deviceAdded: (owner, stored) => device('user_hwid_devices.added', owner, stored),
      deviceDeleted: (owner, stored) => device('user_hwid_devices.deleted', owner, stored),
    },
    afterCall({ method, path }, { params }, answer) {
      const event = EVENT_OF_CALL[`${method} ${path}`];
      if (event === undefined || !('response' in answer)) return;
      if (event.startsWith('node.')) return send(event, subjectOf(event, { nodeUuid: params.uuid }));
      const stored = state.byId((answer.response as { id: number }).id);
      if (!stored) return;
      // What the call made of the status is its own event; the review reports only what time and traffic do.
      seen.set(stored.id, currentStatus(stored, state.clock.now()));
      user(event, stored);
    },
    reviewUsers: () => review(true),
    sendEvent: (event, subject = {}) => send(event, subjectOf(event, subject), subject.meta),
    panelStarted: () => send('service.panel_started', { panelVersion: metadataAnswer(context.generation).version }),
  };
}

/** As in the real panel with the raw inbounds, private key included: receivers must not store it. */
function nodeData({ state }: AnswerContext, node: StoredNode) {
  const answer = nodeAnswer(state, node);
  const activeInbounds = answer.configProfile.activeInbounds.map((inbound) => ({
    ...inbound,
    rawInbound: {
      tag: inbound.tag,
      protocol: inbound.type,
      port: inbound.port,
      streamSettings: { network: 'raw', security: 'reality', realitySettings: { privateKey: 'a-private-key-of-the-sandbox' } },
    },
  }));
  return { ...answer, configProfile: { ...answer.configProfile, activeInbounds } };
}
