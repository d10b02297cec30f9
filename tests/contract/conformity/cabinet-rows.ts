import { expect } from 'vitest';
import { unique } from '../../support/builders.ts';
import { aPoll, given } from '../../support/poll-samples.ts';
import { aFile } from '../../support/ticket-fixture.ts';
import { type Field, flag, queryWhole, text, whole } from './bounds.ts';
import type { Fixture, Row } from './row.ts';

const WHEEL_NUMBERS: [string, number, number][] = [
  ['spin_cost_stars', 1, 1000],
  ['spin_cost_days', 1, 30],
  ['rtp_percent', 0, 100],
  ['daily_spin_limit', 0, 100],
  ['min_subscription_days_for_day_payment', 1, 30],
  ['promo_validity_days', 1, 365],
];
const WHEEL_FLAGS = ['is_enabled', 'spin_cost_stars_enabled', 'spin_cost_days_enabled'];

const TICKET = { title: 'No connection', message: 'The link stopped working today.' };

/** A type stands only with a file, so the words are tried beside one. */
const mediaType = (): Field => ({
  cases: [
    ...['photo', 'video', 'document'].map((value) => ({ what: value, value, refusal: null })),
    ...['sticker', 'Photo', '', ' photo '].map((value) => ({
      what: `'${value}'`,
      value,
      refusal: {
        type: 'literal_error',
        msg: "Input should be 'photo', 'video' or 'document'",
        ctx: { expected: "'photo', 'video' or 'document'" },
      },
    })),
    { what: '7', value: 7, refusal: { type: 'string_type', msg: 'Input should be a valid string' } },
  ],
});

/** One ticket at a time is the rule of the cabinet. */
async function freeOfTickets(fixture: Fixture): Promise<void> {
  await fixture.t.app.db.sql("UPDATE tickets SET status = 'closed', closed_at = now() WHERE user_id = $1::int RETURNING id", [
    fixture.user.user.id,
  ]);
}

async function aTicket(fixture: Fixture): Promise<number> {
  await freeOfTickets(fixture);
  const made = await fixture.user.post('/cabinet/tickets', TICKET);
  expect(made.status, made.text).toBe(200);
  return made.body.id;
}

/** The operations of the cabinet and of its administration. */
export const cabinetRows: Row[] = [
  {
    row: 5,
    method: 'PUT',
    path: '/cabinet/admin/wheel/config',
    as: 'admin',
    good: async () => ({ body: { is_enabled: false, name: 'Wheel' } }),
    body: {
      name: text({ nullable: true, min: 1, max: 255 }),
      promo_prefix: text({ nullable: true, min: 1, max: 20, fill: (n) => 'P'.repeat(n) }),
      ...Object.fromEntries(WHEEL_NUMBERS.map(([field, ge, le]) => [field, whole({ nullable: true, ge, le })])),
      ...Object.fromEntries(WHEEL_FLAGS.map((field) => [field, flag({ nullable: true })])),
    },
    answers: (reply, sent) => {
      expect(Array.isArray(reply.body.prizes)).toBe(true);
      for (const [field, value] of Object.entries(sent)) if (value !== null) expect(reply.body[field]).toBe(value);
    },
  },
  {
    row: 6,
    method: 'POST',
    path: '/cabinet/tickets',
    as: 'user',
    good: async (fixture) => {
      await freeOfTickets(fixture);
      return { body: TICKET };
    },
    body: {
      title: text({ required: true, min: 3, max: 255 }),
      message: text({ required: true, min: 10, max: 4000 }),
      media_caption: text({ nullable: true, max: 1000 }),
    },
    answers: (reply, sent) => expect(reply.body).toMatchObject({ title: sent.title, status: 'open' }),
  },
  {
    row: 6,
    method: 'POST',
    path: '/cabinet/tickets',
    as: 'user',
    good: async (fixture) => {
      await freeOfTickets(fixture);
      return { body: { ...TICKET, media_type: 'photo', media_file_id: await aFile(fixture.t.app), media_caption: 'See here' } };
    },
    body: { media_type: mediaType() },
  },
  {
    row: 7,
    method: 'GET',
    path: '/cabinet/admin/tickets',
    as: 'admin',
    good: async (fixture) => {
      await aTicket(fixture);
      return { query: { status: 'open', priority: 'normal', user_id: String(fixture.user.user.id) } };
    },
    query: { page: queryWhole({ ge: 1 }), per_page: queryWhole({ ge: 1, le: 100 }) },
    answers: (reply, sent) => {
      expect(Object.keys(reply.body).sort()).toEqual(['items', 'page', 'pages', 'per_page', 'total']);
      expect(reply.body).toMatchObject({ page: Number(sent.page ?? 1), per_page: Number(sent.per_page ?? 20), total: 1 });
      expect(reply.body.items[0]).toMatchObject({
        user: { id: expect.any(Number) },
        last_message: { message_text: TICKET.message },
        messages_count: 1,
      });
    },
  },
  {
    row: 7,
    method: 'GET',
    path: '/cabinet/admin/tickets/{ticket_id}',
    as: 'admin',
    good: async (fixture) => ({ path: `/cabinet/admin/tickets/${await aTicket(fixture)}` }),
    answers: (reply) => expect(reply.body.messages).toMatchObject([{ message_text: TICKET.message, is_from_admin: false }]),
  },
  {
    row: 12,
    method: 'GET',
    path: '/cabinet/admin/promo-groups',
    as: 'admin',
    good: async () => ({}),
    query: { limit: queryWhole({ ge: 1, le: 200 }), offset: queryWhole({ ge: 0 }) },
    answers: (reply) => expect(Object.keys(reply.body).sort()).toEqual(['items', 'limit', 'offset', 'total']),
  },
  {
    row: 13,
    method: 'POST',
    path: '/cabinet/polls/{response_id}/questions/{question_id}/answer',
    as: 'user',
    good: async (fixture) => {
      const poll = await aPoll(fixture.t.app);
      const response = await given(fixture.t.app, poll, fixture.user.user.id);
      const started = await fixture.user.post(`/cabinet/polls/${response}/start`);
      const { id, options } = started.body.question;
      return { path: `/cabinet/polls/${response}/questions/${id}/answer`, body: { option_id: options[0].id } };
    },
    body: { option_id: whole({ required: true }) },
    answers: (reply) => {
      expect(Object.keys(reply.body).sort()).toEqual([
        ...['current_question_index', 'is_completed', 'message', 'next_question', 'reward_granted', 'success', 'total_questions'],
      ]);
      expect(reply.body).toMatchObject({ success: true, is_completed: false, total_questions: 2, current_question_index: 2 });
      expect(reply.body.next_question.options).toHaveLength(2);
    },
  },
  {
    row: 22,
    method: 'DELETE',
    path: '/cabinet/admin/rbac/roles/{role_id}',
    as: 'admin',
    good: async (fixture) => {
      const made = await fixture.admin.post('/cabinet/admin/rbac/roles', { name: `Role ${unique()}`, level: 5, permissions: [] });
      expect(made.status, made.text).toBe(200);
      return { path: `/cabinet/admin/rbac/roles/${made.body.id}` };
    },
  },
  {
    row: 22,
    method: 'DELETE',
    path: '/cabinet/admin/rbac/roles/{role_id}',
    as: 'admin',
    // A role of the system stays, whoever asks.
    good: async (fixture) => {
      const [role] = await fixture.t.app.db.sql<{ id: number }>(
        "INSERT INTO admin_roles (name, level, permissions, is_system) VALUES ($1, 5, '[]'::jsonb, true) RETURNING id",
        [`System ${unique()}`],
      );
      return { path: `/cabinet/admin/rbac/roles/${role!.id}` };
    },
    takenStatus: [400, 403],
    answers: (reply) => expect(reply.body.detail).toMatch(/system/i),
  },
  {
    row: 26,
    method: 'GET',
    path: '/cabinet/subscription',
    as: 'user',
    good: async () => ({}),
  },
];
