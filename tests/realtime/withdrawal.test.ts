import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { addMs, MINUTE_MS } from '../../src/core/clock.ts';
import { deleteApiToken, setApiTokenActive } from '../../src/domain/access/tokens.ts';
import { DEFAULT_LIMITS } from '../../src/realtime/feed-client.ts';
import { cachesStayFresh, eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { connect, disconnectAll, type SocketClient } from './socket-client.ts';

const actor = { kind: 'system', name: 'test' } as const;
const INVALID = { code: 1008, reason: 'Unauthorized: Invalid token' };

let t: TestApp;
let server: TestRealtime;

beforeAll(async () => {
  t = await testApp();
});
beforeEach(async () => {
  // Every tick looks at the API tokens: the time by which rounds are counted stands still in some of the tests.
  const limits = { tickMs: 500, recheckTokenMs: 0, recheckUserMs: 10 * MINUTE_MS };
  server = await startRealtime(t.app, t.database, { limits });
});
afterEach(async () => {
  disconnectAll();
  await server.close();
});

async function feed(token: string) {
  const client = connect(`${server.url}/ws?token=${token}`);
  expect(await client.next()).toMatchObject({ type: 'connection' });
  return client;
}

async function cabinet(userId: number, expiresAt?: Date) {
  const client = connect(`${server.url}/cabinet/ws?token=${accessToken(userId, expiresAt)}`);
  expect(await client.next()).toMatchObject({ type: 'connected' });
  return client;
}

/**
 * Resolves with the close. That it comes within a second follows from the tick of half a second, which looks at what a notice or the
 * service's clock says; what is cached does not expire here.
 */
async function closedByATick(client: SocketClient) {
  expect(DEFAULT_LIMITS.tickMs).toBeLessThanOrEqual(500);
  expect(DEFAULT_LIMITS.recheckTokenMs).toBeLessThanOrEqual(500);
  await expect.poll(() => client.ws.readyState).toBe(client.ws.CLOSED);
  return client.closed;
}

describe('sockets of a withdrawn credential', () => {
  beforeEach(cachesStayFresh);

  it('close at the next tick when the API token is revoked or deleted, while other tokens stay', async () => {
    const [revoked, deleted, kept] = [await anApiToken(t.app), await anApiToken(t.app), await anApiToken(t.app)];
    const clients = [await feed(revoked.token), await feed(revoked.token), await feed(deleted.token)];
    const other = await feed(kept.token);
    await setApiTokenActive(t.app, actor, revoked.id, false);
    await deleteApiToken(t.app, actor, deleted.id);
    expect(await Promise.all(clients.map(closedByATick))).toEqual([INVALID, INVALID, INVALID]);
    await other.ping();
    expect(server.realtime.counts().ws).toBe(1);
    await emit(t.app, { payload: { still: 'here' } });
    expect((await other.next()).payload).toEqual({ still: 'here' });
    expect(clients.flatMap((client) => client.received)).toHaveLength(3);
  });

  it('close at the next tick when the API token expires', async () => {
    const { token } = await anApiToken(t.app, addMs(t.clock.now(), MINUTE_MS));
    const client = await feed(token);
    t.clock.advance(MINUTE_MS);
    expect(await closedByATick(client)).toEqual(INVALID);
  });

  it('close at the next tick when the access token expires', async () => {
    server.person(31);
    const later = await cabinet(31, addMs(t.clock.now(), 5 * MINUTE_MS));
    const client = await cabinet(31, addMs(t.clock.now(), MINUTE_MS));
    t.clock.advance(MINUTE_MS);
    expect(await closedByATick(client)).toEqual(INVALID);
    await later.ping();
  });

  it('close at the next tick when the user is blocked, of no other user', async () => {
    const person = server.person(32);
    server.person(33);
    const [blocked, other] = [await cabinet(32), await cabinet(33)];
    person.isActive = false;
    await t.app.cache.forget(t.app, ['user:32']);
    expect(await closedByATick(blocked)).toEqual(INVALID);
    await other.ping();
  });

  it('hear that the account was banned, and then close', async () => {
    const person = server.person(34);
    const client = await cabinet(34);
    person.isActive = false;
    await emit(t.app, { type: 'account.banned', payload: { reason: 'abuse' }, audience: 'user', userId: 34 });
    expect(await client.next()).toEqual({ type: 'account.banned', reason: 'abuse' });
    expect(await closedByATick(client)).toEqual(INVALID);
  });
});

describe('sockets of a user whose rights change', () => {
  it('stop and start to hear staff events', async () => {
    const person = server.person(35, { receivesStaffEvents: true });
    const client = await cabinet(35);
    const emitTicket = async (n: number) => emit(t.app, { type: 'ticket.new', payload: { n }, audience: 'staff' });
    await emitTicket(1);
    expect(await client.next()).toEqual({ type: 'ticket.new', n: 1 });
    const checks = vi.fn(() => false);
    Object.defineProperty(person, 'receivesStaffEvents', { get: checks });
    await t.app.cache.forget(t.app, ['roles:35']);
    await eventually(() => expect(checks).toHaveBeenCalled());
    await emitTicket(2);
    await emit(t.app, { type: 'balance.change', payload: {}, audience: 'user', userId: 35 });
    expect(await client.next()).toEqual({ type: 'balance.change' });
  });

  it('stay open while the gate cannot judge', async () => {
    const person = server.person(36);
    const client = await cabinet(36);
    const checks = vi.fn(() => true);
    Object.defineProperty(person, 'isGateDown', { get: checks });
    await t.app.cache.forget(t.app, ['access-policies']);
    await eventually(() => expect(checks).toHaveBeenCalled());
    await client.ping();
    expect(server.realtime.counts().cabinet).toBe(1);
  });
});
