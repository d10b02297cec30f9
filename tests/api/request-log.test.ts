import { afterEach, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { clientOf, testServer } from '../support/api.ts';
import { testApp } from '../support/test-app.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server whose request lines are kept. */
async function logged(environment: Record<string, string>) {
  const { app } = await testApp({ environment });
  const lines: { level: string; route: string; status: number }[] = [];
  const keep = (level: string) => (line: { route?: string; status: number }, text?: string) => {
    if (text === 'request') lines.push({ level, route: line.route ?? '', status: line.status });
  };
  const log = Object.assign(Object.create(app.log), { info: keep('info'), warn: keep('warn'), error: keep('error') });
  const away = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
  const failing: App = { ...app, log, ports: { ...app.ports, gates: [away] } };
  const server = await testServer(failing);
  closing.push(() => server.close());
  return { client: clientOf(server), lines };
}

test.each([
  { logging: 'true', expected: [{ level: 'info', route: '/users/:user_id', status: 401 }] },
  { logging: 'false', expected: [] },
])('WEB_API_REQUEST_LOGGING=$logging', async ({ logging, expected }) => {
  const { client, lines } = await logged({ WEB_API_REQUEST_LOGGING: logging });
  await client.get('/users/5?token=hidden');
  expect(lines).toEqual(expected);
});
