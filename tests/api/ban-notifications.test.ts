import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { deleteNotice } from '../../src/domain/ban-system/ban-notices.ts';
import { type MessengerButton, MessengerError } from '../../src/domain/messaging/ports.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, type BuiltUser, unique } from '../support/builders.ts';
import { type ProvisioningTest, startAppWithPanel } from '../support/provisioning-setup.ts';
import { recordedEventsOf } from '../support/recorded-events.ts';

const PATH = '/ban-notifications/send';
const TEMPLATES = {
  BAN_MSG_PUNISHMENT: 'Banned {ip_count}/{limit} for {ban_minutes}',
  BAN_MSG_WIFI: 'Wi-Fi {ban_minutes}\n{network_info}\n{node_info}',
  BAN_MSG_MOBILE: 'Mobile {ban_minutes}',
};
let t: ProvisioningTest;
let server: FastifyInstance;
let client: ApiClient;
let sent: { chatId: number; html: string; buttons: readonly (readonly MessengerButton[])[] }[];
let failure: MessengerError | null;

beforeAll(async () => {
  t = await startAppWithPanel({ environment: TEMPLATES });
  const messenger: App['ports']['messenger'] = {
    ...t.app.ports.messenger,
    sendMessage: async (chatId, html, { buttons = [] } = {}) => {
      if (failure) throw failure;
      sent.push({ chatId, html, buttons });
      return { messageId: 1 };
    },
  };
  t.app = { ...t.app, ports: { ...t.app.ports, messenger } };
  server = await testServer(t.app);
  client = await tokenClient(t.app, server);
});
afterAll(async () => {
  await server.close();
  await t.panel.close();
});
beforeEach(() => {
  [sent, failure] = [[], null];
  t.panel.faults.set({});
});

const send = (body: object) => client.post(PATH, { username: 'name in the ban system', ...body });
const punishment = { notification_type: 'punishment', ip_count: 5, limit: 3, ban_minutes: 30 };

/** A user with a panel user of this name. */
async function aPanelUser(
  fields: Parameters<typeof aUser>[1] = {},
  linked = true,
): Promise<{ user: BuiltUser; name: string; uuid: string }> {
  const [user, name] = [await aUser(t.app, fields), `ban_${unique()}`];
  const { uuid } = await t.adapter.createUser({
    username: name,
    status: 'ACTIVE',
    expireAt: new Date(t.clock.now().getTime() + 86_400_000),
    ...(linked || user.messengerId === null ? {} : { messengerId: user.messengerId }),
  });
  if (linked) await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [user.id, uuid]);
  return { user, name, uuid };
}

/** A user with a verified address and no messenger. */
const aMailUser = async (isVerified = true) => {
  const email = `ban${unique()}@example.com`;
  const user = await aUser(t.app, { language: 'en' });
  await t.app.db.sql(
    'UPDATE users SET messenger_id = NULL, auth_type = $4, email = $2, email_verified = $3::bool WHERE id = $1::int RETURNING id',
    [user.id, email, isVerified, 'email'],
  );
  return { user, email };
};
const mailTo = async (email: string) => {
  const [mail] = await t.app.db.sql<{ template: string; text: string }>(
    'SELECT template, text FROM outgoing_mails WHERE recipient = $1 ORDER BY id DESC LIMIT 1',
    [email],
  );
  return mail;
};
const eventsOf = async (userId: number) =>
  (await recordedEventsOf(t.app, userId)).map(({ type, payload }) => ({ type, payload }));

describe('06 13: who is notified', () => {
  test('by the name in the panel, its uuid, and by messenger id where the account is not linked', async () => {
    const linked = await aPanelUser();
    const unlinked = await aPanelUser({}, false);
    for (const [user_identifier, user] of [
      [linked.name, linked.user],
      [linked.uuid.toUpperCase(), linked.user],
      [unlinked.name, unlinked.user],
    ] as const) {
      const { status, body } = await send({ ...punishment, user_identifier });
      expect([status, body]).toEqual([
        200,
        { success: true, message: 'Сообщение отправлено', messenger_id: user.messengerId, sent: true },
      ]);
      expect(sent.at(-1)!.chatId).toBe(user.messengerId);
    }
  });

  test('spec 06 section 17, hazard 16: an e-mail is looked up, the list of the panel is never read', async () => {
    const { user, email } = await aMailUser();
    expect((await send({ notification_type: 'enabled', user_identifier: email.toUpperCase() })).body).toEqual({
      success: true,
      message: 'Уведомление отправлено по электронной почте',
      messenger_id: null,
      sent: true,
    });
    expect(await mailTo(email)).toMatchObject({ template: 'unban_notification' });
    expect(await eventsOf(user.id)).toEqual([{ type: 'notification.unban_notification', payload: {} }]);
    await send({ notification_type: 'enabled', user_identifier: 'nobody@example.com' });
    const lists = t.panel.calls().filter(({ method, path }) => method === 'GET' && /^\/api\/users(?:\?|$)/.test(path));
    expect(lists).toEqual([]);
  });

  test('nobody: unknown, blocked, deleted, not verified, impossible', async () => {
    const [blocked, deleted] = [await aPanelUser(), await aPanelUser()];
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [blocked.user.id]);
    await t.app.db.sql("UPDATE users SET status = 'deleted' WHERE id = $1::int RETURNING id", [deleted.user.id]);
    const { email } = await aMailUser(false);
    for (const user_identifier of ['nobody_here', blocked.name, deleted.name, email, '', '..', 'a/b?c', 'x'.repeat(500)]) {
      const { status, body } = await send({ ...punishment, user_identifier });
      expect([status, body]).toEqual([
        200,
        { success: false, message: `Пользователь не найден: ${user_identifier}`, messenger_id: null, sent: false },
      ]);
    }
    expect(sent).toEqual([]);
  });

  test('a panel that is away is 502 and nobody is notified', async () => {
    const { name } = await aPanelUser();
    t.panel.faults.set({ status: 503 });
    expect((await send({ ...punishment, user_identifier: name })).status).toBe(502);
    expect(sent).toEqual([]);
  });

  test('without a bot: before any look-up', async () => {
    const app = { ...t.app, ports: { ...t.app.ports, messenger: { ...t.app.ports.messenger, isConfigured: () => false } } };
    const other = await testServer(app);
    const before = t.panel.calls().length;
    const { body } = await (await tokenClient(app, other)).post(PATH, { ...punishment, user_identifier: 'x', username: 'x' });
    expect(body).toEqual({ success: false, message: 'Бот не запущен', messenger_id: null, sent: false });
    expect(t.panel.calls()).toHaveLength(before);
    await other.close();
  });
});

describe('06 13: what is reported', () => {
  const notified = async (body: object, language = 'en') => {
    const { name } = await aPanelUser({ language });
    expect((await send({ ...body, user_identifier: name })).body).toMatchObject({ success: true });
    return sent.at(-1)!;
  };

  test('spec 06 section 17, hazard 15: values are escaped, and a line without a place follows', async () => {
    const values = { node_name: '<b>{limit}</b> & "node"', network_type: 'not shown' };
    const { html, buttons } = await notified({ ...punishment, ...values });
    expect(html).toBe('Banned 5/3 for 30\nNode: &lt;b&gt;{limit}&lt;/b&gt; &amp; &quot;node&quot;');
    expect(buttons).toEqual([[{ text: '🗑 Delete', callbackData: 'ban_notify:delete' }]]);
    const warning = await notified({ notification_type: 'warning', warning_message: ' <i>{limit}</i> ', node_name: 'n' }, 'ru');
    expect(warning.html).toBe('<b>Предупреждение</b>\n&lt;i&gt;{limit}&lt;/i&gt;');
    expect(warning.buttons[0]![0]!.text).toBe('🗑 Удалить');
  });

  test('a network has one line, or none when not given, and zero minutes are a value', async () => {
    const network = { ban_minutes: 0, network_type: 'Café\nfree', node_name: 'n1' };
    expect((await notified({ notification_type: 'network_wifi', ...network })).html).toBe(
      'Wi-Fi 0\nNetwork: Café free\nNode: n1',
    );
    expect((await notified({ notification_type: 'network_mobile', ...network })).html).toBe(
      'Mobile 0\nNetwork: Café free\nNode: n1',
    );
    expect((await notified({ notification_type: 'network_wifi', ban_minutes: 1 })).html).toBe('Wi-Fi 1');
    expect((await notified({ notification_type: 'enabled' })).html).toContain('Доступ восстановлен');
  });

  test('05 12.2: only a warning is shown in the open cabinets too, whatever becomes of the message', async () => {
    const { user, name } = await aPanelUser();
    await send({ ...punishment, user_identifier: name });
    await send({ notification_type: 'warning', warning_message: ' Please <stop> ', user_identifier: name });
    failure = new MessengerError({ kind: 'blocked' }, 'blocked');
    await send({ notification_type: 'warning', warning_message: 'Again', user_identifier: name });
    expect((await eventsOf(user.id)).map(({ type, payload }) => [type, payload])).toEqual([
      ['account.warning', { message: 'Please <stop>' }],
      ['account.warning', { message: 'Again' }],
    ]);
  });

  test('a long warning is cut, so that the messenger takes it', async () => {
    const { html } = await notified({ notification_type: 'warning', warning_message: '<'.repeat(9_000) });
    expect(html.replaceAll('&lt;', '<').length).toBeLessThan(4_000);
  });

  test.each([
    [{ notification_type: 'punishment', ip_count: 1, limit: null, ban_minutes: 0 }, 'punishment', 'ip_count, limit, ban_minutes'],
    [{ notification_type: 'warning', warning_message: ' ' }, 'warning', 'warning_message'],
    [{ notification_type: 'network_wifi' }, 'network_wifi', 'ban_minutes'],
    [{ notification_type: 'network_mobile', ban_minutes: null }, 'network_mobile', 'ban_minutes'],
  ])('a missing field is 400: %j', async (body, type, fields) => {
    const { status, body: answer } = await send({ ...body, user_identifier: 'x' });
    expect([status, answer]).toEqual([400, { detail: `Для уведомления ${type} нужны поля: ${fields}` }]);
  });

  test('bad input is 422, no token 401', async () => {
    for (const body of [{ notification_type: 'other' }, { notification_type: 'enabled', ip_count: 'x' }, {}])
      expect((await send({ user_identifier: 'x', ...body })).status).toBe(422);
    expect((await clientOf(server).post(PATH, {})).status).toBe(401);
  });

  test('mails: the reason in one line, the warning, and the events of the sockets', async () => {
    const { user, email } = await aMailUser();
    await send({ ...punishment, user_identifier: email, node_name: 'n1' });
    const reason = 'addresses at the same time: 5, allowed: 3; access is restored in 30 min.; Node: n1';
    expect((await mailTo(email))!.text).toContain(reason);
    await send({ notification_type: 'network_wifi', ban_minutes: 9, network_type: 'Hotel', user_identifier: email });
    const network = 'connections through this network are not allowed; access is restored in 9 min.; Network: Hotel';
    expect((await mailTo(email))!.text).toContain(network);
    await send({ notification_type: 'warning', warning_message: 'Please stop', user_identifier: email });
    expect(await mailTo(email)).toMatchObject({ template: 'warning_notification', text: expect.stringContaining('Please stop') });
    expect((await eventsOf(user.id)).map(({ type, payload }) => [type, payload])).toEqual([
      ['notification.ban_notification', { reason }],
      ['notification.ban_notification', { reason: network }],
      ['account.warning', { message: 'Please stop' }],
      ['notification.warning_notification', { message: 'Please stop' }],
    ]);
  });
});

describe('06 13: delivery', () => {
  test('a refusal of the messenger is the answer, with the messenger id, and nothing is repeated', async () => {
    const { user, name } = await aPanelUser();
    failure = new MessengerError({ kind: 'blocked' }, 'blocked');
    expect((await send({ ...punishment, user_identifier: name })).body).toEqual({
      success: false,
      message: 'Ошибка мессенджера: blocked',
      messenger_id: user.messengerId,
      sent: false,
    });
    const jobs = await t.app.db.sql(
      "SELECT id FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint",
      [user.messengerId],
    );
    expect(jobs).toEqual([]);
  });

  test('two calls are two messages', async () => {
    const { name } = await aPanelUser();
    await Promise.all([1, 2].map(() => send({ ...punishment, user_identifier: name })));
    expect(sent).toHaveLength(2);
  });

  test('the button deletes the message, also when the messenger does not take the answer', async () => {
    const deleted: number[][] = [];
    const messenger: App['ports']['messenger'] = {
      ...t.app.ports.messenger,
      answerCallback: async () => {
        throw new MessengerError({ kind: 'rejected' }, 'too old');
      },
      deleteMessage: async (...message) => void deleted.push(message),
    };
    const app = { ...t.app, ports: { ...t.app.ports, messenger } };
    await deleteNotice(app, { queryId: 'q', chatId: 7, messageId: 8 });
    await deleteNotice(app, { queryId: 'q', chatId: null, messageId: null });
    expect(deleted).toEqual([[7, 8]]);
  });
});
