import type { FastifyInstance } from 'fastify';
import { adminClient, userClient } from '../../support/actors.ts';
import { type ApiReply, clientOf, tokenClient } from '../../support/api.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { ValueCase } from './bounds.ts';
import { cabinetRows } from './cabinet-rows.ts';
import { growthRows } from './growth-rows.ts';
import { keyRows } from './key-rows.ts';
import type { Fixture, Row } from './row.ts';
import { panelRows, saleRows } from './sale-rows.ts';
import { signInRows } from './sign-in-rows.ts';

export const ROWS: Row[] = [...keyRows, ...cabinetRows, ...signInRows, ...growthRows, ...panelRows, ...saleRows];

export async function openFixture(t: TestApp, server: FastifyInstance): Promise<Fixture> {
  return {
    t,
    open: clientOf(server),
    key: await tokenClient(t.app, server),
    user: await userClient(t.app, server),
    admin: await adminClient(t.app, server, ['*:*'], 900),
  };
}

/** One value in one field of an operation. */
export interface FieldCase {
  place: 'body' | 'query';
  field: string;
  one: ValueCase;
}

/** Every case of a row with its name. */
export function casesOf(row: Row): [string, FieldCase][] {
  const places = ['body', 'query'] as const;
  return places.flatMap((place) =>
    Object.entries(row[place] ?? {}).flatMap(([field, { cases }]) =>
      cases.map((one): [string, FieldCase] => [`${field} ${one.what} is ${one.refusal?.type ?? 'taken'}`, { place, field, one }]),
    ),
  );
}

export function call(fixture: Fixture, row: Row, path: string, body: unknown, query: Record<string, string>): Promise<ApiReply> {
  const client = fixture[row.as];
  if (row.method === 'GET') return client.get(path, { query });
  if (row.method === 'DELETE') return client.delete(path, { query });
  const send = { POST: client.post, PUT: client.put, PATCH: client.patch }[row.method];
  return send(path, body, { query });
}

/** The good call with one field set to the case's value, or left out. */
function withCase(fields: Record<string, unknown> | undefined, { field, one }: FieldCase): Record<string, unknown> {
  const { [field]: _replaced, ...rest } = fields ?? {};
  return Object.hasOwn(one, 'value') ? { ...rest, [field]: one.value } : rest;
}

/** Sends the good call of a row with the value of a case. @returns the answer, with what was sent */
export async function tryCase(fixture: Fixture, row: Row, tried: FieldCase) {
  const good = await row.good(fixture);
  const body = tried.place === 'body' ? withCase(good.body, tried) : good.body;
  const query = (tried.place === 'query' ? withCase(good.query, tried) : (good.query ?? {})) as Record<string, string>;
  return { reply: await call(fixture, row, good.path ?? row.path, body, query), body, query };
}
