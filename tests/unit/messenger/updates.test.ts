import { describe, expect, it } from 'vitest';
import { parseUpdate } from '../../../src/integrations/messenger/updates.ts';

const user = { id: 10, is_bot: false, first_name: 'Ann', language_code: 'en' };
const chat = { id: 10, type: 'private', first_name: 'Ann' };
const read = (update: unknown) => parseUpdate(JSON.stringify(update));
const payment = { currency: 'XTR', total_amount: 5, invoice_payload: 'p', telegram_payment_charge_id: 'c' };

describe('Bot API updates in the domain’s form', () => {
  it.each([
    ['/start webauth_abc', 'webauth_abc'],
    ['/start@sandbox_bot ref', 'ref'],
    ['/start', null],
    ['hello', null],
  ])('message %j starts with %s', (text, startParameter) => {
    expect(read({ update_id: 3, message: { message_id: 4, date: 1, chat, from: user, text } })).toEqual({
      updateId: 3,
      kind: 'message',
      chatId: 10,
      messageId: 4,
      text,
      startParameter,
      from: { messengerId: 10, username: null, firstName: 'Ann', lastName: null, languageCode: 'en' },
    });
  });

  it('callback, with and without its message', () => {
    const query = { id: 'q', from: user, chat_instance: 'i', data: 'yes:1' };
    expect(read({ update_id: 1, callback_query: { ...query, message: { message_id: 9, chat, date: 0 } } })).toEqual({
      updateId: 1,
      kind: 'callback',
      queryId: 'q',
      fromMessengerId: 10,
      chatId: 10,
      messageId: 9,
      data: 'yes:1',
    });
    expect(read({ update_id: 1, callback_query: query })).toMatchObject({ chatId: null, messageId: null });
  });

  it.each([
    [{ status: 'restricted', is_member: false, user }, false],
    [{ status: 'restricted', is_member: true, user }, true],
    [{ status: 'kicked', until_date: 0, user }, false],
    [{ status: 'administrator', user }, true],
  ])('membership %o: inside %s', (member, isMember) => {
    const change = { chat: { id: -100, type: 'channel', title: 'News' }, from: user, date: 0, new_chat_member: member };
    expect(read({ update_id: 2, chat_member: change })).toMatchObject({
      kind: 'membership',
      chatId: -100,
      memberMessengerId: 10,
      member: { isMember },
    });
  });

  it('a refunded Stars payment', () => {
    expect(
      read({ update_id: 1, message: { message_id: 1, date: 0, chat, from: user, refunded_payment: payment } }),
    ).toMatchObject({
      kind: 'stars_refunded',
      chargeId: 'c',
      stars: 5,
    });
  });

  it('money of another currency, which is reported and never credited (03a 1, F5)', () => {
    const successful_payment = { ...payment, currency: 'usd' };
    expect(read({ update_id: 1, message: { message_id: 1, date: 0, chat, from: user, successful_payment } })).toMatchObject({
      kind: 'stars_paid',
      otherCurrency: 'USD',
    });
  });

  it.each([
    ['no stars', { ...payment, total_amount: 0 }],
    ['a fraction of a star', { ...payment, total_amount: 1.5 }],
    ['stars as text', { ...payment, total_amount: '5' }],
    ['no charge id', { ...payment, telegram_payment_charge_id: '' }],
  ])('never makes money of %s', (_name, successful_payment) => {
    expect(read({ update_id: 1, message: { message_id: 1, date: 0, chat, from: user, successful_payment } })).toEqual({
      updateId: 1,
      kind: 'ignored',
    });
  });

  it.each(['', 'null', '[]', '{}', '{"update_id":"1"}', '{'])('%j is no update', (text) => {
    expect(parseUpdate(text)).toBeNull();
  });

  it('skips updates of another shape', () => {
    expect(read({ update_id: 5, callback_query: { id: 'q' } })).toEqual({ updateId: 5, kind: 'ignored' });
    expect(read({ update_id: 6, poll: {} })).toEqual({ updateId: 6, kind: 'ignored' });
  });
});
