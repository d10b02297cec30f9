/** Both sockets at the root, on the prefix and at the host (spec 09 W10). */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { interfaceWordsOf } from '../../src/composition/interface-words.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { accessToken, anApiToken, emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { resume } from './resuming-client.ts';
import { connect, disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let token: string;

beforeAll(async () => {
  const environment = { INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel', INTERFACE_WORDS_HOSTS: 'old.example' };
  t = await testApp({ environment });
  server = await startRealtime(t.app, t.database, { overrides: { mount: interfaceWordsOf(t.app.env) } });
  token = (await anApiToken(t.app)).token;
});
afterEach(disconnectAll);
afterAll(() => server.close());

async function feed(path: string, headers: Record<string, string> = {}) {
  const client = connect(`${server.url}${path}?token=${token}`, { client: { headers } });
  expect(await client.next()).toMatchObject({ type: 'connection' });
  return client;
}

it('an event has the words of the client at the prefix and at the host, and ours at the root', async () => {
  const clients = [await feed('/ws'), await feed('/compat/ws'), await feed('/ws', { host: 'old.example' })];
  await emit(t.app, { payload: { user_id: 1, messenger_id: 7, username: 'messenger', auth_type: 'messenger' } });
  const [atRoot, ...onMount] = await Promise.all(clients.map((client) => client.next()));
  expect(atRoot).toMatchObject({
    type: 'user.created',
    payload: { user_id: 1, messenger_id: 7, username: 'messenger', auth_type: 'messenger' },
  });
  for (const frame of onMount) {
    expect(frame).toMatchObject({ type: 'user.created' });
    expect(frame.payload).toEqual({ user_id: 1, telegram_id: 7, username: 'messenger', auth_type: 'telegram' });
  }
  expect(server.realtime.counts().ws).toBe(3);
});

interface DocumentedEvent {
  feed: string;
  example: Record<string, unknown>;
  payload: { properties?: object };
}
const documentedEvents = (documentOfService as unknown as { 'x-events': Record<string, DocumentedEvent> })['x-events'];

/** What spec 09 section 4 renames in the payloads of events. */
const inClientWords = (payload: object): unknown =>
  JSON.parse(JSON.stringify(payload).replaceAll('messenger_id":', 'telegram_id":'));

it('an event of every type has the words of the client on the mount, and nothing else differs', async () => {
  const [atRoot, onMount] = [await feed('/ws'), await feed('/compat/ws')];
  const ofFeed = Object.entries(documentedEvents).filter(([, event]) => event.feed === '/ws');
  const renamed: string[] = [];
  for (const [type, { example }] of ofFeed) {
    await emit(t.app, { type: type as 'user.created', payload: example });
    const [ours, theirs] = [await atRoot.next(), await onMount.next()];
    expect(ours, type).toMatchObject({ type, payload: example });
    expect(theirs, type).toEqual({ ...ours, payload: inClientWords(example) });
    expect(Object.keys(theirs.payload as object).filter((name) => /messenger|vpnpanel/i.test(name))).toEqual([]);
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) renamed.push(type);
  }
  expect(renamed).toEqual(['user.created']);
});

it('what a client missed comes in its words', async () => {
  const path = `/compat/ws?token=${token}`;
  const before = await resume(server.url, path);
  await emit(t.app, { type: 'payment.completed', payload: { payment_method: 'messenger_stars' } });
  const live = await before.next();
  const again = await resume(server.url, path, before.ids[0]);
  const missed = await again.next();
  expect(live.payload).toEqual({ payment_method: 'telegram_stars' });
  expect(missed.payload).toEqual({ payment_method: 'telegram_stars' });
});

it('the feed of the cabinet is the same on the mount', async () => {
  server.person(5);
  const client = connect(`${server.url}/compat/cabinet/ws?token=${accessToken(5)}`);
  expect(await client.next()).toMatchObject({ type: 'connected', user_id: 5 });
});

it('a path that only resembles the mount has no feed', async () => {
  await expect(connect(`${server.url}/compatx/ws?token=${token}`).closed).rejects.toThrow('Unexpected server response: 404');
});

it('no frame of the cabinet has a word of ours, since its clients drop the path of the mount', () => {
  const ofCabinet = Object.entries(documentedEvents).filter(([, { feed }]) => feed === '/cabinet/ws');
  expect(ofCabinet.length).toBeGreaterThan(5);
  const names = ofCabinet.flatMap(([type, { payload }]) => [type, ...Object.keys(payload.properties ?? {})]);
  expect(names.filter((name) => /messenger|vpnpanel/i.test(name))).toEqual([]);
});
