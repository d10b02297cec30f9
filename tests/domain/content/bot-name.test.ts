import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connectOutsideSystems } from '../../../src/composition/outside-systems.ts';
import { seedLate } from '../../../src/composition/start-service.ts';
import type { App } from '../../../src/core/app.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { readMessengerWidget } from '../../../src/domain/content/branding/branding.ts';
import { testApp } from '../../support/test-app.ts';

/** The name of the bot where `BOT_USERNAME` is not set: what the messenger answers at start (spec 05 section 14). */
const TOKEN = '987:token-of-a-test';
const GET_ME = `https://api.telegram.org/bot${TOKEN}/getMe`;
const outside = setupServer();
beforeAll(() => outside.listen({ onUnhandledRequest: 'bypass' }));
afterEach(() => outside.resetHandlers());
afterAll(() => outside.close());

/** An app that would call the real messenger, and nothing else. */
async function started(environment: Record<string, string>): Promise<App> {
  const { app } = await testApp({ environment: { BOT_TOKEN: TOKEN, ...environment } });
  const { env, db, settings, log, clock, ports } = app;
  const metrics = createMetrics();
  const real = connectOutsideSystems({ env, db, settings, log, clock, metrics, sandbox: null, instance: ports.instance });
  const { messenger, messengerIdentity } = real;
  const connected = { ...app, ports: { ...ports, messenger, messengerIdentity } };
  await seedLate(connected);
  return connected;
}

test('the answer of the messenger is the name', async () => {
  outside.use(
    http.post(GET_ME, () =>
      HttpResponse.json({ ok: true, result: { id: 987, is_bot: true, first_name: 'Bot', username: 'answered_bot' } }),
    ),
  );
  const app = await started({ BOT_USERNAME: '' });
  expect(readMessengerWidget(app).botUsername).toBe('answered_bot');
});

test('a set name is not asked for, and is shown without @', async () => {
  let asked = 0;
  outside.use(
    http.post(GET_ME, () => {
      asked += 1;
      return HttpResponse.json({ ok: true, result: { id: 987, is_bot: true, first_name: 'Bot', username: 'answered_bot' } });
    }),
  );
  const app = await started({ BOT_USERNAME: '@set_bot' });
  expect(readMessengerWidget(app).botUsername).toBe('set_bot');
  expect(asked).toBe(0);
});

test('without an answer the name is empty, and the start goes on', async () => {
  let asked = 0;
  outside.use(
    http.post(GET_ME, () => {
      asked += 1;
      return HttpResponse.json({ ok: false, error_code: 401, description: 'Unauthorized' }, { status: 401 });
    }),
  );
  const app = await started({ BOT_USERNAME: '' });
  expect(asked).toBeGreaterThan(0);
  expect(readMessengerWidget(app).botUsername).toBe('');
});
