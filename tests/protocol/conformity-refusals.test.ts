/**
 * The published operations, held to the letter: each bound from its wrong side, null, a wrong type, absence; each refusal compared
 * whole, with `loc`, `type`, `msg`, `input` and `ctx`. What is taken is in `tests/contract/conformity`.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { casesOf, openFixture, ROWS, tryCase } from '../contract/conformity/field-cases.ts';
import type { Fixture } from '../contract/conformity/row.ts';
import { testServer } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { testApp } from '../support/test-app.ts';

let fixture: Fixture;
let server: FastifyInstance;

beforeAll(async () => {
  const t = await testApp();
  server = await testServer(t.app);
  fixture = await openFixture(t, server);
});
beforeEach(() => fixture.t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

/** A body as a refusal shows it: what signs its sender in is nobody's to read in a log of answers. */
const shown = (body: object | undefined) => (body && 'initData' in body ? { ...body, initData: '[redacted]' } : body);

const refusing = ROWS.map((row) => ({
  ...row,
  refused: sampleOf(
    casesOf(row).filter(([, { one }]) => one.refusal !== null),
    ([name]) => `${row.row} ${name}`,
  ),
})).filter(({ refused }) => refused.length > 0);

describe.each(refusing)('row $row: $method $path', ({ refused, ...row }) => {
  test.each(refused)('%s', async (_name, tried) => {
    const { place, field, one } = tried;
    const { reply, body } = await tryCase(fixture, row, tried);
    const input = one.refusal!.type === 'missing' ? shown(body) : one.value;
    expect(reply.status, reply.text).toBe(422);
    expect(reply.body).toEqual({ detail: [{ loc: [place, field], ...one.refusal, input }] });
  });
});
