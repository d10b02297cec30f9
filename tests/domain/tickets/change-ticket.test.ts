import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { SECOND_MS } from '../../../src/core/clock.ts';
import { changeReplyBlock, changeTicketPriority, changeTicketStatus, readTicket } from '../../../src/domain/tickets/tickets.ts';
import { answerTicket } from '../../../src/domain/tickets/write-ticket.ts';
import { anAdmin } from '../../support/admins.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { aPerson, aTicket, eventsOf, noFile, token } from '../../support/ticket-fixture.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const changes = async (ticketId: number) =>
  (await eventsOf(app, ticketId)).filter(({ type }) => type === 'ticket.status_changed');

describe('the status', () => {
  it('is announced with the former one in both areas, and not at all when it stays (spec 06 section 2.1)', async () => {
    const ticket = await aTicket(app, await aPerson(app));
    const closed = await changeTicketStatus(app, token, ticket.id, 'closed');
    clock.advance(SECOND_MS);
    expect(await changeTicketStatus(app, token, ticket.id, 'closed')).toEqual(closed);
    await changeTicketStatus(app, await anAdmin(app), ticket.id, 'open');
    const base = { ticket_id: ticket.id, user_id: ticket.userId };
    expect((await changes(ticket.id)).map(({ payload }) => payload)).toEqual([
      { ...base, old_status: 'open', new_status: 'closed', closed_at: closed.closedAt!.toISOString() },
      { ...base, old_status: 'closed', new_status: 'open', closed_at: null },
    ]);
    expect(await readTicket(app, ticket.id)).toMatchObject({ status: 'open', closedAt: null });
  });

  it('is one of four, and another is refused with the text of the area before the ticket is read', async () => {
    const admin = await anAdmin(app);
    expect(() => changeTicketStatus(app, token, 1, 'done')).toThrow('Invalid ticket status');
    expect(() => changeTicketStatus(app, admin, 1, 'done')).toThrow('Invalid status. Allowed: open, pending, answered, closed');
    expect(() => changeTicketPriority(app, token, 1, 'huge')).toThrow('Invalid priority');
    expect(() => changeTicketPriority(app, admin, 1, 'huge')).toThrow('Invalid priority. Allowed: low, normal, high, urgent');
    await expect(changeTicketStatus(app, token, 2_147_000_000, 'open')).rejects.toMatchObject({ status: 404 });
    await expect(changeTicketPriority(app, token, 2_147_000_000, 'low')).rejects.toMatchObject({ status: 404 });
  });
});

describe('the reply block', () => {
  it('must end in the future unless it is for ever, and neither clears it', async () => {
    const ticket = await aTicket(app, await aPerson(app));
    const past = { permanent: false, until: clock.now() };
    expect(() => changeReplyBlock(app, token, ticket.id, past)).toThrow('Block expiration must be in the future');
    expect(await changeReplyBlock(app, token, ticket.id, { ...past, permanent: true })).toMatchObject({
      userReplyBlockPermanent: true,
    });
    expect(await changeReplyBlock(app, token, ticket.id, { permanent: false, until: null })).toMatchObject({
      userReplyBlockPermanent: false,
      userReplyBlockUntil: null,
    });
  });
});

it('every change by an administrator is in the support log, and a token has no actor (spec 05 section 1.1)', async () => {
  const admin = await anAdmin(app);
  const ticket = await aTicket(app, await aPerson(app));
  await changeTicketStatus(app, admin, ticket.id, 'closed');
  await changeTicketStatus(app, token, ticket.id, 'open');
  await changeTicketPriority(app, admin, ticket.id, 'urgent');
  await changeReplyBlock(app, token, ticket.id, { permanent: false, until: new Date(clock.now().getTime() + SECOND_MS) });
  await changeReplyBlock(app, token, ticket.id, { permanent: true, until: null });
  await changeReplyBlock(app, token, ticket.id, { permanent: false, until: null });
  await answerTicket(app, admin, ticket.id, { text: 'Done', ...noFile });
  const rows = await app.db.sql<{ action: string; actorUserId: number | null; targetUserId: number }>(
    'SELECT action, actor_user_id, target_user_id FROM support_audit_logs WHERE ticket_id = $1::int ORDER BY id',
    [ticket.id],
  );
  expect(rows.map((row) => [row.action, row.actorUserId])).toEqual([
    ['close_ticket', admin.userId],
    ['change_status', null],
    ['change_priority', admin.userId],
    ['block_user_timed', null],
    ['block_user_perm', null],
    ['unblock_user', null],
    ['reply_ticket', admin.userId],
  ]);
  expect(new Set(rows.map((row) => row.targetUserId))).toEqual(new Set([ticket.userId]));
});
