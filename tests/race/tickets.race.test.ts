import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { MINUTE_MS } from '../../src/core/clock.ts';
import { readNotification, remindOverdueTickets } from '../../src/domain/tickets/notices.ts';
import { changeTicketSettings, readTicketSettings } from '../../src/domain/tickets/ticket-settings.ts';
import { changeReplyBlock, changeTicketStatus, readTicket } from '../../src/domain/tickets/tickets.ts';
import type { TicketSettings } from '../../src/domain/tickets/types.ts';
import { answerTicket, postUserMessage } from '../../src/domain/tickets/write-ticket.ts';
import { anAdmin } from '../support/admins.ts';
import { lost, settled, won } from '../support/parallel.ts';
import { type TestClock, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { aPerson, aTicket, eventsOf, noFile, rowsOf, takeMessages, token } from '../support/ticket-fixture.ts';

const PARALLEL = 20;
const CHAT = -1_007_000_000_123;
const atOnce = <T>(work: (n: number) => Promise<T>) => settled(PARALLEL, work);

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('tickets raced', () => {
  let app: App;
  let elsewhere: App;
  let clock: TestClock;
  beforeAll(async () => {
    const environment = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT) };
    ({ app, clock } = await testApp({ environment }));
    elsewhere = (await testApp({ environment, clock })).app;
  });
  const at = (n: number) => (n % 2 === 0 ? app : elsewhere);

  it('accept one of many messages that a user sends at once', async () => {
    const user = await aPerson(app);
    const ticket = await aTicket(app, user);
    const sent = await atOnce((n) => postUserMessage(at(n), user, ticket.id, { text: `message ${n}`, ...noFile }));
    expect(won(sent)).toHaveLength(1);
    for (const reason of lost(sent)) expect(reason).toMatchObject({ status: 429 });
    expect((await readTicket(app, ticket.id)).messages).toHaveLength(2);
    expect(await rowsOf(app, ticket.id)).toHaveLength(2);
  });

  it('report each change of the status once, and each old status is the previous one', async () => {
    const ticket = await aTicket(app, await aPerson(app));
    expect(won(await atOnce((n) => changeTicketStatus(at(n), token, ticket.id, 'closed')))).toHaveLength(PARALLEL);
    const changes = async () => (await eventsOf(app, ticket.id)).filter((event) => event.type === 'ticket.status_changed');
    expect(await changes()).toHaveLength(1);
    await atOnce((n) => changeTicketStatus(at(n), token, ticket.id, ['open', 'pending', 'closed'][n % 3]!));
    const announced = (await changes()).map(({ payload }) => payload);
    for (const [n, change] of announced.entries()) if (n > 0) expect(change.old_status).toBe(announced[n - 1]!.new_status);
    const after = await readTicket(app, ticket.id);
    expect(after.status).toBe(announced.at(-1)!.new_status);
    expect(after.closedAt === null).toBe(after.status !== 'closed');
  });

  it('keep both settings that two administrators change at once', async () => {
    const admin = await anAdmin(app);
    const change = (on: App, changes: Partial<TicketSettings>) => changeTicketSettings(on, admin, changes);
    for (let round = 0; round < 10; round++) {
      await change(app, { cabinetUserNotificationsEnabled: true, cabinetAdminNotificationsEnabled: true });
      await Promise.all([
        change(app, { cabinetUserNotificationsEnabled: false }),
        change(elsewhere, { cabinetAdminNotificationsEnabled: false }),
      ]);
      const after = await readTicketSettings(app);
      expect(after).toMatchObject({ cabinetUserNotificationsEnabled: false, cabinetAdminNotificationsEnabled: false });
    }
    await change(app, { cabinetUserNotificationsEnabled: true, cabinetAdminNotificationsEnabled: true });
  });

  it('keep every answer that is sent while the ticket is closed and blocked', async () => {
    const admin = await anAdmin(app);
    const ticket = await aTicket(app, await aPerson(app));
    const results = await atOnce(async (n): Promise<void> => {
      if (n % 4 === 0) await changeTicketStatus(at(n), token, ticket.id, 'closed');
      else if (n % 4 === 1) await changeReplyBlock(at(n), token, ticket.id, { permanent: true, until: null });
      else await answerTicket(at(n), admin, ticket.id, { text: `answer ${n}`, ...noFile });
    });
    expect(won(results)).toHaveLength(PARALLEL);
    const after = await readTicket(app, ticket.id);
    expect(after.messages).toHaveLength(1 + PARALLEL / 2);
    expect(after.userReplyBlockPermanent).toBe(true);
    expect((await rowsOf(app, ticket.id)).filter((row) => row.notificationType === 'admin_reply')).toHaveLength(PARALLEL / 2);
  });

  it('remind once, with any number of processes', async () => {
    await app.db.sql('UPDATE tickets SET last_user_message_at = NULL RETURNING id');
    for (let n = 0; n < 60; n++) await aTicket(app, await aPerson(app));
    await takeMessages(app, CHAT);
    clock.advance(6 * MINUTE_MS);
    const counts = await atOnce((n) => remindOverdueTickets(at(n)));
    expect(won(counts)).toHaveLength(PARALLEL);
    expect(await takeMessages(app, CHAT)).toHaveLength(60);
  });

  it('mark a row read once', async () => {
    const [admin, user] = [await anAdmin(app), await aPerson(app)];
    const ticket = await aTicket(app, user);
    await answerTicket(app, admin, ticket.id, { text: 'hello', ...noFile });
    const [row] = await app.db.sql<{ id: number }>(
      'SELECT id FROM ticket_notifications WHERE user_id = $1::int AND NOT is_for_admin',
      [user.userId],
    );
    expect(won(await atOnce((n) => readNotification(at(n), user, row!.id)))).toHaveLength(PARALLEL);
  });
});
