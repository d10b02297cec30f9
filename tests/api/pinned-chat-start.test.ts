import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { type ChatStart, deliverAtStart } from '../../src/domain/pinned-messages/deliver.ts';
import { createPinnedMessage } from '../../src/domain/pinned-messages/pinned-messages.ts';
import { aUser, unique } from '../support/builders.ts';
import { PINNED, TOKEN, withoutPinnedMessages } from '../support/pinned-samples.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { workerSandbox } from '../support/test-sandbox.ts';

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp({ environment: { WEBHOOK_PATH: '/messenger-webhook' } });
  const made = await createHttpServer({
    observeRefusal,
    app: t.app,
    metrics: createMetrics(),
    callbackRoute: () => null,
    extend: (fastify) => registerCallbackRoutes(fastify, t.app),
  });
  server = made.fastify;
  await server.ready();
});
afterAll(() => server.close());

test('spec 05 section 4: a /start that the messenger posts brings the active message, pinned, over the Bot API', async () => {
  await withoutPinnedMessages(t.app);
  const { messengerId } = await aUser(t.app);
  await createPinnedMessage(t.app, TOKEN, PINNED, { broadcast: false, language: null });
  const reply = await server.inject({
    method: 'POST',
    url: '/messenger-webhook',
    headers: { 'x-telegram-bot-api-secret-token': 'test-webhook-secret' },
    payload: {
      update_id: unique(),
      message: {
        message_id: 1,
        date: 1_700_000_000,
        chat: { id: messengerId, type: 'private' },
        text: '/start',
        from: { id: messengerId, is_bot: false, first_name: 'Ann' },
      },
    },
  });
  expect(reply.statusCode).toBe(200);
  const jobs = await t.app.db.sql<{ data: ChatStart }>(
    "SELECT data FROM jobs.job WHERE name = 'pinned.start' AND (data->>'messengerId')::bigint = $1::bigint",
    [messengerId],
  );
  expect(jobs).toHaveLength(1);
  await deliverAtStart(t.app, jobs[0]!.data);
  const { messenger } = (await workerSandbox()).servers;
  const chat = async () => (await messenger.messages()).filter((message) => message.chatId === messengerId);
  expect(await chat()).toMatchObject([{ text: '<b>Hello</b>', isSilent: true, isPinned: true }]);
  const { messageId } = (await chat())[0]!;
  await t.app.ports.messenger.unpinMessage(messengerId, messageId);
  expect((await chat())[0]!.isPinned).toBeUndefined();
  // What the chat does not have is refused, and who blocked the bot is distinguished.
  await expect(t.app.ports.messenger.pinMessage(messengerId, 999_999_999)).rejects.toMatchObject({
    failure: { kind: 'rejected' },
  });
  await messenger.setBlocked(messengerId, true);
  await expect(t.app.ports.messenger.pinMessage(messengerId, messageId)).rejects.toMatchObject({ failure: { kind: 'blocked' } });
  await messenger.setBlocked(messengerId, false);
});
