import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts';
import { EventBus, type EventListener } from '../../src/core/events/event-bus.ts';
import { authenticateUser } from '../../src/domain/identity/authenticate.ts';
import { closeSession, openSession, refreshSession } from '../../src/domain/identity/sessions/sessions.ts';
import { changeUserStatus } from '../../src/domain/users/account/change-account.ts';
import { readCabinetAccess, recheckCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import type { RealtimeOptions } from '../../src/realtime/realtime-options.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { recordingApp } from '../support/sent-statements.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { connectToCabinet } from './connect-to-cabinet.ts';
import { emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { disconnectAll, type SocketClient } from './socket-client.ts';

/** Longer than a test: what closes a socket is a notice, or a round that the test asks for. */
const NEVER_MS = HOUR_MS;
const ENDED = { code: 1008, reason: 'Unauthorized: Invalid token' };
let checks = 0;
const gate: Partial<RealtimeOptions> = {
  authenticateUser,
  readCabinetAccess,
  recheckCabinetAccess: async (...request) => {
    const results = await recheckCabinetAccess(...request);
    checks += 1;
    return results;
  },
};

let t: TestApp;
let actor: AdminActor;
let server: TestRealtime;
beforeAll(async () => {
  t = await testApp();
  actor = { kind: 'admin', userId: (await aUser(t.app)).id, level: 999, isConfigAdmin: true };
});
beforeEach(async () => {
  server = await startRealtime(t.app, t.database, { limits: { tickMs: 20, recheckUserMs: NEVER_MS }, overrides: gate });
});
afterEach(async () => {
  disconnectAll();
  await server.close();
});

async function cabinet(user: BuiltUser, session?: { accessToken: string }, on = server): Promise<SocketClient> {
  const client = await connectToCabinet(t.app, on, user, session);
  await client.next();
  return client;
}

/** All sockets are looked at again, as every minute. */
async function aRound(): Promise<void> {
  const before = checks;
  await t.app.cache.forget(t.app, ['access-policies']);
  await expect.poll(() => checks).toBeGreaterThan(before);
}

describe('spec 10 U3: a socket lives as long as its session', () => {
  it('past the end of the access token with which it was opened, until the session ends', async () => {
    const user = await aUser(t.app);
    const client = await cabinet(user);
    t.clock.advance(6 * DAY_MS);
    await aRound();
    await emit(t.app, { type: 'balance.change', payload: {}, audience: 'user', userId: user.id });
    expect(await client.next()).toEqual({ type: 'balance.change' });
    t.clock.advance(DAY_MS + 1_000);
    await t.app.cache.forget(t.app, [`user:${user.id}`]);
    expect(await client.closed).toEqual(ENDED);
  });

  it('over a refresh of its session, with or without rotation', async () => {
    const user = await aUser(t.app);
    const session = await openSession(t.app, user.id);
    const client = await cabinet(user, session);
    for (const rotates of [false, true]) {
      await t.app.db.sql('UPDATE cabinet_refresh_tokens SET rotates = $2 WHERE user_id = $1::int RETURNING id', [
        user.id,
        rotates,
      ]);
      await refreshSession(t.app, session.refreshToken);
      await aRound();
    }
    await client.ping();
  });

  it('until it is signed out, at once, while other sessions of the user stay', async () => {
    const user = await aUser(t.app);
    const [phone, laptop] = [await openSession(t.app, user.id), await openSession(t.app, user.id)];
    const [one, two, other] = [await cabinet(user, phone), await cabinet(user, phone), await cabinet(user, laptop)];
    // The check that follows each opening is over: from here only a notice closes a socket.
    await aRound();
    await aRound();
    await closeSession(t.app, phone.refreshToken);
    expect([await one.closed, await two.closed]).toEqual([ENDED, ENDED]);
    await other.ping();
    // The access token of the ended session opens no socket, not even for a greeting or what was missed.
    const late = await connectToCabinet(t.app, server, user, phone);
    expect(await late.closed).toEqual(ENDED);
    expect(late.received).toEqual([]);
  });

  it('until its user is deleted, at once', async () => {
    const user = await aUser(t.app);
    const client = await cabinet(user);
    await aRound();
    await aRound();
    await changeUserStatus(t.app, actor, user.id, 'deleted', null);
    expect(await client.closed).toEqual(ENDED);
  });

  it('and is looked at in one statement for all sockets of the instance, besides those of administrators', async () => {
    const recording = recordingApp(t.app);
    const watched = await startRealtime(recording.app, t.database, {
      limits: { tickMs: 20, recheckUserMs: 60 },
      overrides: gate,
    });
    try {
      const clients = [];
      for (let n = 0; n < 5; n++) clients.push(await cabinet(await aUser(t.app), undefined, watched));
      const rounds = () => recording.sent.filter((text) => text.includes('FROM unnest'));
      const before = rounds().length;
      await expect.poll(() => rounds().length).toBeGreaterThan(before + 2);
      const statements = recording.sent.slice(recording.sent.lastIndexOf(rounds().at(-3)!));
      expect(statements.filter((text) => /FROM (users|user_roles)\b/.test(text) && !text.includes('FROM unnest'))).toEqual([]);
      for (const client of clients) await client.ping();
    } finally {
      await watched.close();
    }
  });
});

describe('spec 10 U6: a user who is banned', () => {
  it('gets the frame, then the close, also where the check comes before the event', async () => {
    const slow = slowBus(new EventBus(t.database.side, t.app.log));
    await slow.bus.start();
    const behind = await startRealtime(t.app, t.database, {
      limits: { tickMs: 20, recheckUserMs: NEVER_MS },
      overrides: { ...gate, bus: slow },
    });
    try {
      const user = await aUser(t.app);
      const client = await cabinet(user, undefined, behind);
      await changeUserStatus(t.app, actor, user.id, 'blocked', 'abuse');
      expect(await client.closed).toEqual(ENDED);
      expect(client.received.slice(1)).toEqual([{ type: 'account.banned', reason: 'abuse' }]);
    } finally {
      await behind.close();
      await slow.bus.stop();
    }
  });
});

/** A bus that delivers events of users only when it is asked for what was committed. */
function slowBus(bus: EventBus) {
  const waiting: (() => void)[] = [];
  return {
    bus,
    get position() {
      return bus.position;
    },
    get origin() {
      return bus.origin;
    },
    subscribe: (listener: EventListener, drained?: () => Promise<void>) =>
      bus.subscribe((event) => {
        if (event.audience === 'user') waiting.push(() => listener(event));
        else listener(event);
      }, drained),
    refresh: async () => {
      await bus.refresh();
      for (const deliver of waiting.splice(0)) deliver();
    },
  };
}
