/**
 * The published operations, held to the letter: the good call and every value on the right side of a bound. What is on the wrong
 * side is refused before any SQL, see `tests/protocol/conformity-refusals.test.ts`.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testServer } from '../../support/api.ts';
import { sampleOf } from '../../support/matrix-sample.ts';
import { testApp } from '../../support/test-app.ts';
import { call, casesOf, openFixture, ROWS, tryCase } from './field-cases.ts';
import type { Fixture } from './row.ts';

let fixture: Fixture;
let server: FastifyInstance;

beforeAll(async () => {
  const t = await testApp();
  server = await testServer(t.app);
  fixture = await openFixture(t, server);
});
beforeEach(() => fixture.t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

describe.each(ROWS)('row $row: $method $path', (row) => {
  test('the valid call is accepted', async () => {
    const good = await row.good(fixture);
    const reply = await call(fixture, row, good.path ?? row.path, good.body, good.query ?? {});
    expect(row.takenStatus ?? [200], reply.text).toContain(reply.status);
    row.answers?.(reply, { ...good.body, ...good.query });
  });

  const taken = sampleOf(
    casesOf(row).filter(([, { one }]) => one.refusal === null),
    ([name]) => `${row.row} ${name}`,
  );
  if (taken.length === 0) return;
  test.each(taken)('%s', async (_name, tried) => {
    const { reply, body, query } = await tryCase(fixture, row, tried);
    expect(row.takenStatus ?? [200], reply.text).toContain(reply.status);
    row.answers?.(reply, { ...body, ...query });
  });
});
