/**
 * Whatever an administrator changes leaves a row in the audit log that tells what was and what is (spec 01 section 4.5, H7). The
 * operations are read from the router, so that a new one cannot be forgotten.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { testApp } from '../support/test-app.ts';
import { ADMIN, type Fixture } from './admin-write-samples.ts';
import { ADMIN_WRITES, STATELESS } from './admin-writes.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';

const writes = servedRoutes
  .filter((route) => route.meta.auth === 'JWT_ADMIN' && route.method !== 'GET')
  .map((route) => `${route.method} ${route.path.replace(ADMIN, '')}`)
  .sort();

let fixture: Fixture;
let server: FastifyInstance;

beforeAll(async () => {
  const { app } = await testApp({ environment: WITH_BAN_SYSTEM });
  server = await testServer(app);
  fixture = { app, boss: await adminClient(app, server, ['*:*'], 900) };
});
afterAll(() => server.close());

test('every operation that writes is listed with a request that succeeds, or as one without state', () => {
  const listed = [...Object.keys(ADMIN_WRITES), ...Object.keys(STATELESS)].sort();
  expect(listed, 'add the operation to admin-writes.ts').toEqual(writes);
});

interface AuditRow {
  status: string;
  details: { before?: unknown; after?: unknown };
}

test.each(sampleOf(Object.entries(ADMIN_WRITES), ([name]) => name))('%s', async (name, { kind, request }) => {
  const { path, body } = await request(fixture);
  const method = name.split(' ', 1)[0]!.toLowerCase() as 'post' | 'put' | 'patch' | 'delete';
  const url = path.startsWith('/cabinet/') ? path : `${ADMIN}${path}`;
  const reply = method === 'delete' ? await fixture.boss.delete(url, { body }) : await fixture.boss[method](url, body);
  expect(reply.status, reply.text).toBe(200);
  const [row] = await fixture.app.db.sql<AuditRow>(
    'SELECT status, details FROM admin_audit_log WHERE user_id = $1::int AND request_path = $2 ORDER BY id DESC LIMIT 1',
    [fixture.boss.user.id, url],
  );
  expect(row?.status).toBe('success');
  const { before, after } = row!.details;
  const recorded = { before: (before ?? null) !== null, after: (after ?? null) !== null };
  if (kind === 'change') {
    expect(recorded, name).toEqual({ before: true, after: true });
    expect(after).not.toEqual(before);
  }
  if (kind === 'creation' || kind === 'summary') expect(recorded, name).toEqual({ before: false, after: true });
  if (kind === 'deletion') expect(recorded.before, name).toBe(true);
});

test('before and after of a secret setting record the change, not the values', async () => {
  const url = `${ADMIN}/settings/YOOKASSA_SECRET_KEY`;
  const superadmin = await adminClient(fixture.app, server, ['*:*'], 999);
  for (const value of ['first-shop-secret', 'second-shop-secret']) {
    expect((await superadmin.put(url, { value })).status).toBe(200);
  }
  expect((await superadmin.delete(url)).status).toBe(200);
  const rows = await fixture.app.db.sql<{ text: string; details: AuditRow['details'] }>(
    'SELECT details::text AS text, details FROM admin_audit_log WHERE user_id = $1::int AND request_path = $2',
    [superadmin.user.id, url],
  );
  expect(rows).toHaveLength(3);
  for (const { text, details } of rows) {
    expect(text).not.toContain('shop-secret');
    expect(details).toMatchObject({ before: { key: 'YOOKASSA_SECRET_KEY' }, after: { key: 'YOOKASSA_SECRET_KEY' } });
  }
});
