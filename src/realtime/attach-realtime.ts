import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { actorKey } from '../core/actor.ts';
import { CACHE_FORGOTTEN } from '../core/cache/shared-cache.ts';
import { isDatabaseUnavailable } from '../core/db/db-errors.ts';
import { runOutsideTransaction } from '../core/db/root-guard.ts';
import { isAppError } from '../core/errors.ts';
import type { DeliveredEvent } from '../core/events/event-bus.ts';
import type { ClientPosition } from '../core/events/event-position.ts';
import { FEED_SCOPE, requireScope } from '../domain/access/token-scopes.ts';
import { storeOf } from '../domain/settings/settings-store.ts';
import { administratorAccess, isAccessToken, recheckAdministrators } from './administrator-feed.ts';
import {
  type CabinetAccess,
  chooseProtocol,
  credentialOf,
  isWebSocketRequest,
  lifeOf,
  refuseUpgrade,
  upgradeTarget,
} from './cabinet-access.ts';
import { CatchUp, presentPositionText, resumePosition } from './catch-up.ts';
import { type Access, FanOut, Feed, type FeedRules, OFF_REASON, type OpenCredential, refusalReason } from './feed.ts';
import {
  CLOSE,
  cabinetText,
  closeSpread,
  DEFAULT_LIMITS,
  FeedClient,
  feedText,
  type RealtimeLimits,
  textFrame,
} from './feed-client.ts';
import type { RealtimeOptions } from './realtime-options.ts';

export interface Realtime {
  /** Signed-in sockets of each feed. */
  counts(): { ws: number; cabinet: number };
  /** Accepts no more sockets (503) and closes the open ones (1012) at times spread over `ms`; events still reach those that are open. */
  drain(ms: number): void;
  /** Closes every socket (1001), and cuts off clients that do not answer. To be called before the HTTP server closes. */
  close(): Promise<void>;
}

const SHUTDOWN_REASON = 'Server is shutting down';
const SHUTDOWN_GRACE_MS = 1_500;

/**
 * Serves `/ws` (API token) and `/cabinet/ws` (access JWT) on the HTTP server (spec 05 section 12, spec 06 section 2.2). Sockets
 * are accepted first and refused with a close code and reason. Events come from every instance through the bus.
 */
export async function attachRealtime(options: RealtimeOptions): Promise<Realtime> {
  const realtime = new RealtimeServer(options);
  await realtime.start();
  return realtime;
}

/** A connection that is not signed in yet. */
interface NewSocket {
  ws: WebSocket;
  /** The connection below it. */
  socket: Duplex;
  credential: string | null;
  ip: string | null;
  /** Id of the last frame that the client has; null = it wants no earlier events. */
  after: string | null;
}

class RealtimeServer implements Realtime {
  readonly #options: RealtimeOptions;
  readonly #limits: RealtimeLimits;
  readonly #ws: Feed;
  /** `/ws` with the access token of an administrator. */
  readonly #admins: { feed: Feed; fanOut: FanOut };
  readonly #cabinet: Feed;
  /** `/ws` on the mount; null when there is none. */
  readonly #words: { feed: Feed; fanOut: FanOut } | null;
  readonly #feeds: readonly Feed[];
  readonly #fanOut: FanOut;
  readonly #catchUp: CatchUp;
  readonly #server: WebSocketServer;
  /** Signed in or not yet. */
  readonly #sockets = new Set<WebSocket>();
  readonly #stops: (() => unknown)[] = [];
  #isClosing = false;

  constructor(options: RealtimeOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { app } = options;
    const webApiRules: FeedRules = {
      name: 'ws',
      path: '/ws',
      setting: 'WEB_API_ENABLED',
      queryNames: ['token', 'api_key'],
      headerName: 'x-api-key',
      missingReason: 'Unauthorized: No token provided',
      maxPerUser: Number.POSITIVE_INFINITY,
      recheckMs: this.#limits.recheckTokenMs,
      authenticate: (credential, ip) => this.#tokenAccess(credential, ip),
      recheck: (open) => Promise.allSettled(open.map(({ credential, ip }) => this.#tokenAccess(credential, ip))),
      deliverEvents: () => options.bus.refresh(),
    };
    this.#ws = new Feed(app, webApiRules);
    const admins = new Feed(app, {
      ...webApiRules,
      maxPerUser: this.#limits.maxPerUser,
      recheckMs: this.#limits.recheckUserMs,
      authenticate: async (credential, ip) => administratorAccess(app, await this.#userOf(credential), credential, ip),
      recheck: (open) => recheckAdministrators(app, open),
    });
    this.#admins = { feed: admins, fanOut: new FanOut(admins.clients) };
    this.#cabinet = new Feed(app, {
      name: 'cabinet',
      path: '/cabinet/ws',
      setting: 'CABINET_ENABLED',
      queryNames: ['token'],
      headerName: null,
      missingReason: 'Unauthorized: No token',
      maxPerUser: this.#limits.maxPerUser,
      recheckMs: this.#limits.recheckUserMs,
      authenticate: (credential, ip) => this.#userAccess(credential, ip),
      recheck: (open) => this.#recheckUsers(open),
      deliverEvents: () => options.bus.refresh(),
    });
    const words = options.mount ? new Feed(app, webApiRules) : null;
    this.#words = words && { feed: words, fanOut: new FanOut(words.clients) };
    this.#feeds = [this.#ws, admins, this.#cabinet, ...(words ? [words] : [])];
    this.#fanOut = new FanOut(this.#ws.clients);
    this.#catchUp = new CatchUp(app.db.sql, options.bus);
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#limits.maxMessageBytes,
      handleProtocols: chooseProtocol,
    });
  }

  async start(): Promise<void> {
    const { app, httpServer, bus, metrics } = this.#options;
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => this.#upgrade(request, socket, head);
    httpServer.on('upgrade', onUpgrade);
    // HTTP clients that offer h2c on every request must get an ordinary answer; older runtimes lack this switch.
    Object.assign(httpServer, { shouldUpgradeCallback: isWebSocketRequest });
    const timer = setInterval(() => this.#tick(), this.#limits.tickMs);
    timer.unref();
    this.#stops.push(
      () => httpServer.off('upgrade', onUpgrade),
      () => clearInterval(timer),
      bus.subscribe(
        (event) => this.#publish(event),
        async () => {
          await Promise.all([this.#fanOut.idle(), this.#admins.fanOut.idle(), this.#words?.fanOut.idle()]);
        },
      ),
      // The settings store receives changes of every instance.
      storeOf(app).onChange(
        this.#feeds.map(({ rules }) => rules.setting),
        () => {
          for (const feed of this.#feeds) feed.closeIfOff();
        },
      ),
    );
    metrics?.setWebsocketSource(() => this.counts());
  }

  counts(): { ws: number; cabinet: number } {
    const ws = [this.#ws, this.#admins.feed, this.#words?.feed].reduce((sum, feed) => sum + (feed?.clients.size ?? 0), 0);
    return { ws, cabinet: this.#cabinet.clients.size };
  }

  drain(ms: number): void {
    this.#isClosing = true;
    this.#stops.push(closeSpread(this.#sockets, ms, this.#options.app.random));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#stops.splice(0).map((stop) => stop()));
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#sockets) socket.terminate();
        resolve();
      }, SHUTDOWN_GRACE_MS);
      for (const socket of this.#sockets) {
        socket.once('close', () => {
          if (this.#sockets.size > 0) return;
          clearTimeout(timer);
          resolve();
        });
        socket.resume();
        socket.close(CLOSE.goingAway, SHUTDOWN_REASON);
      }
    });
  }

  async #tokenAccess(credential: string, ip: string | null): Promise<Access> {
    const { app, authenticateToken } = this.#options;
    const actor = await authenticateToken(app, { apiKey: credential, bearer: null }, ip);
    requireScope(actor, FEED_SCOPE);
    const greeting = { type: 'connection', status: 'connected', message: 'WebSocket connection established' };
    return { actor: actorKey(actor), userId: null, receivesStaffEvents: false, sessionId: null, expiresAt: null, greeting };
  }

  async #userOf(bearer: string): Promise<number> {
    const { app, authenticateUser } = this.#options;
    return (await authenticateUser(app, { bearer, initData: null })).userId;
  }

  async #userAccess(credential: string, ip: string | null): Promise<Access> {
    const { app, readCabinetAccess } = this.#options;
    const userId = await this.#userOf(credential);
    const life = lifeOf(credential);
    const { sessionId } = life;
    // The access token outlives a sign-out: it must not be given what the user has missed.
    const { isAdmin, receivesStaffEvents } = await (sessionId === null
      ? readCabinetAccess(app, userId, ip)
      : this.#sessionAccess({ userId, sessionId, ip }));
    const greeting = { type: 'connected', user_id: userId, is_admin: isAdmin };
    return { actor: `user:${userId}`, userId, receivesStaffEvents, ...life, greeting };
  }

  /** @throws AppError when the session has ended */
  async #sessionAccess(session: { userId: number; sessionId: string; ip: string | null }): Promise<CabinetAccess> {
    const [result] = await this.#options.recheckCabinetAccess(this.#options.app, [session]);
    if (result!.status === 'rejected') throw result!.reason;
    return result!.value;
  }

  /** Sockets of a session outlive the access token with which they were opened; without one the token is checked again. */
  async #recheckUsers(open: readonly OpenCredential[]): Promise<PromiseSettledResult<Access>[]> {
    const sessions = open.flatMap(({ access: { userId, sessionId }, ip }) =>
      userId !== null && sessionId !== null ? [{ userId, sessionId, ip }] : [],
    );
    const checked = sessions.length > 0 ? await this.#options.recheckCabinetAccess(this.#options.app, sessions) : [];
    let next = 0;
    return Promise.allSettled(
      open.map(async ({ credential, ip, access }) => {
        if (access.sessionId === null) return this.#userAccess(credential, ip);
        const result = checked[next++]!;
        if (result.status === 'rejected') throw result.reason;
        return { ...access, receivesStaffEvents: result.value.receivesStaffEvents };
      }),
    );
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const mounted = this.#options.mount?.enter(request) ?? null;
    const { path, query } = upgradeTarget(mounted ?? request.url);
    const found = this.#feedAt(path, mounted !== null);
    if (found === null) {
      refuseUpgrade(socket, '404 Not Found', 'Not Found');
      return;
    }
    if (this.#isClosing || this.#sockets.size >= this.#limits.maxSockets) {
      refuseUpgrade(socket, '503 Service Unavailable', 'Service temporarily unavailable. Please try again later.');
      return;
    }
    const credential = credentialOf(request, query, found.rules);
    const feed = found === this.#ws && isAccessToken(credential) ? this.#admins.feed : found;
    const after = query.get('after');
    const ip = this.#options.clientIp?.(request) ?? request.socket.remoteAddress ?? null;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      this.#sockets.add(ws);
      ws.on('close', () => this.#sockets.delete(ws));
      // Frames that break the protocol or the limit end here; `ws` closes the connection with the right code itself.
      ws.on('error', () => undefined);
      // Messages of a client that is not signed in yet wait.
      ws.pause();
      runOutsideTransaction(() => void this.#signIn(feed, { ws, socket, credential, ip, after }));
    });
  }

  #feedAt(path: string, isOnMount: boolean): Feed | null {
    const found = this.#feeds.find((feed) => feed.rules.path === path && feed.isOpen) ?? null;
    return isOnMount && found === this.#ws ? (this.#words?.feed ?? found) : found;
  }

  async #signIn(feed: Feed, { ws, socket, credential, ip, after }: NewSocket): Promise<void> {
    const close = (code: number, reason: string): void => {
      ws.resume();
      ws.close(code, reason);
    };
    if (credential === null) return close(CLOSE.policy, feed.rules.missingReason);
    let access: Access;
    let from: ClientPosition | null;
    try {
      access = await feed.rules.authenticate(credential, ip);
      from = after === null ? null : await resumePosition(this.#options.app.db.sql, this.#options.bus, after);
    } catch (error) {
      if (isAppError(error)) return close(error.status >= 500 ? CLOSE.tryLater : CLOSE.policy, refusalReason(error.status));
      if (ws.readyState !== ws.OPEN) return;
      const level = isDatabaseUnavailable(error) ? 'warn' : 'error';
      this.#options.app.log[level]({ err: error, feed: feed.rules.name }, 'a socket could not be signed in');
      return close(CLOSE.tryLater, refusalReason(503));
    }
    if (ws.readyState !== ws.OPEN) return;
    // Switched off while the credential was checked.
    if (!feed.isOpen) return close(CLOSE.policy, OFF_REASON);
    const client = new FeedClient(ws, socket, this.#limits);
    if (!feed.add(client, credential, ip, access)) return close(CLOSE.policy, 'Too many connections');
    ws.on('close', () => feed.remove(client, credential, ip, access));
    const id = from === null ? presentPositionText(this.#options.bus) : after;
    client.send(textFrame(JSON.stringify({ ...access.greeting, id, ...(after === null ? {} : { resumed: from !== null }) })));
    ws.resume();
    if (from === null) client.join(this.#fanOutOf(feed).next);
    else await this.#sendMissed(feed, client, feed === this.#cabinet ? access.userId : null, from);
    this.#options.app.log.debug({ feed: feed.rules.name, actor: access.actor }, 'a socket was opened');
  }

  /** @param userId whose events; null = those of the whole service */
  async #sendMissed(feed: Feed, client: FeedClient, userId: number | null, from: ClientPosition): Promise<void> {
    try {
      await this.#catchUp.run({
        client,
        from,
        scope: () =>
          userId === null
            ? { of: 'audience', audience: 'feed' }
            : { of: 'user', userId, receivesStaffEvents: feed.receivesStaffEvents(client) },
        frameOf: (event) => textFrame(userId === null ? feedText(this.#inWordsOf(feed, event)) : cabinetText(event)),
        collect: () => client.collect(this.#fanOutOf(feed).next),
      });
    } catch (error) {
      this.#options.app.log.warn({ err: error, feed: feed.rules.name }, 'a socket could not be given what it missed');
      client.close(CLOSE.tryLater, refusalReason(503));
    }
  }

  #fanOutOf(feed: Feed): FanOut {
    return [this.#admins, this.#words].find((other) => other?.feed === feed)?.fanOut ?? this.#fanOut;
  }

  #inWordsOf(feed: Feed, event: DeliveredEvent): DeliveredEvent {
    const { mount } = this.#options;
    return mount && feed === this.#words?.feed ? { ...event, payload: mount.payload(event.payload) } : event;
  }

  #publish(event: DeliveredEvent): void {
    if (event.audience === 'instance') {
      if (event.type === CACHE_FORGOTTEN) for (const key of event.payload.keys as string[]) this.#credentialChanged(key);
    } else if (event.audience === 'feed') {
      if (this.#ws.clients.size + this.#admins.feed.clients.size > 0) {
        const frame = textFrame(feedText(event));
        for (const fanOut of [this.#fanOut, this.#admins.fanOut]) fanOut.publish(frame);
      }
      const words = this.#words;
      if (words && words.feed.clients.size > 0) words.fanOut.publish(textFrame(feedText(this.#inWordsOf(words.feed, event))));
    } else if (event.audience === 'staff') {
      this.#cabinet.sendToStaff(textFrame(cabinetText(event)));
    } else if (event.userId !== null) {
      this.#cabinet.sendToUser(event.userId, textFrame(cabinetText(event)));
      // A user who was just banned must get the event before the socket closes.
      if (event.type.startsWith('account.')) this.#expire(event.userId);
    }
  }

  /**
   * Keys of the cache read `<kind>:<user id>`, or name something that concerns everyone. API tokens are checked in every tick anyway; the
   * cache answers without a query.
   */
  #credentialChanged(key: string): void {
    const userId = /^[a-z_-]+:(\d{1,10})$/i.exec(key)?.[1];
    if (userId !== undefined) this.#expire(Number(userId));
    else if (!key.includes(':')) this.#expire('all');
  }

  #expire(userId: number | 'all'): void {
    for (const feed of [this.#cabinet, this.#admins.feed]) feed.expire(userId);
  }

  #tick(): void {
    const now = performance.now();
    for (const feed of this.#feeds) feed.tick(now);
  }
}
