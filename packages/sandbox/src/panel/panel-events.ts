import { createHmac } from 'node:crypto';
import type { Clock } from '../host-ports.ts';
import { type AnswerContext, deviceAnswer, metadataAnswer, nodeAnswer, userAnswer } from './panel-answers.ts';
import type { StoredDevice, StoredNode, StoredUser, UserStatus } from './panel-data.ts';
import type { PanelRoute, RouteAnswer, RouteRequest } from './panel-route.ts';
import type { PanelListener } from './panel-state.ts';
import { currentStatus } from './user-rules.ts';

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
export interface EventOptions {
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
  sendEvent(event: string, options?: EventOptions): void;
  panelStarted(): void;
}

export function createPanelEvents(context: AnswerContext, sender: WebhookSender): PanelEvents {
  const { state } = context;
  const send = (event: string, data: unknown, meta?: PanelEvent['meta']) => sender.send({ event, data, meta });
  const user = (event: string, stored: StoredUser, meta?: PanelEvent['meta']) => send(event, userAnswer(context, stored), meta);
  // The panel leaves the squads of the owner out here.
  const deviceData = (owner: StoredUser, stored: StoredDevice) => ({
    hwidUserDevice: deviceAnswer(context, owner, stored),
    user: { ...userAnswer(context, owner), activeInternalSquads: [] },
  });
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

  function dataOf(event: string, options: EventOptions): unknown {
    const [scope] = event.split('.');
    if (options.data !== undefined || !['user', 'user_hwid_devices', 'node'].includes(scope ?? '')) return options.data ?? {};
    if (scope === 'node') {
      const node = state.meta.nodes.find(({ uuid }) => options.nodeUuid === undefined || uuid === options.nodeUuid);
      if (!node) throw new Error('The fake panel has no such node');
      return nodeData(context, node);
    }
    const owner = options.userUuid === undefined ? state.users().next().value : state.byUuid(options.userUuid);
    if (!owner) throw new Error('The fake panel has no such user');
    if (scope === 'user') return userAnswer(context, owner);
    const stored = owner.devices.find((known: StoredDevice) => options.hwid === undefined || known.hwid === options.hwid);
    if (!stored) throw new Error('The fake panel has no such device');
    return deviceData(owner, stored);
  }

  review(false);
  return {
    listener: {
      created: (stored) => user('user.created', stored),
      deleted(stored) {
        seen.delete(stored.id);
        user('user.deleted', stored);
      },
      deviceAdded: (owner, stored) => send('user_hwid_devices.added', deviceData(owner, stored)),
      deviceDeleted: (owner, stored) => send('user_hwid_devices.deleted', deviceData(owner, stored)),
    },
    afterCall({ method, path }, { params }, answer) {
      const event = EVENT_OF_CALL[`${method} ${path}`];
      if (event === undefined || !('response' in answer)) return;
      if (event.startsWith('node.')) return send(event, dataOf(event, { nodeUuid: params.uuid }));
      const stored = state.byId((answer.response as { id: number }).id);
      if (!stored) return;
      // A user who was made active again is reported again at the next end; what the call itself limited is left to the review.
      const status = currentStatus(stored, state.clock.now());
      if (EVENT_OF_STATUS[status] === undefined) seen.set(stored.id, status);
      user(event, stored);
    },
    reviewUsers: () => review(true),
    sendEvent: (event, options = {}) => send(event, dataOf(event, options), options.meta),
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

/** Where the panel reports its events; the secret signs them. */
export interface PanelWebhook {
  url: string;
  secret: string;
  /** Between two tries of one event. Default 5 s, as of the real panel. */
  retryPauseMs?: number;
}

/** Names of the panel's events begin with their scope, e.g. `user.created`. */
interface PanelEvent {
  event: string;
  data: unknown;
  meta?: Record<string, unknown> | null;
}

/** An event as it is sent. */
interface WaitingEvent {
  body: string;
  headers: Record<string, string>;
}

/** Stores the events until they are accepted or given up, so that the next host sends what this one does not (spec 10 F9). */
interface WaitingEvents {
  list: WaitingEvent[];
  save(): void;
}

interface WebhookSender {
  /** Sends as soon as the events before it have been sent once; a failed one is repeated beside the later ones. */
  send(event: PanelEvent): void;
  /** Waits until each event was accepted or given up. */
  settled(): Promise<void>;
  /** Drops what is not yet sent. */
  close(): void;
}

const RETRIES = 3;
/** Older ones are dropped. */
const MAX_WAITING = 1_000;
const RETRY_PAUSE_MS = 5_000;
const TOTAL_TIMEOUT_MS = 10_000;

/**
 * Sends events as the real panel does (08 section 1): one object a request, signed with a lower-case hex HMAC-SHA-256 of the raw
 * body, without a delivery id; up to three repetitions with the same body and timestamp after anything but a 2xx.
 * @param target read for each event; while it is null events are dropped
 */
export function createWebhookSender(
  target: PanelWebhook | (() => PanelWebhook | null),
  clock: Clock,
  waiting: WaitingEvents,
): WebhookSender {
  const open = new Set<Promise<void>>();
  const stop = new AbortController();
  let tail: Promise<unknown> = Promise.resolve();

  async function repeat(webhook: PanelWebhook, body: string, headers: Record<string, string>): Promise<void> {
    for (let left = RETRIES; left > 0; left -= 1) {
      await pause(webhook.retryPauseMs ?? RETRY_PAUSE_MS, stop.signal);
      if (stop.signal.aborted || (await isAccepted(webhook.url, headers, body, stop.signal))) return;
    }
  }

  function deliver(webhook: PanelWebhook, waits: WaitingEvent): void {
    const { body, headers } = waits;
    const first = tail.then(() => stop.signal.aborted || isAccepted(webhook.url, headers, body, stop.signal));
    tail = first;
    const whole = first
      .then((accepted) => (accepted ? undefined : repeat(webhook, body, headers)))
      .finally(() => {
        open.delete(whole);
        if (stop.signal.aborted) return;
        const at = waiting.list.indexOf(waits);
        if (at >= 0) waiting.list.splice(at, 1);
        waiting.save();
      });
    open.add(whole);
  }

  const known = typeof target === 'function' ? target() : target;
  if (known) for (const waits of [...waiting.list]) deliver(known, waits);

  return {
    send({ event, data, meta = null }) {
      const webhook = typeof target === 'function' ? target() : target;
      if (!webhook) return;
      const timestamp = clock.now().toISOString();
      const body = JSON.stringify({ scope: event.split('.')[0], event, timestamp, data, meta });
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Remnawave',
        'x-remnawave-signature': createHmac('sha256', webhook.secret).update(body).digest('hex'),
        'x-remnawave-timestamp': timestamp,
      };
      const waits = { body, headers };
      waiting.list.push(waits);
      if (waiting.list.length > MAX_WAITING) waiting.list.shift();
      waiting.save();
      deliver(webhook, waits);
    },
    async settled() {
      while (open.size > 0) await Promise.all(open);
    },
    close: () => stop.abort(),
  };
}

/** Never throws: no answer is a refusal. */
async function isAccepted(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<boolean> {
  try {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ends });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Ends early when the panel stops; does not keep the process running. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
