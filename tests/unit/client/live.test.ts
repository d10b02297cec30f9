import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CabinetClient, createClient, createFeedClient } from '../../../packages/client/src/create-client.ts';
import type { CabinetEvents, FeedEvents } from '../../../packages/client/src/event-types.ts';
import type { WebSocketConstructor } from '../../../packages/client/src/reconnecting-socket.ts';
import { memoryTokenStore } from '../../../packages/client/src/token-store.ts';
import type { EventPayload, EventTypes } from '../../../src/core/events/event-recorder.ts';
import { startTrialService, TRIAL_FACTS, type TrialService } from './trial-service.ts';

/** What the domain emits must be what the client promises (notices are of free form). A payload that differs turns into `false` and fails the type check. */
type Fulfilled<Promised> = {
  [Type in Exclude<keyof EventTypes & keyof Promised, `notification.${string}`>]: EventPayload<Type> extends Promised[Type]
    ? true
    : false;
};
const cabinetEvents = {} as Fulfilled<CabinetEvents>;
const feedEvents = {} as Fulfilled<FeedEvents>;
const _promises: Record<keyof typeof cabinetEvents, true> & Record<keyof typeof feedEvents, true> = {
  ...cabinetEvents,
  ...feedEvents,
};

const socketTiming = { firstPauseMs: 20, maxPauseMs: 200, pingMs: 60, pongMs: 60_000, openMs: 20_000 };
let service: TrialService;
const clients: { close(): void }[] = [];

beforeEach(async () => {
  service = await startTrialService();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await service.stop();
});

function connect(WebSocket?: WebSocketConstructor, timing: Partial<typeof socketTiming> = {}): CabinetClient {
  const tokens = memoryTokenStore({ accessToken: 'access-1', refreshToken: 'refresh-1' });
  const options = {
    baseUrl: service.baseUrl,
    tokens,
    socketTiming: { ...socketTiming, ...timing },
    ...(WebSocket ? { WebSocket } : {}),
  };
  const client = createClient(options, TRIAL_FACTS);
  clients.push(client);
  return client;
}

const opened = (count: number) => expect.poll(() => service.sockets.length).toBe(count);
const status = (client: { status: string }, wanted: string) => expect.poll(() => client.status).toBe(wanted);
const sendEvent = (event: object) => service.sockets.at(-1)!.socket.send(JSON.stringify(event));

describe('live events of a user', () => {
  it('opens with the first handler, with the token outside the address, and delivers by type', async () => {
    const client = connect();
    const topups: number[] = [];
    const types: string[] = [];
    expect(client.live.status).toBe('idle');
    client.live.onEvent('balance.topup', (event) => topups.push(event.amount_kopeks));
    client.live.onAnyEvent((event) => types.push(event.type));
    await status(client.live, 'open');
    expect(service.sockets).toMatchObject([{ path: '/cabinet/ws', credential: 'access-1' }]);
    expect(service.sockets[0]!.socket.protocol).toBe('cabinet');
    sendEvent({ type: 'balance.topup', amount_kopeks: 500 });
    sendEvent({ type: 'something.new' });
    await expect.poll(() => types).toEqual(['balance.topup', 'something.new']);
    expect(topups).toEqual([500]);
  });

  it('spec 10 K4: delivers an event once, also when another connection brings it again', async () => {
    const client = connect();
    const received: unknown[] = [];
    client.live.onAnyEvent(({ n }) => received.push(n));
    await status(client.live, 'open');
    sendEvent({ type: 'subscription.expired', id: 'a', event_id: 'evt_1', n: 1 });
    await expect.poll(() => received).toEqual([1]);
    service.sockets[0]!.socket.terminate();
    await opened(2);
    await status(client.live, 'open');
    sendEvent({ type: 'subscription.expired', id: 'b', event_id: 'evt_1', n: 1 });
    sendEvent({ type: 'subscription.expired', id: 'c', event_id: 'evt_2', n: 2 });
    await expect.poll(() => received).toEqual([1, 2]);
  });

  it('does not call a removed handler, and continues after a handler throws', async () => {
    const client = connect();
    const received: string[] = [];
    const logged = console.error;
    console.error = () => undefined;
    try {
      const stop = client.live.onEvent('subscription.expired', () => received.push('gone'));
      client.live.onEvent('subscription.expired', () => {
        throw new Error('handler');
      });
      client.live.onEvent('subscription.expired', () => received.push('here'));
      stop();
      await status(client.live, 'open');
      sendEvent({ type: 'subscription.expired' });
      await expect.poll(() => received).toEqual(['here']);
    } finally {
      console.error = logged;
    }
  });

  it('reconnects after a lost connection', async () => {
    const client = connect();
    const statuses: string[] = [];
    client.live.onStatus((next) => statuses.push(next));
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    service.sockets[0]!.socket.terminate();
    await opened(2);
    await status(client.live, 'open');
    expect(statuses).toEqual(['connecting', 'open', 'waiting', 'connecting', 'open']);
  });

  it.each([1001, 1012])('spec 08 S11: connects again soon when an instance stops (%i), with the same token', async (code) => {
    const client = connect();
    const statuses: string[] = [];
    client.live.onStatus((next) => statuses.push(next));
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    service.sockets[0]!.socket.close(code, 'Service Restart');
    await opened(2);
    await status(client.live, 'open');
    expect(statuses).toEqual(['connecting', 'open', 'waiting', 'connecting', 'open']);
    expect(service.sockets.map(({ credential }) => credential)).toEqual(['access-1', 'access-1']);
  });

  it('detects a connection that no longer answers', async () => {
    const client = connect(undefined, { pongMs: 1_000 });
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    service.sockets[0]!.socket.removeAllListeners('message');
    await opened(2);
  });

  it('keeps a quiet connection by pings', async () => {
    const client = connect();
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    let pings = 0;
    service.sockets[0]!.socket.on('message', () => {
      pings += 1;
    });
    await expect.poll(() => pings).toBeGreaterThan(3);
    expect(service.sockets).toHaveLength(1);
  });

  it('renews a refused token and comes back with the new one', async () => {
    service.good.delete('access-1');
    const client = connect();
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    expect(service.sockets.map(({ credential }) => credential)).toEqual(['access-1', 'access-2']);
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(1);
  });

  it('rests when the session is over, and comes with the next one', async () => {
    service.good.delete('access-1');
    service.knobs.refreshAnswers = [{ status: 401 }];
    const client = connect();
    client.live.onEvent('subscription.expired', () => undefined);
    await expect.poll(async () => client.session.isSignedIn()).toBe(false);
    await expect.poll(() => ['idle', 'refused'].includes(client.live.status)).toBe(true);
    service.good.add('access-9');
    await client.session.start({ access_token: 'access-9', refresh_token: 'refresh-9' });
    await status(client.live, 'open');
    expect(service.sockets.map(({ credential }) => credential)).toEqual(['access-1', 'access-9']);
  });

  it('waits longer after each refused connection', async () => {
    service.knobs.closeSocketsWith = { code: 1013, reason: 'Try again later' };
    const times: number[] = [];
    class Timed extends WebSocket {
      constructor(url: string, protocols?: string[]) {
        super(url, protocols);
        times.push(performance.now());
      }
    }
    const client = connect(Timed as unknown as WebSocketConstructor);
    client.live.onEvent('subscription.expired', () => undefined);
    await expect.poll(() => times.length).toBe(5);
    expect(times[4]! - times[3]!).toBeGreaterThan(79);
    expect(times[3]! - times[0]!).toBeGreaterThan(10 + 20 + 39);
  });

  it('ends with the client', async () => {
    const client = connect();
    client.live.onEvent('subscription.expired', () => undefined);
    await status(client.live, 'open');
    client.close();
    expect(client.live.status).toBe('idle');
    await expect.poll(() => service.sockets[0]!.socket.readyState).toBe(3);
    expect(service.sockets).toHaveLength(1);
  });
});

describe('a connection that continues an earlier one', () => {
  /** A client whose connections and gaps are recorded. */
  async function listening() {
    const client = connect();
    const received: string[] = [];
    client.live.onAnyEvent(({ type }) => received.push(type));
    client.live.onGap(() => received.push('gap'));
    service.knobs.greeting.id = 'g 1+';
    await status(client.live, 'open');
    return { client, received };
  }

  /** Ends the connection and waits until the next one has greeted. */
  async function interrupted(client: CabinetClient, greeting: Record<string, unknown> = {}): Promise<void> {
    Object.assign(service.knobs.greeting, greeting);
    const before = service.sockets.length;
    service.sockets.at(-1)!.socket.terminate();
    await opened(before + 1);
    await status(client.live, 'open');
  }

  const positions = () => service.sockets.map(({ after }) => after);

  it('names the last message, be it the greeting or an event, and never an answer to a ping', async () => {
    const { client, received } = await listening();
    await interrupted(client, { id: 'g 1+', resumed: true });
    sendEvent({ type: 'one', id: 'e1' });
    sendEvent({ type: 'two', id: 'e2&token=x' });
    sendEvent({ type: 'pong' });
    sendEvent({ type: 'three without an id' });
    await expect.poll(() => received).toEqual(['gap', 'one', 'two', 'three without an id']);
    await interrupted(client, { id: 'e2&token=x' });
    await interrupted(client);
    expect(positions()).toEqual([null, 'g 1+', 'e2&token=x', 'e2&token=x']);
    expect(service.sockets.map(({ credential }) => credential)).toEqual(Array(4).fill('access-1'));
    expect(received).toHaveLength(4);
  });

  it('reports a gap at the first connection and whenever the service does not continue, before the events', async () => {
    const { client, received } = await listening();
    expect(received).toEqual(['gap']);
    await interrupted(client, { id: 'g2', resumed: false });
    sendEvent({ type: 'new', id: 'e3' });
    await expect.poll(() => received).toEqual(['gap', 'gap', 'new']);
    await interrupted(client, { id: 'g3', resumed: undefined });
    expect(received).toEqual(['gap', 'gap', 'new', 'gap']);
    expect(positions()).toEqual([null, 'g 1+', 'e3']);
  });

  it('forgets a place that a service without ids does not know, and one that is too long for an address', async () => {
    const { client, received } = await listening();
    await interrupted(client, { id: undefined, resumed: undefined });
    await interrupted(client, { id: 'g2' });
    sendEvent({ type: 'long', id: 'x'.repeat(6_001) });
    await expect.poll(() => received.at(-1)).toBe('long');
    await interrupted(client);
    expect(positions()).toEqual([null, 'g 1+', null, null]);
    expect(received).toEqual(['gap', 'gap', 'gap', 'long', 'gap']);
  });

  it('keeps the place over a renewed token and a network that is back', async () => {
    const { client, received } = await listening();
    service.good.delete('access-1');
    service.knobs.greeting.resumed = true;
    await opened(1);
    service.sockets[0]!.socket.close(1008, 'Unauthorized: Invalid token');
    await expect.poll(() => service.sockets.map(({ credential }) => credential)).toEqual(['access-1', 'access-2']);
    await status(client.live, 'open');
    expect(positions()).toEqual([null, 'g 1+']);
    expect(received).toEqual(['gap']);
  });

  it.each(['sign-out', 'sign-in without a sign-out', 'close'])('begins again after a %s', async (change) => {
    const { client, received } = await listening();
    sendEvent({ type: 'private', id: 'of user 1' });
    await expect.poll(() => received).toEqual(['gap', 'private']);
    service.good.add('access-9');
    if (change === 'sign-out') await client.session.signOut();
    if (change === 'close') {
      client.live.close();
      client.live.onAnyEvent(() => undefined);
    } else await client.session.start({ access_token: 'access-9', refresh_token: 'refresh-9' });
    await opened(2);
    await status(client.live, 'open');
    expect(positions()).toEqual([null, null]);
    await expect.poll(() => received).toEqual(['gap', 'private', 'gap']);
  });

  it('reports a gap when another page has signed in as another user', async () => {
    const { client, received } = await listening();
    await interrupted(client, { user_id: 2, resumed: true });
    expect(received).toEqual(['gap', 'gap']);
    await interrupted(client);
    expect(received).toEqual(['gap', 'gap']);
  });
});

describe('the feed of the service', () => {
  it('continues after the event that an earlier process has processed', async () => {
    service.knobs.greeting = { type: 'connection', id: 'stored', resumed: true };
    const feed = createFeedClient({ baseUrl: service.baseUrl, apiKey: 'key', after: 'stored', socketTiming });
    clients.push(feed);
    const received: unknown[] = [];
    feed.onGap(() => received.push('gap'));
    feed.onEvent('user.created', ({ id }) => received.push(id));
    await status(feed, 'open');
    sendEvent({ type: 'user.created', payload: {}, timestamp: '', id: 'next' });
    await expect.poll(() => received).toEqual(['next']);
    expect(service.sockets).toMatchObject([{ path: '/ws', credential: 'key', after: 'stored' }]);
  });

  it('receives events with payload and time', async () => {
    const feed = createFeedClient({ baseUrl: service.baseUrl, apiKey: 'key with blanks', socketTiming });
    clients.push(feed);
    const received: unknown[] = [];
    feed.onEvent('payment.completed', ({ payload, timestamp }) => received.push([payload.amount_kopeks, timestamp]));
    await status(feed, 'open');
    expect(service.sockets).toMatchObject([{ path: '/ws', credential: 'key with blanks' }]);
    sendEvent({ type: 'payment.completed', payload: { amount_kopeks: 900 }, timestamp: '2026-01-31T12:00:00.123456' });
    await expect.poll(() => received).toEqual([[900, '2026-01-31T12:00:00.123456']]);
  });

  it('gives up with a key that is not accepted', async () => {
    service.knobs.closeSocketsWith = { code: 1008, reason: 'Unauthorized: Invalid token' };
    const feed = createFeedClient({ baseUrl: service.baseUrl, apiKey: 'bad', socketTiming });
    clients.push(feed);
    feed.onEvent('user.created', () => undefined);
    await status(feed, 'refused');
    expect(service.sockets).toHaveLength(1);
  });
});
