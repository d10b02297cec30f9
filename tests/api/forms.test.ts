/** What every operation that accepts a form says of one that it cannot read. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { testApp } from '../support/test-app.ts';

const BOUNDARY = 'form-of-a-test';
const FIELD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n`;

let server: FastifyInstance;
let token: string;
let admin: ActorClient;

beforeAll(async () => {
  const t = await testApp();
  server = await testServer(t.app);
  ({ token } = await tokenClient(t.app, server));
  admin = await adminClient(t.app, server, ['*:*']);
});
afterAll(() => server.close());

describe.each(['/upload', '/backups/upload', '/cabinet/media/upload', '/cabinet/branding/logo'])('POST %s', (url) => {
  const post = async (payload: string) => {
    const credentials = { 'x-api-key': token, authorization: `Bearer ${admin.accessToken}` };
    const headers = { ...credentials, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const reply = await server.inject({ method: 'POST', url, payload, headers });
    return { status: reply.statusCode, body: reply.json() };
  };

  test('refuses a form that ends before its end', async () => {
    expect(await post(FIELD)).toEqual({ status: 400, body: { detail: 'There was an error parsing the body' } });
  });

  test('refuses a form of too many parts', async () => {
    const detail = 'The form has too many parts. Maximum: one file and 50 fields';
    expect(await post(`${FIELD.repeat(51)}--${BOUNDARY}--\r\n`)).toEqual({ status: 413, body: { detail } });
  });
});
