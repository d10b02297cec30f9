import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { changeApiToken, createApiToken } from '../../src/domain/access/tokens.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { connect, disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let token: string;

beforeAll(async () => {
  t = await testApp();
  server = await startRealtime(t.app, t.database);
  token = (await anApiToken(t.app)).token;
});
afterEach(disconnectAll);
afterAll(() => server.close());

async function feed(path = `/ws?token=${token}`) {
  const client = connect(server.url + path);
  expect(await client.next()).toEqual({ type: 'connection', status: 'connected', message: 'WebSocket connection established' });
  return client;
}

async function cabinet(userId: number) {
  const client = connect(`${server.url}/cabinet/ws?token=${accessToken(userId)}`);
  expect(await client.next()).toMatchObject({ type: 'connected', user_id: userId });
  return client;
}

describe('/ws', () => {
  it.each(['', '?', '?token=', '?token=&api_key=', '?tokens=abc'])('accepts and closes %j: no token', async (query) => {
    const client = connect(`${server.url}/ws${query}`);
    expect(await client.closed).toEqual({ code: 1008, reason: 'Unauthorized: No token provided' });
    expect(client.received).toEqual([]);
  });

  it.each(['token=wrong', 'api_key=sst_wrong', `token=${'x'.repeat(10_000)}`, 'token=wrong&api_key=TOKEN', 'token=%00'])(
    'accepts and closes ?%s: invalid token',
    async (query) => {
      const client = connect(`${server.url}/ws?${query.replace('TOKEN', token)}`);
      expect(await client.closed).toEqual({ code: 1008, reason: 'Unauthorized: Invalid token' });
    },
  );

  it('takes the token from token, api_key or the protocol header, with and without a trailing slash', async () => {
    await feed(`/ws?api_key=${token}`);
    await feed(`/ws?token=&api_key=${token}`);
    await feed(`/ws/?token=${token}`);
    const single = connect(`${server.url}/ws`, { protocols: [`bearer.${token}`] });
    expect(await single.next()).toMatchObject({ type: 'connection' });
    expect(single.ws.protocol).toBe(`bearer.${token}`);
    const both = connect(`${server.url}/ws`, { protocols: [`bearer.${token}`, 'events.v1'] });
    expect(await both.next()).toMatchObject({ type: 'connection' });
    expect(both.ws.protocol).toBe('events.v1');
  });

  it('is closed to a token without its scope, and closes when the scope is taken from a token', async () => {
    const by = { kind: 'system', name: 'test' } as const;
    const made = (scopes: string[]) => createApiToken(t.app, by, { name: 'limited', description: null, expiresAt: null, scopes });
    const other = connect(`${server.url}/ws?token=${(await made(['users:read'])).token}`);
    expect(await other.closed).toMatchObject({ code: 1008 });
    const listener = await made(['feed:read']);
    const open = await feed(`/ws?token=${listener.token}`);
    await changeApiToken(t.app, by, listener.id, { scopes: ['users:read'] });
    expect(await open.closed).toMatchObject({ code: 1008 });
  });

  it('spec 10 K6: takes the token from X-API-Key, which /cabinet/ws does not, and prefers the query', async () => {
    const headers = { 'X-API-Key': token };
    const byHeader = connect(`${server.url}/ws`, { client: { headers } });
    expect(await byHeader.next()).toMatchObject({ type: 'connection' });
    const invalid = { code: 1008, reason: 'Unauthorized: Invalid token' };
    expect(await connect(`${server.url}/ws?token=wrong`, { client: { headers } }).closed).toEqual(invalid);
    expect(await connect(`${server.url}/ws`, { client: { headers: { 'X-API-Key': 'wrong' } } }).closed).toEqual(invalid);
    const missing = { code: 1008, reason: 'Unauthorized: No token' };
    expect(await connect(`${server.url}/cabinet/ws`, { client: { headers } }).closed).toEqual(missing);
  });

  it('spec 10 K4: gives an event one event_id on every instance and after a resume, and each event another', async () => {
    const other = await startRealtime(t.app, t.database);
    const [here, there] = [await feed(), connect(`${other.url}/ws?token=${token}`)];
    await there.next();
    for (const n of [1, 2]) await emit(t.app, { payload: { n } });
    for (const client of [here, here, there, there]) await client.next();
    const [, first, second] = here.eventIds;
    expect([typeof first, new Set(here.eventIds).size]).toEqual(['string', 3]);
    expect(there.eventIds).toEqual([undefined, first, second]);
    await other.close();
    const resumed = connect(`${server.url}/ws?token=${token}&after=${encodeURIComponent(String(here.ids[0]))}`);
    for (const expected of [{ resumed: true }, { payload: { n: 1 } }, { payload: { n: 2 } }]) {
      expect(await resumed.next()).toMatchObject(expected);
    }
    expect(resumed.eventIds).toEqual([undefined, first, second]);
  });

  it('tells a feed event to every client, in the words of the interface', async () => {
    const [one, two] = [await feed(), await feed()];
    await emit(t.app, { type: 'ticket.message_added', payload: { ticket_id: 5, message_text: 'Привет' } });
    const message = await one.next();
    expect(message).toEqual({
      type: 'ticket.message_added',
      payload: { ticket_id: 5, message_text: 'Привет' },
      timestamp: `${t.clock.now().toISOString().slice(0, -1)}000`,
    });
    expect(message.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
    expect(await two.next()).toEqual(message);
  });

  it('tells nothing of rolled-back work, and keeps the order of what was committed (spec 06 section 17, hazard 11)', async () => {
    const client = await feed();
    const failing = inTransaction(t.app, async (tx) => {
      await emit(tx, { payload: { n: -1 } });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    for (let n = 0; n < 60; n += 1) await emit(t.app, { payload: { n } });
    for (let n = 0; n < 60; n += 1) expect((await client.next()).payload).toEqual({ n });
    expect(client.received).toHaveLength(61);
  });

  it('receives events that another instance recorded', async () => {
    const other = await startRealtime(t.app, t.database);
    const here = await feed();
    const there = connect(`${other.url}/ws?token=${token}`);
    await there.next();
    await emit(t.app, { payload: { from: 'anywhere' } });
    expect([(await here.next()).payload, (await there.next()).payload]).toEqual([{ from: 'anywhere' }, { from: 'anywhere' }]);
    await other.close();
  });
});

describe('/cabinet/ws', () => {
  it('closes without a token, with a wrong one and for a user who is not active', async () => {
    server.person(8, { isActive: false });
    const missing = { code: 1008, reason: 'Unauthorized: No token' };
    const invalid = { code: 1008, reason: 'Unauthorized: Invalid token' };
    expect(await connect(`${server.url}/cabinet/ws`).closed).toEqual(missing);
    expect(await connect(`${server.url}/cabinet/ws?api_key=${token}`).closed).toEqual(missing);
    expect(await connect(`${server.url}/cabinet/ws?token=wrong`).closed).toEqual(invalid);
    expect(await connect(`${server.url}/cabinet/ws?token=${token}`).closed).toEqual(invalid);
    expect(await connect(`${server.url}/cabinet/ws?token=${accessToken(8)}`).closed).toEqual(invalid);
    expect(await connect(`${server.url}/cabinet/ws?token=${accessToken(404)}`).closed).toEqual(invalid);
  });

  it('says that the service is away when it cannot judge the token', async () => {
    server.person(9, { isGateDown: true });
    const client = connect(`${server.url}/cabinet/ws?token=${accessToken(9)}`);
    expect(await client.closed).toEqual({ code: 1013, reason: 'Try again later' });
  });

  it('greets with the user id and whether the user is an administrator', async () => {
    server.person(10, { isAdmin: true, receivesStaffEvents: true });
    server.person(11, { isAdmin: false, receivesStaffEvents: true });
    for (const [userId, isAdmin] of [
      [10, true],
      [11, false],
    ] as const) {
      const client = connect(`${server.url}/cabinet/ws?token=${accessToken(userId)}`);
      expect(await client.next()).toEqual({ type: 'connected', user_id: userId, is_admin: isAdmin });
    }
    const byProtocol = connect(`${server.url}/cabinet/ws`, { protocols: [`bearer.${accessToken(10)}`] });
    expect(await byProtocol.next()).toMatchObject({ type: 'connected', user_id: 10 });
  });

  it('tells each user only his own events, staff events only to staff, feed events to nobody here', async () => {
    for (const userId of [21, 22, 24]) server.person(userId);
    server.person(23, { receivesStaffEvents: true });
    const [alice, aliceToo, bob, staff] = [await cabinet(21), await cabinet(21), await cabinet(22), await cabinet(23)];
    const raw = await feed();
    await emit(t.app, { type: 'balance.topup', payload: { amount_kopeks: 100, type: 'fake' }, audience: 'user', userId: 21 });
    await emit(t.app, { type: 'balance.topup', payload: { amount_kopeks: 200 }, audience: 'user', userId: 22 });
    await emit(t.app, { type: 'balance.topup', payload: { amount_kopeks: 300 }, audience: 'user', userId: 24 });
    await emit(t.app, { type: 'ticket.new', payload: { ticket_id: 1, title: 'T', user_id: 21 }, audience: 'staff', userId: 21 });
    await emit(t.app, { type: 'ticket.created', payload: { ticket_id: 1 }, userId: 21 });
    expect((await raw.next()).type).toBe('ticket.created');
    for (const client of [alice, aliceToo, bob, staff, raw]) await client.ping();
    const topUp = { type: 'balance.topup', amount_kopeks: 100 };
    expect([typeof alice.eventIds[1], aliceToo.eventIds[1]]).toEqual(['string', alice.eventIds[1]]);
    expect(alice.received.slice(1)).toEqual([topUp]);
    expect(aliceToo.received.slice(1)).toEqual([topUp]);
    expect(bob.received.slice(1)).toEqual([{ type: 'balance.topup', amount_kopeks: 200 }]);
    expect(staff.received.slice(1)).toEqual([{ type: 'ticket.new', ticket_id: 1, title: 'T', user_id: 21 }]);
    expect(raw.received).toHaveLength(2);
  });
});
