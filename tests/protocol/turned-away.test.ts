/**
 * Who may not enter: every served operation by every kind of actor that it refuses, by REST and by tRPC. That nobody enters is proved
 * by counting handlers, outbound calls and rows. The mount with the words of clients opens nothing either (spec 09 W6). Who is let in:
 * `tests/contract/actor-matrix.test.ts`.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ActorKind, Actors, type Cell, cells, KINDS, refusalFor, send, UNKNOWN_ID } from '../contract/actor-cells.ts';
import { type EffectWatch, watchEffects } from '../contract/effect-watch.ts';
import { pathFor } from '../contract/operation-cases.ts';
import { type ApiClient, type ApiReply, testServer } from '../support/api.ts';
import { databaseDigests } from '../support/database-digests.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let watch: EffectWatch;
let actors: Actors;

beforeAll(async () => {
  watch = watchEffects(servedRoutes);
  const environment = { YOOKASSA_RECURRENT_ENABLED: 'true', INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel' };
  t = await testApp({ environment });
  server = await testServer(t.app);
  actors = await Actors.make(t, server);
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(async () => {
  watch.stop();
  await server.close();
});

const callTrpc = (client: ApiClient, { route }: Cell): Promise<ApiReply> =>
  route.type === 'query' ? client.get(`/trpc/${route.procedurePath}`) : client.post(`/trpc/${route.procedurePath}`, {});

const onMount = (path: string): string =>
  `/compat${path.replaceAll('messenger', 'telegram').replaceAll('vpnpanel', 'remnawave')}`;

describe('refused requests', () => {
  const refused = (kind: ActorKind) => cells.filter(({ operation }) => refusalFor(kind, operation.auth) !== null);
  const kinds = KINDS.filter((kind) => refused(kind).length > 0);

  test.each(kinds)('%s: status and text of the refusal, no handler, no outbound call, no row', async (kind) => {
    const before = await databaseDigests(t.app);
    watch.clear();
    for (const cell of sampleOf(refused(kind), ({ name }) => `${kind} ${name}`)) {
      const wanted = refusalFor(kind, cell.operation.auth)!;
      const client = actors.clientFor(kind, cell.route);
      const path = pathFor(cell.operation, UNKNOWN_ID);
      for (const place of [path, onMount(path)]) {
        const rest = await send(client, cell, place);
        expect({ status: rest.status, detail: rest.body.detail }, `${cell.operation.method} ${place}`).toEqual(wanted);
      }
      const trpc = await callTrpc(client, cell);
      expect({ status: trpc.status, detail: trpc.body.error.data.detail }, `${cell.name} by tRPC`).toEqual(wanted);
    }
    expect(watch.handled).toEqual([]);
    expect(watch.outbound).toEqual([]);
    expect(await databaseDigests(t.app)).toEqual(before);
  });

  test('an invalid body changes nothing: access is checked before the input', async () => {
    watch.clear();
    const writes = cells.filter(({ operation }) => operation.auth !== 'NONE' && operation.method !== 'GET');
    for (const cell of sampleOf(writes, ({ name }) => name)) {
      const { operation, route } = cell;
      const path = pathFor(operation, UNKNOWN_ID);
      const kind: ActorKind = operation.auth === 'KEY' ? 'user' : operation.auth === 'JWT' ? 'token' : 'without it';
      const reply = await send(actors.clientFor(kind, route), { ...cell, operation: { ...operation, example: '{"a":' } }, path);
      expect(reply.status, cell.name).toBe(refusalFor(kind, operation.auth)!.status);
    }
    expect(watch.handled).toEqual([]);
  });
});
