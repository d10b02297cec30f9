import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { writeState } from '../../../src/core/service-state.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import { deliverMessage } from '../../../src/domain/messaging/send-message.ts';
import {
  listTicketNotifications,
  readAllNotifications,
  readNotification,
  readTicketNotifications,
  remindOverdueTickets,
} from '../../../src/domain/tickets/notices.ts';
import { changeTicketSettings, readTicketSettings, readTicketToggles } from '../../../src/domain/tickets/ticket-settings.ts';
import { changeTicketPriority, changeTicketStatus, readTicket, readTicketFile } from '../../../src/domain/tickets/tickets.ts';
import { answerTicket, postUserMessage } from '../../../src/domain/tickets/write-ticket.ts';
import { anAdmin } from '../../support/admins.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';
import { aFile, aPerson, aTicket, eventsOf, noFile, rowsOf, takeMessages } from '../../support/ticket-fixture.ts';

const CHAT = -1_001_234_567_890;
let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp({
    environment: {
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
      ADMIN_NOTIFICATIONS_TICKET_TOPIC_ID: '77',
      DEFAULT_LANGUAGE: 'en',
    },
  }));
});
afterEach(async () => {
  await app.db.sql(`DELETE FROM service_state WHERE key = 'tickets:cabinet-notifications' RETURNING key`);
});

describe('notices in the messenger', () => {
  it('go to the topic of the administrators, texts of the user escaped (spec 05 section 16, invariant 10)', async () => {
    await takeMessages(app, CHAT);
    const ticket = await aTicket(app, await aPerson(app), { title: 'a <b> & "c"', text: `<script>${'y'.repeat(300)}` });
    const [notice, ...more] = await takeMessages(app, CHAT);
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ messengerId: CHAT, threadId: 77 });
    expect(notice!.html).toContain('a &lt;b&gt; &amp; &quot;c&quot;');
    expect(notice!.html).toContain(`&lt;script&gt;${'y'.repeat(192)}...`);
    expect(notice!.html).toContain(`#${ticket.id}`);
  });

  it('show a picture, and only link other files', async () => {
    await takeMessages(app, CHAT);
    const user = await aPerson(app);
    const photo = await aFile(app);
    const ticket = await aTicket(app, user, { mediaType: 'photo', mediaFileId: photo });
    expect(await takeMessages(app, CHAT)).toMatchObject([{ photoFileId: photo }]);
    await postUserMessage(app, user, ticket.id, { text: 'and this', mediaType: 'video', mediaFileId: photo, mediaCaption: null });
    const [second] = await takeMessages(app, CHAT);
    expect(second).not.toHaveProperty('photoFileId');
    expect(second!.html).toContain(`/media/${photo}"`);
  });

  it('are sent with topic and picture, and without the picture when the messenger refuses it', async () => {
    const { messenger } = (await workerSandbox()).servers;
    const [chat, other] = [(await aPerson(app)).messengerId, (await aPerson(app)).messengerId];
    const fileId = await aFile(app);
    await deliverMessage(app, { messengerId: chat, html: 'one', threadId: 5, photoFileId: fileId });
    await deliverMessage(app, { messengerId: other, html: 'two', photoFileId: 'no file!' });
    const sent = (await messenger.messages()).filter(({ chatId }) => [chat, other].includes(chatId));
    expect(sent.map(({ text, photo, threadId }) => [text, photo, threadId])).toEqual([
      ['two', undefined, undefined],
      ['one', fileId, 5],
    ]);
    const ticket = await aTicket(app, await aPerson(app), { mediaType: 'photo', mediaFileId: fileId });
    const file = await readTicketFile(app, ticket.id, ticket.messages[0]!.id);
    expect(file.mediaUrl).toMatch(new RegExp(`^https?://.+/media/${fileId}$`));
  });

  it('that cannot be delivered lose no ticket and no answer (spec 05 section 16, invariant 2)', async () => {
    const messenger = {
      ...app.ports.messenger,
      sendMessage: () => Promise.reject(new MessengerError({ kind: 'unavailable' }, 'away')),
    };
    const away = { ...app, ports: { ...app.ports, messenger } };
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    await takeMessages(app, CHAT);
    const ticket = await aTicket(away, user);
    await answerTicket(away, admin, ticket.id, { text: 'stays', ...noFile });
    const queued = [...(await takeMessages(app, CHAT)), ...(await takeMessages(app, user.messengerId))];
    expect(queued).toHaveLength(2);
    for (const request of queued) await expect(deliverMessage(away, request)).rejects.toThrow('away');
    expect((await readTicket(app, ticket.id)).messages.map(({ messageText }) => messageText)).toContain('stays');
    expect(await rowsOf(app, ticket.id)).toHaveLength(2);
  });

  it('of an answer go to the owner in the messenger, or by mail without one', async () => {
    const admin = await anAdmin(app);
    const user = await aPerson(app, { language: 'en' });
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: '<i>'.repeat(50), ...noFile });
    const [sent] = await takeMessages(app, user.messengerId);
    expect(sent!.html).toContain('&lt;i&gt;');
    expect(sent!.html).not.toContain('<i>');
    expect(sent!.buttons!.flat().map(({ callbackData }) => callbackData)).toEqual([
      `view_ticket_${ticket.id}`,
      `close_ticket_notification_${ticket.id}`,
    ]);

    const address = `mail-only-${ticket.id}@example.com`;
    const mailOnly = await aPerson(app, { email: address });
    await app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [mailOnly.userId]);
    const second = await aTicket(app, mailOnly);
    await answerTicket(app, admin, second.id, { text: 'By mail <b>', ...noFile });
    const mails = await app.db.sql<{ html: string }>('SELECT html FROM outgoing_mails WHERE recipient = $1', [address]);
    expect(mails).toHaveLength(1);
    expect(mails[0]!.html).toContain('By mail &lt;b&gt;');
  });
});

describe('switches of the notices (spec 05 section 1.5 and 1.6)', () => {
  const switchTo = (value: object) => writeState(app.db, 'tickets:cabinet-notifications', value);

  it('keep notices from the administrators, and messages and mails from the owner, each alone', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    await takeMessages(app, CHAT);
    await switchTo({ adminChat: false });
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: 'first', ...noFile });
    expect(await takeMessages(app, CHAT)).toEqual([]);
    expect(await takeMessages(app, user.messengerId)).toHaveLength(1);
    await switchTo({ ownerMessages: false });
    await answerTicket(app, admin, ticket.id, { text: 'second', ...noFile });
    await postUserMessage(app, user, ticket.id, { text: 'third', ...noFile });
    expect(await takeMessages(app, CHAT)).toHaveLength(1);
    expect(await takeMessages(app, user.messengerId)).toEqual([]);
    expect(await rowsOf(app, ticket.id)).toHaveLength(4);
  });

  it('are not changed by a change of the toggles in the cabinet', async () => {
    const admin = await anAdmin(app);
    await switchTo({ adminChat: false });
    await changeTicketSettings(app, admin, { cabinetAdminNotificationsEnabled: false });
    expect(await readTicketToggles(app)).toEqual({ user: true, admin: false, adminChat: false, ownerMessages: true });
  });
});

describe('rows in the cabinet', () => {
  it('are not written, and no socket message is sent, while their toggle is off', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    await changeTicketSettings(app, admin, { cabinetAdminNotificationsEnabled: false, cabinetUserNotificationsEnabled: false });
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: 'Hello', ...noFile });
    expect(await rowsOf(app, ticket.id)).toEqual([]);
    expect((await eventsOf(app, ticket.id)).every(({ audience }) => audience === 'feed')).toBe(true);
  });

  it('cut the text only when it is long', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    const ticket = await aTicket(app, user, { title: 't'.repeat(51) });
    await answerTicket(app, admin, ticket.id, { text: 'z'.repeat(100), ...noFile });
    await answerTicket(app, admin, ticket.id, { text: 'z'.repeat(101), ...noFile });
    const [made, exact, cut] = await rowsOf(app, ticket.id);
    expect(made!.message).toMatch(/t{50}\.\.\.$/);
    expect(exact!.message).toMatch(/: z{100}$/);
    expect(cut!.message).toMatch(/: z{100}\.\.\.$/);
  });

  it('are marked read by their recipients, and the first time stays', async () => {
    const [admin, user, stranger] = [await anAdmin(app), await aPerson(app), await aPerson(app)];
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: 'one', ...noFile });
    await answerTicket(app, admin, ticket.id, { text: 'two', ...noFile });
    const page = { unreadOnly: false, limit: 1, offset: 0 };
    const listed = await listTicketNotifications(app, user, page);
    expect(listed).toMatchObject({ items: [{ notificationType: 'admin_reply', isRead: false }], unreadCount: 2 });
    const [userNotificationId, adminId] = [
      listed.items[0]!.id,
      (await listTicketNotifications(app, admin, { ...page, limit: 100 })).items.find((row) => row.ticketId === ticket.id)!.id,
    ];
    const foreign = { status: 404, detail: 'Notification not found' };
    await expect(readNotification(app, stranger, userNotificationId)).rejects.toMatchObject(foreign);
    await expect(readNotification(app, user, adminId)).rejects.toMatchObject(foreign);
    await expect(readNotification(app, admin, userNotificationId)).rejects.toMatchObject({
      status: 403,
      detail: 'This is not an admin notification',
    });
    await expect(readNotification(app, user, 2_147_000_000)).rejects.toMatchObject({
      status: 404,
      detail: 'Notification not found',
    });

    const firstRead = clock.now();
    await readNotification(app, user, userNotificationId);
    clock.advance(MINUTE_MS);
    await readNotification(app, user, userNotificationId);
    expect((await listTicketNotifications(app, user, page)).items[0]!.readAt).toEqual(firstRead);
    expect(await readTicketNotifications(app, stranger, ticket.id)).toBe(0);
    expect(await readTicketNotifications(app, user, 2_147_000_000)).toBe(0);
    expect(await readTicketNotifications(app, user, ticket.id)).toBe(1);
    expect(await readAllNotifications(app, user)).toBe(0);
    expect((await listTicketNotifications(app, user, { ...page, unreadOnly: true })).items).toEqual([]);
    expect(await readTicketNotifications(app, admin, ticket.id)).toBe(1);
  });
});

describe('settings', () => {
  it('change together or not at all, with effect at once (spec 05 section 1.4, section 16, invariant 9)', async () => {
    const admin = await anAdmin(app);
    const before = await readTicketSettings(app);
    const bad = { slaMinutes: 9, supportSystemMode: 'phone' };
    await expect(changeTicketSettings(app, admin, bad)).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid support_system_mode. Must be: tickets, contact, or both',
    });
    expect(await readTicketSettings(app)).toEqual(before);
    const user = await aPerson(app);
    expect(await changeTicketSettings(app, admin, { slaMinutes: 9, supportSystemMode: ' Contact ' })).toMatchObject({
      slaMinutes: 9,
      supportSystemMode: 'contact',
    });
    await expect(aTicket(app, user)).rejects.toMatchObject({ status: 403, detail: 'Support tickets are disabled' });
    await changeTicketSettings(app, admin, { slaMinutes: before.slaMinutes, supportSystemMode: 'both' });
    await aTicket(app, user);
  });
});

describe('reminders', () => {
  it('count from the last message of the user, include pending tickets, and do not change updated_at (spec 05 section 1.6)', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    await app.db.sql("UPDATE tickets SET last_user_message_at = NULL WHERE status <> 'closed' RETURNING id");
    const open = await aTicket(app, user);
    const pending = await aTicket(app, user);
    await answerTicket(app, admin, pending.id, { text: 'well?', ...noFile });
    await postUserMessage(app, user, pending.id, { text: 'no', ...noFile });
    const answered = await aTicket(app, user);
    await answerTicket(app, admin, answered.id, { text: 'done', ...noFile });
    await takeMessages(app, CHAT);

    clock.advance(4 * MINUTE_MS);
    await changeTicketPriority(app, admin, open.id, 'high');
    expect(await remindOverdueTickets(app)).toBe(0);
    clock.advance(MINUTE_MS);
    const stamp = () =>
      app.db.sql('SELECT id, updated_at FROM tickets WHERE id = ANY($1::int[]) ORDER BY id', [[open.id, pending.id]]);
    const before = await stamp();
    expect(await remindOverdueTickets(app)).toBe(2);
    expect(await stamp()).toEqual(before);
    const notices = await takeMessages(app, CHAT);
    expect(notices.map(({ html, threadId }) => [html.includes('5 min'), threadId])).toEqual([
      [true, 77],
      [true, 77],
    ]);
    expect(await remindOverdueTickets(app)).toBe(0);
    clock.advance(15 * MINUTE_MS);
    await postUserMessage(app, user, open.id, { text: 'hello?', ...noFile });
    expect(await remindOverdueTickets(app)).toBe(1);
    clock.advance(5 * MINUTE_MS);
    expect(await remindOverdueTickets(app)).toBe(1);
  });

  it('spec 10 G8: an answered ticket that is closed and opened again waits for nothing', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    await app.db.sql("UPDATE tickets SET last_user_message_at = NULL WHERE status <> 'closed' RETURNING id");
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: 'done', ...noFile });
    await changeTicketStatus(app, admin, ticket.id, 'closed');
    await changeTicketStatus(app, admin, ticket.id, 'open');
    clock.advance(60 * MINUTE_MS);
    expect(await remindOverdueTickets(app)).toBe(0);
    await postUserMessage(app, user, ticket.id, { text: 'still not', ...noFile });
    clock.advance(60 * MINUTE_MS);
    expect(await remindOverdueTickets(app)).toBe(1);
  });
});
