import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addMs, SECOND_MS } from '../../../src/core/clock.ts';
import {
  changeReplyBlock,
  changeTicketStatus,
  readMyTicket,
  readTicket,
  readTicketFile,
} from '../../../src/domain/tickets/tickets.ts';
import { answerTicket, answerTicketByToken, postUserMessage } from '../../../src/domain/tickets/write-ticket.ts';
import { anAdmin } from '../../support/admins.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { aFile, aPerson, aTicket, eventsOf, noFile, rowsOf, token } from '../../support/ticket-fixture.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const message = (text = 'Still broken') => ({ text, ...noFile });
const later = () => clock.advance(3 * SECOND_MS);

describe('a new ticket', () => {
  it('is one ticket, one message, one feed event, one row and one socket message for administrators (spec 05 section 16, invariant 2)', async () => {
    const user = await aPerson(app);
    const ticket = await aTicket(app, user);
    expect(ticket).toMatchObject({ status: 'open', priority: 'normal', closedAt: null, isReplyBlocked: false });
    expect(ticket.messages).toHaveLength(1);
    expect(await eventsOf(app, ticket.id)).toEqual([
      {
        type: 'ticket.created',
        audience: 'feed',
        payload: {
          ticket_id: ticket.id,
          user_id: user.userId,
          title: 'No connection',
          status: 'open',
          priority: 'normal',
          has_media: false,
        },
      },
      {
        type: 'ticket.new',
        audience: 'staff',
        payload: { ticket_id: ticket.id, title: 'No connection', user_id: user.userId },
      },
    ]);
    expect(await rowsOf(app, ticket.id)).toEqual([
      {
        notificationType: 'new_ticket',
        isForAdmin: true,
        message: expect.stringContaining(`${ticket.id}`),
        userId: user.userId,
      },
    ]);
  });

  it('stores its file, and refuses files that are unknown to the service (spec 05 section 1.1, attachments)', async () => {
    const user = await aPerson(app);
    const fileId = await aFile(app);
    const ticket = await aTicket(app, user, { mediaType: 'photo', mediaFileId: fileId, mediaCaption: 'see' });
    expect(ticket.messages[0]).toMatchObject({ hasMedia: true, mediaType: 'photo', mediaFileId: fileId, mediaCaption: 'see' });
    expect((await eventsOf(app, ticket.id))[0]!.payload).toMatchObject({ has_media: true });
    expect(await readTicketFile(app, ticket.id, ticket.messages[0]!.id)).toMatchObject({ mediaFileId: fileId, mediaUrl: null });
    const foreign = aTicket(app, user, { mediaType: 'photo', mediaFileId: 'a-backup-of-somebody' });
    await expect(foreign).rejects.toMatchObject({
      status: 422,
      issues: [{ loc: ['body', 'media_file_id'], type: 'value_error' }],
    });
  });

  it.each([
    [{ mediaType: 'photo' }, 'media_file_id', 'value_error'],
    [{ mediaFileId: 'some-file-id' }, 'media_type', 'value_error'],
    [{ mediaType: 'audio', mediaFileId: 'some-file-id' }, 'media_type', 'literal_error'],
  ])('refuses half an attachment or another kind: %o', async (fields, field, type) => {
    const user = await aPerson(app);
    const issues = [{ loc: ['body', field], type }];
    await expect(aTicket(app, user, fields)).rejects.toMatchObject({ status: 422, issues });
    const ticket = await aTicket(app, user);
    const [reply, answer] = [{ ...message(), ...fields }, await anAdmin(app)];
    await expect(postUserMessage(app, user, ticket.id, reply)).rejects.toMatchObject({ status: 422, issues });
    await expect(answerTicket(app, answer, ticket.id, reply)).rejects.toMatchObject({ status: 422, issues });
    expect((await readTicket(app, ticket.id)).messages).toHaveLength(1);
  });
});

describe('messages of the user', () => {
  it('make an answered ticket pending and leave an open one open', async () => {
    const user = await aPerson(app);
    const ticket = await aTicket(app, user);
    await postUserMessage(app, user, ticket.id, message());
    expect((await readMyTicket(app, user, ticket.id)).status).toBe('open');
    await answerTicket(app, await anAdmin(app), ticket.id, message('Try again'));
    later();
    const before = (await eventsOf(app, ticket.id)).length;
    const written = await postUserMessage(app, user, ticket.id, message('x'.repeat(300)));
    expect((await readMyTicket(app, user, ticket.id)).status).toBe('pending');
    const emitted = (await eventsOf(app, ticket.id)).slice(before);
    expect(emitted.map(({ type, audience }) => [type, audience])).toEqual([
      ['ticket.message_added', 'feed'],
      ['ticket.user_reply', 'staff'],
      ['ticket.status_changed', 'feed'],
    ]);
    expect(emitted[0]!.payload).toEqual({
      ticket_id: ticket.id,
      message_id: written.id,
      user_id: user.userId,
      is_from_admin: false,
      message_text: 'x'.repeat(200),
      has_media: false,
      status: 'pending',
    });
    expect(emitted[1]!.payload).toEqual({ ticket_id: ticket.id, message: 'x'.repeat(100), user_id: user.userId });
    expect(emitted[2]!.payload).toMatchObject({ old_status: 'answered', new_status: 'pending', closed_at: null });
  });

  it('are refused in the order 404, 400 closed, 403 blocked, 429 too soon', async () => {
    const [user, stranger] = [await aPerson(app), await aPerson(app)];
    const ticket = await aTicket(app, user);
    const write = (who = user) => postUserMessage(app, who, ticket.id, message());
    await expect(write(stranger)).rejects.toMatchObject({ status: 404, detail: 'Ticket not found' });
    await write();
    await expect(write()).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '2' } });
    await changeReplyBlock(app, token, ticket.id, { permanent: true, until: null });
    await expect(write()).rejects.toMatchObject({ status: 403, detail: 'Replies to this ticket are blocked' });
    await changeTicketStatus(app, token, ticket.id, 'closed');
    await expect(write()).rejects.toMatchObject({ status: 400, detail: 'Cannot add message to closed ticket' });
    expect((await readTicket(app, ticket.id)).messages).toHaveLength(2);
  });

  it('are refused until a block ends, which needs no write (spec 05 section 16, invariant 1)', async () => {
    const user = await aPerson(app);
    const blocked = await aTicket(app, user);
    const other = await aTicket(app, user);
    const until = new Date(clock.now().getTime() + 10 * SECOND_MS);
    await changeReplyBlock(app, token, blocked.id, { permanent: false, until });
    expect((await readMyTicket(app, user, blocked.id)).isReplyBlocked).toBe(true);
    await expect(postUserMessage(app, user, blocked.id, message())).rejects.toMatchObject({ status: 403 });
    await expect(aTicket(app, user)).rejects.toMatchObject({ status: 403, detail: 'Support requests are blocked' });
    await postUserMessage(app, user, other.id, message());
    clock.set(until);
    expect((await readMyTicket(app, user, blocked.id)).isReplyBlocked).toBe(false);
    await postUserMessage(app, user, blocked.id, message());
    await aTicket(app, user);
  });

  it('are blocked by any ticket, however old (spec 05 section 1.1)', async () => {
    const user = await aPerson(app);
    const first = await aTicket(app, user);
    await changeReplyBlock(app, token, first.id, { permanent: true, until: null });
    const later = { userId: user.userId, title: 'later', createdAt: clock.now(), updatedAt: addMs(clock.now(), 3_600_000) };
    await storeRows(
      app,
      'Ticket',
      Array.from({ length: 12 }, () => later),
    );
    await expect(aTicket(app, user)).rejects.toMatchObject({ status: 403 });
  });
});

describe('answers', () => {
  it('have the same effects in both areas, and reopen a closed ticket', async () => {
    const user = await aPerson(app);
    const admin = await anAdmin(app);
    for (const area of ['cabinet', 'token'] as const) {
      const ticket = await aTicket(app, user);
      await changeTicketStatus(app, token, ticket.id, 'closed');
      const before = (await eventsOf(app, ticket.id)).length;
      if (area === 'cabinet') await answerTicket(app, admin, ticket.id, message('Fixed'));
      else await answerTicketByToken(app, token, ticket.id, { text: ' Fixed ', ...noFile });
      const after = await readTicket(app, ticket.id);
      expect(after, area).toMatchObject({ status: 'answered', closedAt: null });
      expect(after.messages.at(-1)).toMatchObject({ messageText: 'Fixed', isFromAdmin: true, userId: user.userId });
      const emitted = (await eventsOf(app, ticket.id)).slice(before);
      expect(emitted.map(({ type, audience }) => [type, audience])).toEqual([
        ['ticket.message_added', 'feed'],
        ['ticket.admin_reply', 'user'],
        ['ticket.status_changed', 'feed'],
      ]);
      expect((await rowsOf(app, ticket.id)).filter((row) => !row.isForAdmin)).toEqual([
        { notificationType: 'admin_reply', isForAdmin: false, message: expect.stringMatching(/Fixed$/), userId: user.userId },
      ]);
      const [row] = await app.db.sql('SELECT admin_user_id FROM ticket_messages WHERE ticket_id = $1::int AND is_from_admin', [
        ticket.id,
      ]);
      expect(row).toEqual({ adminUserId: area === 'cabinet' ? admin.userId : null });
    }
  });

  it('need a text or a file, and the stored text is the text, the caption or [media]', async () => {
    const user = await aPerson(app);
    const ticket = await aTicket(app, user);
    const send = (draft: object) => answerTicketByToken(app, token, ticket.id, { text: null, ...noFile, ...draft });
    await expect(send({ text: '   ' })).rejects.toMatchObject({ status: 400, detail: 'Message text or media is required' });
    await expect(send({ mediaFileId: 'only-a-file' })).rejects.toMatchObject({ status: 422 });
    const file = { mediaType: 'voice', mediaFileId: 'a-voice-message' };
    expect((await send({ ...file, mediaCaption: ' listen ' })).message).toMatchObject({
      messageText: 'listen',
      hasMedia: true,
      mediaType: 'voice',
    });
    expect((await send(file)).message.messageText).toBe('[media]');
    await expect(answerTicketByToken(app, token, 2_147_000_000, { text: 'x', ...noFile })).rejects.toMatchObject({ status: 404 });
  });
});
