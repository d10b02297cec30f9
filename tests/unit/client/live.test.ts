import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CabinetClient, createClient, createFeedClient } from '../../../packages/client/src/create-client.ts';
import type { CabinetEvents, FeedEvents } from '../../../packages/client/src/live-events.ts';
import type { WebSocketConstructor } from '../../../packages/client/src/reconnecting-socket.ts';
import { memoryTokenStore } from '../../../packages/client/src/token-store.ts';
import type { EventTypes } from '../../../src/core/events/event-recorder.ts';
import { startTrialService, TRIAL_FACTS, type TrialService } from './trial-service.ts';

/** What the domain emits must be what the client promises (notices are of free form). A payload that differs turns into `false` and fails the type check. */
type Fulfilled<Promised> = {
  [Type in Exclude<keyof EventTypes & keyof Promised, `notification.${string}`>]: EventTypes[Type] extends Promised[Type]
    ? true
    : false;
};
const cabinetEvents = {} as Fulfilled<CabinetEvents>;
const feedEvents = {} as Fulfilled<FeedEvents>;
const _promises: Record<keyof typeof cabinetEvents, true> & Record<keyof typeof feedEvents, true> = {
  ...cabinetEvents,
  ...feedEvents,
};

const socketTiming = { firstPauseMs: 20, maxPauseMs: 200, pingMs: 60, pongMs: 1_000, openMs: 20_000 };
let service: TrialService;
const clients: { close(): void }[] = [];

beforeEach(async () => {
  service = await startTrialService();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await service.stop();
});

function connect(WebSocket?: WebSocketConstructor): CabinetClient {
  const tokens = memoryTokenStore({ accessToken: 'access-1', refreshToken: 'refresh-1' });
  const options = { baseUrl: service.baseUrl, tokens, socketTiming, ...(WebSocket ? { WebSocket } : {}) };
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
    const client = connect();
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

describe('the feed of the service', () => {
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
