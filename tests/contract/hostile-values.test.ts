/**
 * Whatever a field holds, the answer is no fault of ours: each served operation is called with things that exist and one value at a
 * time that its type allows and a column, a cast or an index may not.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testServer } from '../support/api.ts';
import { leastShare, sampleOf } from '../support/matrix-sample.ts';
import { compareRefusal } from '../support/refusal-recorder.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { type HostileRequest, hostileRequests } from './hostile-values.ts';
import { operationsOf } from './operation-cases.ts';
import { rightRequest, sendUnlimited } from './right-request.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/** What the ban system does not know is no fault of ours (spec 06 section 13: 502). */
const UNKNOWN_THERE = /^{"detail":"Ban System API error: API error 404: /;

let t: TestApp;
let server: FastifyInstance;
let called = 0;
let accepted = 0;

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true', ...WITH_BAN_SYSTEM } });
  server = await testServer(t.app, compareRefusal);
});
afterAll(async () => {
  await server.close();
  // What was varied must have been right, or the values never reached what they were to try.
  expect(accepted / called).toBeGreaterThan(leastShare(0.7, called, named.length));
});

/** Each operation is called with some 30 values. */
const ONE_IN_OF_ALL = 3;

test.each(sampleOf(named, ([name]) => name, ONE_IN_OF_ALL))('%s', async (name, operation) => {
  const { client, path, body } = await rightRequest(t, server, name, operation);
  called += 1;
  const faults: string[] = [];
  const requests = hostileRequests(operation, path, body);
  const right: HostileRequest = { what: 'as it should be', path, body };
  // Last what may end the thing.
  for (const request of operation.method === 'DELETE' ? [...requests, right] : [right, ...requests]) {
    const reply = await sendUnlimited(t, client, operation.method, request.path, request.body, { query: request.query });
    if (request === right && reply.status < 300) accepted += 1;
    if (reply.status >= 500 && !UNKNOWN_THERE.test(reply.text))
      faults.push(`${request.what}: ${reply.status} ${reply.text.slice(0, 200)}`);
  }
  expect(faults).toEqual([]);
});
