import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { put } from '../../../src/core/short-lived.ts';
import {
  handleBotUpdate,
  isSignInUpdate,
  pollDeepLink,
  receiveBotUpdate,
  requestDeepLink,
} from '../../../src/domain/identity/deeplink-sign-in.ts';
import type { MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { parseUpdate } from '../../../src/integrations/messenger/updates.ts';
import { unique } from '../../support/builders.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { type TestSandbox, workerSandbox } from '../../support/test-sandbox.ts';
import { aMessengerAccount } from './accounts.ts';

let app: App;
let clock: TestClock;
let sandbox: TestSandbox;
beforeAll(async () => {
  ({ app, clock } = await testApp());
  sandbox = await workerSandbox();
});

const CLIENT = { ip: '203.0.113.7', device: 'Firefox <b>on</b> Linux' };
const refused = (status: number, detail: string) => ({ status, detail });
const poll = (token: string) => pollDeepLink(app, token);

/** Plays the updates as the messenger would write them, through the adapter's reader and the stored job. */
async function bot(update: Record<string, unknown>): Promise<void> {
  const parsed = parseUpdate(JSON.stringify({ update_id: unique(), ...update }))!;
  await receiveBotUpdate(app, parsed);
  const [job] = await app.db.sql<{ data: MessengerUpdate }>(
    "DELETE FROM jobs.job WHERE name = 'identity.bot-update' AND (data->>'updateId')::int = $1::int RETURNING data",
    [parsed.updateId],
  );
  if (job && isSignInUpdate(job.data)) await handleBotUpdate(app, job.data);
}

const start = (id: number, token: string, chatId = id) =>
  bot({
    message: {
      message_id: unique(),
      date: 0,
      chat: { id: chatId, type: chatId === id ? 'private' : 'supergroup' },
      from: { id, is_bot: false, first_name: 'Ann', language_code: 'en' },
      text: `/start webauth_${token}`,
    },
  });

const press = (id: number, data: string, messageId = 1) =>
  bot({
    callback_query: {
      id: String(unique()),
      from: { id, is_bot: false, first_name: 'Ann' },
      chat_instance: 'x',
      message: { message_id: messageId, date: 0, chat: { id, type: 'private' } },
      data,
    },
  });

const messagesTo = async (id: number) => (await sandbox.servers.messenger.messages()).filter((message) => message.chatId === id);

async function begun() {
  const user = await aMessengerAccount(app);
  const { token } = await requestDeepLink(app, CLIENT);
  return { user, id: user.messengerId!, token };
}

describe('sign-in confirmed in the bot', () => {
  it('spec 01 H19: shows the requesting client, accepts the confirmation and creates one session', async () => {
    const { user, id, token } = await begun();
    expect(token).toMatch(/^[\w-]{32}$/);
    await expect(poll(token)).rejects.toMatchObject(refused(202, 'Waiting for confirmation'));
    await start(id, token);
    const [prompt] = await messagesTo(id);
    expect(prompt!.text).toContain(clock.now().toISOString().slice(0, 10));
    expect(prompt!.text).toContain('203.0.113.7');
    expect(prompt!.text).toContain('Firefox &lt;b&gt;on&lt;/b&gt; Linux');
    expect(prompt!.buttons[0]!.map((button) => button.callback_data)).toEqual([`webauth_confirm:${token}`, 'webauth_deny']);
    await expect(poll(token)).rejects.toMatchObject({ status: 202 });
    await press(id, `webauth_confirm:${token}`, prompt!.messageId);
    expect((await poll(token)).user.id).toBe(user.id);
    await expect(poll(token)).rejects.toMatchObject(refused(410, 'Token expired or not found'));
    const [session] = await app.db.sql<{ deviceInfo: string }>(
      'SELECT device_info FROM cabinet_refresh_tokens WHERE user_id = $1::int',
      [user.id],
    );
    expect(session).toEqual({ deviceInfo: 'deep_link' });
    await press(id, `webauth_confirm:${token}`);
    await expect(poll(token)).rejects.toMatchObject({ status: 410 });
  });

  it('spec 01 H19: belongs to the first who confirms, however often both press', async () => {
    const { user, id, token } = await begun();
    const other = await aMessengerAccount(app);
    await press(id, `webauth_confirm:${token}`);
    await press(other.messengerId!, `webauth_confirm:${token}`);
    await press(id, `webauth_confirm:${token}`);
    await press(other.messengerId!, `webauth_confirm:${token}`);
    expect((await poll(token)).user.id).toBe(user.id);
  });

  it('is not confirmed by a no', async () => {
    const { id, token } = await begun();
    await start(id, token);
    await press(id, 'webauth_deny');
    await expect(poll(token)).rejects.toMatchObject({ status: 202 });
  });

  it('ends: five minutes to confirm, then two to be fetched', async () => {
    const { id, token } = await begun();
    clock.advance(299_000);
    await press(id, `webauth_confirm:${token}`);
    clock.advance(119_000);
    expect((await poll(token)).expiresIn).toBe(900);
    const late = await begun();
    clock.advance(300_000);
    await press(late.id, `webauth_confirm:${late.token}`);
    await expect(poll(late.token)).rejects.toMatchObject(refused(410, 'Token expired or not found'));
    const unfetched = await begun();
    await press(unfetched.id, `webauth_confirm:${unfetched.token}`);
    clock.advance(120_000);
    await expect(poll(unfetched.token)).rejects.toMatchObject({ status: 410 });
    await start(unfetched.id, unfetched.token);
    expect((await messagesTo(unfetched.id))[0]!.buttons).toEqual([]);
  });

  it('answers unregistered users that they must register first, and sends no question to a group', async () => {
    const { user, id, token } = await begun();
    const stranger = 7_900_000_000 + unique();
    await start(stranger, token);
    const [answer] = await messagesTo(stranger);
    expect(answer!.text).toContain('Sign up first');
    expect(answer!.buttons).toEqual([]);
    await start(id, token, -100);
    expect([...(await messagesTo(-100)), ...(await messagesTo(id))]).toEqual([]);
    await app.db.sql("UPDATE users SET status = 'deleted' WHERE id = $1::int RETURNING id", [user.id]);
    await start(id, token);
    expect((await messagesTo(id))[0]!.buttons).toEqual([]);
    await press(stranger, `webauth_confirm:${token}`);
    await expect(poll(token)).rejects.toMatchObject({ status: 202 });
  });

  it('spec 01 H27: gives a blocked user no session, before or after the confirmation', async () => {
    const block = (userId: number) => app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [userId]);
    const before = await begun();
    await block(before.user.id);
    await press(before.id, `webauth_confirm:${before.token}`);
    await expect(poll(before.token)).rejects.toMatchObject({ status: 202 });
    const after = await begun();
    await press(after.id, `webauth_confirm:${after.token}`);
    await block(after.user.id);
    await expect(poll(after.token)).rejects.toMatchObject(refused(403, 'Account is deactivated'));
  });

  it('refuses malformed entries with the details of the table', async () => {
    const stored = async (value: object) => {
      const token = `stored-${String(unique()).padStart(16, '0')}`;
      await put(app, `web_auth:${token}`, value, 60);
      return token;
    };
    const linked = { status: 'linked', messenger_id: 1, linked_at: 'x' };
    await expect(poll(await stored({ status: 'other' }))).rejects.toMatchObject(refused(410, 'Invalid token state'));
    await expect(poll(await stored({ ...linked, user_id: 'x' }))).rejects.toMatchObject(refused(500, 'Invalid token data'));
    await expect(poll(await stored({ ...linked, user_id: 2_147_000_000 }))).rejects.toMatchObject(refused(401, 'User not found'));
    await expect(poll('../no-token-of-ours-at-all')).rejects.toMatchObject(refused(410, 'Token expired or not found'));
  });

  it('leaves other updates alone and says when there is no bot', async () => {
    for (const update of [
      { kind: 'ignored' },
      { kind: 'callback', data: 'buy:1' },
      { kind: 'message', startParameter: 'ref1' },
    ]) {
      expect(isSignInUpdate({ updateId: 1, ...update } as MessengerUpdate)).toBe(false);
    }
    expect((await requestDeepLink(app, { ip: null, device: null })).botUsername).toBe('test_bot');
    const identity = { ...app.ports.messengerIdentity, botUsername: () => null };
    const withoutBot = { ...app, ports: { ...app.ports, messengerIdentity: identity } };
    await expect(requestDeepLink(withoutBot, CLIENT)).rejects.toMatchObject(refused(503, 'Bot not configured'));
    const down = {
      ...app,
      db: { ...app.db, sql: () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' })) },
    };
    await expect(requestDeepLink(down, CLIENT)).rejects.toMatchObject(refused(503, 'Service temporarily unavailable'));
  });
});
