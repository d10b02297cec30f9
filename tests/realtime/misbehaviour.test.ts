import { once } from 'node:events';
import { get, request } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/core/log.ts';
import type { RealtimeLimits } from '../../src/realtime/feed-client.ts';
import type { RealtimeOptions } from '../../src/realtime/realtime-options.ts';
import { eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { connect, disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let token: string;

beforeAll(async () => {
  t = await testApp();
  token = (await anApiToken(t.app)).token;
});
afterEach(async () => {
  disconnectAll();
  await server.close();
});

async function start(limits: Partial<RealtimeLimits> = {}, overrides: Partial<RealtimeOptions> = {}): Promise<void> {
  server = await startRealtime(overrides.app ?? t.app, t.database, { limits, overrides });
}

async function feed(client?: { autoPong?: boolean }) {
  const made = connect(`${server.url}/ws?token=${token}`, { client });
  expect(await made.next()).toMatchObject({ type: 'connection' });
  return made;
}

describe('what clients send', () => {
  it('answers pings and ignores everything else', async () => {
    await start();
    server.person(1);
    const cabinet = connect(`${server.url}/cabinet/ws?token=${accessToken(1)}`);
    await cabinet.next();
    for (const client of [await feed(), cabinet]) {
      const frames = [
        '',
        'ping',
        'null',
        'true',
        '7',
        '"ping"',
        '[]',
        '[{"type":"ping"}]',
        '{}',
        '{"type":null}',
        '{"type":["ping"]}',
      ];
      for (const frame of [...frames, '{"type":"subscribe"}', '{"type":"ping"', '{'.repeat(5_000)]) client.say(frame);
      client.ws.send(Buffer.from('{"type":"ping"}'));
      client.ws.send(Buffer.from([0xff, 0x00, 0xfe]));
      await client.ping();
      client.say('{"type":"ping","more":[1]}');
      await client.ping();
      expect(client.received).toHaveLength(1);
      expect(client.ws.readyState).toBe(client.ws.OPEN);
    }
  });

  it('answers a ping that came before the greeting', async () => {
    await start();
    const client = connect(`${server.url}/ws?token=${token}`);
    client.ws.on('open', () => client.say('{"type":"ping"}'));
    const types: unknown[] = [];
    client.ws.on('message', (data) => types.push(JSON.parse(String(data)).type));
    await eventually(() => expect(types).toEqual(['connection', 'pong']));
  });

  it('closes an oversize message with 1009 and continues', async () => {
    await start();
    const client = await feed();
    client.say('x'.repeat(16 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
    await (await feed()).ping();
    expect(server.realtime.counts().ws).toBe(1);
  });

  it('closes a client that breaks the protocol, and one that sends text that is no UTF-8', async () => {
    await start();
    const broken = await feed();
    const raw = (broken.ws as unknown as { _socket: { write(bytes: Buffer): void } })._socket;
    raw.write(Buffer.from([0x83, 0x80, 0, 0, 0, 0]));
    expect((await broken.closed).code).toBe(1002);
    const garbled = await feed();
    garbled.ws.send(Buffer.from([0xc3, 0x28]), { binary: false });
    expect((await garbled.closed).code).toBe(1007);
  });

  it('closes a client that does not stop talking', async () => {
    await start({ maxMessagesPer10s: 20 });
    const [talker, pinger] = [await feed(), await feed()];
    for (let index = 0; index < 21; index += 1) {
      talker.say('{}');
      pinger.ws.ping();
    }
    const expected = { code: 1008, reason: 'Too many messages' };
    expect(await Promise.all([talker.closed, pinger.closed])).toEqual([expected, expected]);
  });
});

/** A peer that sends for longer than the grace after a close frame, without reading, as a program does that is busy with sending. */
const FLOODING_PEER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { WebSocket } = require('ws');
  const ws = new WebSocket(workerData);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  ws.once('message', () => {
    for (let round = 0; round < 300; round += 1) {
      for (let index = 0; index < 100; index += 1) ws.send('{"type":"subscribe"}');
      Atomics.wait(cell, 0, 0, 5);
    }
  });
  ws.on('error', () => undefined);
  ws.on('close', (code, reason) => parentPort.postMessage({ code, reason: String(reason) }));
`;

describe('a flood', () => {
  it('spec 10 K6: a peer that reads only after its flood still gets the close frame 1008', async () => {
    await start({ maxMessagesPer10s: 20 });
    const peer = new Worker(FLOODING_PEER, { eval: true, workerData: `${server.url}/ws?token=${token}` });
    const [closed] = await once(peer, 'message');
    expect(closed).toEqual({ code: 1008, reason: 'Too many messages' });
    await eventually(() => expect(server.realtime.counts().ws).toBe(0));
    await peer.terminate();
  });
});

describe('clients that do not listen', () => {
  it('drops a slow one and still sends everything to the others in order', async () => {
    // No tick comes to the help of the check at each write.
    await start({ maxQueuedBytes: 64 * 1024, tickMs: 60_000 });
    const [slow, quick] = [await feed(), await feed()];
    slow.ws.pause();
    const filler = 'f'.repeat(50_000);
    for (let n = 0; n < 300 && server.realtime.counts().ws === 2; n += 1) {
      await emit(t.app, { payload: { n, filler } });
      expect(((await quick.next()).payload as { n: number }).n).toBe(n);
    }
    await eventually(() => expect(server.realtime.counts().ws).toBe(1));
    slow.ws.resume();
    expect([1006, 1013]).toContain((await slow.closed).code);
    await quick.ping();
  });

  it('drops one that is gone without a word, and keeps one that only answers heartbeats', async () => {
    await start({ heartbeatMs: 60, idleMs: 6_000 });
    const [dead, quiet] = [await feed({ autoPong: false }), await feed()];
    expect((await dead.closed).code).toBe(1006);
    expect(quiet.ws.readyState).toBe(quiet.ws.OPEN);
    await quiet.ping();
    expect(server.realtime.counts().ws).toBe(1);
  });

  it('removes a client that disappears', async () => {
    await start();
    server.person(2, { receivesStaffEvents: true });
    const cabinet = connect(`${server.url}/cabinet/ws?token=${accessToken(2)}`);
    await cabinet.next();
    const client = await feed();
    expect(server.realtime.counts()).toEqual({ ws: 1, cabinet: 1 });
    client.ws.terminate();
    cabinet.ws.terminate();
    await eventually(() => expect(server.realtime.counts()).toEqual({ ws: 0, cabinet: 0 }));
    await emit(t.app, {});
    await emit(t.app, { audience: 'staff' });
    await emit(t.app, { audience: 'user', userId: 2 });
    await (await feed()).ping();
  });
});

describe('bounds', () => {
  it('holds a user to a number of sockets', async () => {
    await start({ maxPerUser: 2 });
    server.person(3);
    server.person(4);
    const open = (userId: number) => connect(`${server.url}/cabinet/ws?token=${accessToken(userId)}`);
    const [one, two] = [open(3), open(3)];
    await Promise.all([one.next(), two.next()]);
    expect(await open(3).closed).toEqual({ code: 1008, reason: 'Too many connections' });
    expect(await open(4).next()).toMatchObject({ user_id: 4 });
    one.ws.close();
    await one.closed;
    expect(await open(3).next()).toMatchObject({ user_id: 3 });
    await two.ping();
  });

  it('refuses an upgrade with 503 when it is full', async () => {
    await start({ maxSockets: 1 });
    const client = await feed();
    expect(await upgradeStatus('/ws')).toBe(503);
    await client.ping();
  });

  it('answers other paths with 404, and areas that are switched off', async () => {
    await start({}, { app: (await testApp({ environment: { CABINET_ENABLED: 'false' } })).app });
    for (const path of ['/', '/other', '/ws/x', '/wss', '/cabinet/ws', '//ws'])
      expect([path, await upgradeStatus(path)]).toEqual([path, 404]);
    await feed();
  });

  it('leaves requests alone that only offer another protocol', async () => {
    await start();
    const port = Number(new URL(server.url).port);
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' };
      get({ port, path: '/ws', headers }, (response) => response.on('data', (chunk) => resolve(String(chunk)))).on(
        'error',
        reject,
      );
    });
    expect(text).toBe('plain GET');
  });

  it('continues after connections that end during an upgrade', async () => {
    await start();
    const port = Number(new URL(server.url).port);
    for (let index = 0; index < 20; index += 1) {
      const socket = connectTcp(port, '127.0.0.1');
      socket.on('error', () => undefined);
      const head = `GET /ws?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
      socket.write(`${head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`, () =>
        socket.resetAndDestroy(),
      );
    }
    await (await feed()).ping();
    await eventually(() => expect(server.realtime.counts().ws).toBe(1));
  });
});

describe('the service', () => {
  it('notifies every client at shutdown', async () => {
    await start();
    server.person(5);
    const cabinet = connect(`${server.url}/cabinet/ws?token=${accessToken(5)}`);
    await cabinet.next();
    const client = await feed();
    await server.realtime.close();
    const goingAway = { code: 1001, reason: 'Server is shutting down' };
    expect(await Promise.all([client.closed, cabinet.closed])).toEqual([goingAway, goingAway]);
    expect(server.realtime.counts()).toEqual({ ws: 0, cabinet: 0 });
  });

  it('spec 08 S11: asks clients to connect again at spread times, and accepts no new one', async () => {
    await start();
    const clients = await Promise.all(Array.from({ length: 8 }, () => feed()));
    const drainMs = 2_000;
    const startedAt = performance.now();
    const closedAt: number[] = [];
    const endings = clients.map(async ({ closed }) => {
      const ending = await closed;
      closedAt.push(performance.now() - startedAt);
      return ending;
    });
    server.realtime.drain(drainMs);
    expect(await upgradeStatus('/ws?token=any')).toBe(503);
    expect(await Promise.all(endings)).toEqual(clients.map(() => ({ code: 1012, reason: 'Service Restart' })));
    // No timer fires early: the client of the last share cannot have been notified before that share began.
    expect(closedAt.at(-1)).toBeGreaterThanOrEqual((drainMs * 7) / 8 - 5);
    await eventually(() => expect(server.realtime.counts().ws).toBe(0));
  });

  it('never logs what the URL carries', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'trace', format: 'json', stream: { write: (line) => void lines.push(line) } });
    // A redactor that knows nothing would hide `sst_…` by its shape; this text has no shape.
    const secret = 'plainsecrettext42';
    await start({}, { app: { ...t.app, log } });
    await connect(`${server.url}/ws?token=${secret}`).closed;
    await connect(`${server.url}/cabinet/ws?token=${secret}`).closed;
    await upgradeStatus(`/nowhere?token=${secret}`);
    await feed();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toMatch(/plainsecrettext42|\?token/);
  });
});

/** HTTP status of a WebSocket upgrade that is not accepted. */
function upgradeStatus(path: string): Promise<number> {
  const port = Number(new URL(server.url).port);
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return new Promise((resolve, reject) => {
    const call = request({ port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    call.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    call.on('error', reject);
    call.end();
  });
}
