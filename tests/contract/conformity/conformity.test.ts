/**
 * The published operations, held to the letter: each bound from both sides, null, a wrong type, absence; each refusal compared
 * whole, with `loc`, `type`, `msg`, `input` and `ctx`.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminClient, userClient } from '../../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../../support/api.ts';
import { testApp } from '../../support/test-app.ts';
import type { ValueCase } from './bounds.ts';
import { cabinetRows } from './cabinet-rows.ts';
import { growthRows } from './growth-rows.ts';
import { keyRows } from './key-rows.ts';
import type { Row, Stage } from './row.ts';
import { panelRows, saleRows } from './sale-rows.ts';
import { signInRows } from './sign-in-rows.ts';

const rows: Row[] = [...keyRows, ...cabinetRows, ...signInRows, ...growthRows, ...panelRows, ...saleRows];

let stage: Stage;
let server: FastifyInstance;

beforeAll(async () => {
  const t = await testApp();
  server = await testServer(t.app);
  stage = {
    t,
    open: clientOf(server),
    key: await tokenClient(t.app, server),
    user: await userClient(t.app, server),
    admin: await adminClient(t.app, server, ['*:*'], 900),
  };
});
beforeEach(() => stage.t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

interface Case {
  row: Row;
  place: 'body' | 'query';
  field: string;
  one: ValueCase;
}

const casesOf = (row: Row, place: 'body' | 'query'): Case[] =>
  Object.entries(row[place] ?? {}).flatMap(([field, { cases }]) => cases.map((one) => ({ row, place, field, one })));

function call(row: Row, path: string, body: unknown, query: Record<string, string>) {
  const client = stage[row.as];
  if (row.method === 'GET') return client.get(path, { query });
  if (row.method === 'DELETE') return client.delete(path, { query });
  const send = { POST: client.post, PUT: client.put, PATCH: client.patch }[row.method];
  return send(path, body, { query });
}

/** A body as a refusal shows it: what signs its sender in is nobody's to read in a log of answers. */
const shown = (body: object | undefined) => (body && 'initData' in body ? { ...body, initData: '[redacted]' } : body);

/** The good call with one field set to the case's value, or left out. */
function withCase(fields: Record<string, unknown> | undefined, { field, one }: Case): Record<string, unknown> {
  const { [field]: _replaced, ...rest } = fields ?? {};
  return Object.hasOwn(one, 'value') ? { ...rest, [field]: one.value } : rest;
}

describe.each(rows)('row $row: $method $path', (row) => {
  test('the good call is taken', async () => {
    const good = await row.good(stage);
    const reply = await call(row, good.path ?? row.path, good.body, good.query ?? {});
    expect(row.takenStatus ?? [200], reply.text).toContain(reply.status);
    row.answers?.(reply, { ...good.body, ...good.query });
  });

  const cases = [...casesOf(row, 'body'), ...casesOf(row, 'query')];
  if (cases.length === 0) return;
  test.each(cases.map((one) => [`${one.field} ${one.one.what} is ${one.one.refusal?.type ?? 'taken'}`, one] as const))(
    '%s',
    async (_name, tried) => {
      const { place, field, one } = tried;
      const good = await row.good(stage);
      const body = place === 'body' ? withCase(good.body, tried) : good.body;
      const query = (place === 'query' ? withCase(good.query, tried) : (good.query ?? {})) as Record<string, string>;
      const reply = await call(row, good.path ?? row.path, body, query);
      if (one.refusal === null) {
        expect(row.takenStatus ?? [200], reply.text).toContain(reply.status);
        row.answers?.(reply, { ...body, ...query });
        return;
      }
      const input = one.refusal.type === 'missing' ? shown(body) : one.value;
      expect(reply.status, reply.text).toBe(422);
      expect(reply.body).toEqual({ detail: [{ loc: [place, field], ...one.refusal, input }] });
    },
  );
});
