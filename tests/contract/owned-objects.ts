/** Things that belong to one user, for every operation that names such a thing by number. A new operation is added here. */
import type { App } from '../../src/core/app.ts';
import type { ActorClient } from '../support/actors.ts';
import { rowOf } from '../support/sale-samples.ts';

interface Fixture {
  app: App;
  owner: ActorClient;
}

interface OwnedThing {
  id: number;
  /** The operation's path with this id, or another, in the thing's place. */
  pathWith: (id: number) => string;
  body?: unknown;
}

interface Owned {
  make: (fixture: Fixture) => Promise<OwnedThing>;
  /** Where the row lies, to see that nobody touched it. */
  table: string;
  /** The body names the thing, in this field, and the path does not. */
  inBody?: string;
  /** Answers alike whether there is anything to do or not. */
  isSilent?: true;
  /** Status of the answer to its owner, who is asked for more first. Default: 200. */
  ofOwner?: number;
}

async function insertedId(app: App, sql: string, values: unknown[]): Promise<number> {
  return (await rowOf<{ id: number }>(app, sql, values)).id;
}

export async function aPayment({ owner }: Fixture): Promise<number> {
  const made = await owner.post('/cabinet/balance/topup', { amount_kopeks: 50_000, payment_method: 'sandbox' });
  return Number(made.body.payment_id);
}

export function aCard({ app, owner }: Fixture): Promise<number> {
  return insertedId(
    app,
    `INSERT INTO saved_payment_methods (user_id, provider_method_id, card_last4, card_type, title)
     VALUES ($1::int, 'pm-' || gen_random_uuid(), '9911', 'Visa', 'Visa *9911') RETURNING id`,
    [owner.user.id],
  );
}

function aSecondFactor({ app, owner }: Fixture): Promise<number> {
  return insertedId(
    app,
    `INSERT INTO second_factors (user_id, kind, name, secret, confirmed_at) VALUES ($1::int, 'totp', 'Phone', 'encrypted', now()) RETURNING id`,
    [owner.user.id],
  );
}

function aTicket({ app, owner }: Fixture): Promise<number> {
  return insertedId(
    app,
    `WITH ticket AS (
       INSERT INTO tickets (user_id, title, last_user_message_at) VALUES ($1::int, 'Mine', now()) RETURNING id),
     message AS (INSERT INTO ticket_messages (ticket_id, user_id, message_text) SELECT id, $1::int, 'Mine' FROM ticket)
     SELECT id FROM ticket`,
    [owner.user.id],
  );
}

async function aNotice(fixture: Fixture): Promise<{ id: number; ticketId: number }> {
  const ticketId = await aTicket(fixture);
  const id = await insertedId(
    fixture.app,
    `INSERT INTO ticket_notifications (ticket_id, user_id, notification_type, message, is_for_admin)
     VALUES ($1::int, $2::int, 'admin_reply', 'Mine', false) RETURNING id`,
    [ticketId, fixture.owner.user.id],
  );
  return { id, ticketId };
}

/** An invitation to a poll of one question with one option. */
async function anInvitation({ app, owner }: Fixture): Promise<{ id: number; questionId: number; optionId: number }> {
  return rowOf(
    app,
    `WITH poll AS (INSERT INTO polls (title) VALUES ('Mine') RETURNING id),
     question AS (INSERT INTO poll_questions (poll_id, text, sort_order) SELECT id, 'Which?', 1 FROM poll RETURNING id),
     option AS (INSERT INTO poll_options (question_id, text, sort_order) SELECT id, 'This', 1 FROM question RETURNING id)
     INSERT INTO poll_responses (poll_id, user_id, delivery_state, started_at) SELECT poll.id, $1::int, 'sent', NULL FROM poll
     RETURNING id, (SELECT id FROM question) AS "questionId", (SELECT id FROM option) AS "optionId"`,
    [owner.user.id],
  );
}

function anOffer({ app, owner }: Fixture): Promise<number> {
  return insertedId(
    app,
    `INSERT INTO discount_offers (user_id, notification_type, discount_percent, expires_at)
     VALUES ($1::int, 'mine', 20, now() + interval '1 day') RETURNING id`,
    [owner.user.id],
  );
}

/** A campaign of the owner, who is a partner; so is everybody else here, or others would be refused for not being one. */
async function aPartnerCampaign({ app, owner }: Fixture): Promise<number> {
  await app.db.sql("UPDATE users SET partner_status = 'approved' WHERE partner_status <> 'approved' RETURNING id");
  return insertedId(
    app,
    `INSERT INTO advertising_campaigns (name, start_parameter, bonus_type, partner_user_id) VALUES ('Mine', gen_random_uuid()::text, 'none', $1::int)
     RETURNING id`,
    [owner.user.id],
  );
}

function aWithdrawal({ app, owner }: Fixture): Promise<number> {
  return insertedId(app, 'INSERT INTO withdrawal_requests (user_id, amount_kopeks) VALUES ($1::int, 10000) RETURNING id', [
    owner.user.id,
  ]);
}

/** An archive that the owner may load; so does nobody else, whatever the number is. */
async function anArchive({ app, owner }: Fixture): Promise<number> {
  // Of another sample: it would have to be shown first.
  await app.db.sql('DELETE FROM second_factors WHERE user_id = $1::int RETURNING id', [owner.user.id]);
  return insertedId(
    app,
    `INSERT INTO data_requests (user_id, kind, state, requested_by, fingerprint, run, size_bytes, created_at, finished_at, expires_at)
     VALUES ($1::int, 'export', 'ready', 'user:' || $1::int, repeat('0', 64), 1, 10, now(), now(), now() + interval '3 days') RETURNING id`,
    [owner.user.id],
  );
}

const PAYMENTS = '/cabinet/balance/pending-payments';
const TICKETS = '/cabinet/tickets';

/** One kind of thing under one path. */
function under(make: (fixture: Fixture) => Promise<number>, pathWith: (id: number) => string, body?: unknown): Owned['make'] {
  return async (fixture) => ({ id: await make(fixture), pathWith, body });
}

/** Every operation of a user that names a stored thing by number. */
export const OWNED: Record<string, Owned> = {
  'DELETE /cabinet/auth/second-factor/{factor_id}': {
    make: under(aSecondFactor, (id) => `/cabinet/auth/second-factor/${id}`),
    table: 'second_factors',
    // The factor has not been shown in his session.
    ofOwner: 403,
  },
  'PATCH /cabinet/auth/second-factor/{factor_id}': {
    make: under(aSecondFactor, (id) => `/cabinet/auth/second-factor/${id}`, { name: 'Other' }),
    table: 'second_factors',
    ofOwner: 403,
  },
  [`GET ${PAYMENTS}/{method}/{payment_id}`]: { make: under(aPayment, (id) => `${PAYMENTS}/sandbox/${id}`), table: 'payments' },
  [`POST ${PAYMENTS}/{method}/{payment_id}/check`]: {
    make: under(aPayment, (id) => `${PAYMENTS}/sandbox/${id}/check`),
    table: 'payments',
  },
  'DELETE /cabinet/balance/saved-cards/{card_id}': {
    make: under(aCard, (id) => `/cabinet/balance/saved-cards/${id}`),
    table: 'saved_payment_methods',
  },
  [`GET ${TICKETS}/{ticket_id}`]: { make: under(aTicket, (id) => `${TICKETS}/${id}`), table: 'tickets' },
  [`POST ${TICKETS}/{ticket_id}/messages`]: {
    make: under(aTicket, (id) => `${TICKETS}/${id}/messages`, { message: 'Hello there' }),
    table: 'tickets',
  },
  [`POST ${TICKETS}/notifications/{notification_id}/read`]: {
    make: under(
      async (fixture) => (await aNotice(fixture)).id,
      (id) => `${TICKETS}/notifications/${id}/read`,
    ),
    table: 'ticket_notifications',
  },
  [`POST ${TICKETS}/notifications/ticket/{ticket_id}/read`]: {
    make: async (fixture) => {
      const { id, ticketId } = await aNotice(fixture);
      const path = (ticket: number) => `${TICKETS}/notifications/ticket/${ticket}/read`;
      return { id, pathWith: (given) => path(given === id ? ticketId : given) };
    },
    table: 'ticket_notifications',
    isSilent: true,
  },
  'POST /cabinet/personal-data/exports/{request_id}/link': {
    make: under(anArchive, (id) => `/cabinet/personal-data/exports/${id}/link`),
    table: 'data_requests',
  },
  'GET /cabinet/polls/{response_id}': {
    make: under(
      async (fixture) => (await anInvitation(fixture)).id,
      (id) => `/cabinet/polls/${id}`,
    ),
    table: 'poll_responses',
  },
  'POST /cabinet/polls/{response_id}/start': {
    make: under(
      async (fixture) => (await anInvitation(fixture)).id,
      (id) => `/cabinet/polls/${id}/start`,
    ),
    table: 'poll_responses',
  },
  'POST /cabinet/polls/{response_id}/questions/{question_id}/answer': {
    make: async (fixture) => {
      const { id, questionId, optionId } = await anInvitation(fixture);
      const pathWith = (given: number) => `/cabinet/polls/${given}/questions/${questionId}/answer`;
      return { id, pathWith, body: { option_id: optionId } };
    },
    table: 'poll_responses',
  },
  'POST /cabinet/promo/claim': {
    make: under(anOffer, () => '/cabinet/promo/claim'),
    table: 'discount_offers',
    inBody: 'offer_id',
  },
  'GET /cabinet/referral/partner/campaigns/{campaign_id}/stats': {
    make: under(aPartnerCampaign, (id) => `/cabinet/referral/partner/campaigns/${id}/stats`),
    table: 'advertising_campaigns',
  },
  'POST /cabinet/referral/withdrawal/{request_id}/cancel': {
    make: under(aWithdrawal, (id) => `/cabinet/referral/withdrawal/${id}/cancel`),
    table: 'withdrawal_requests',
  },
};
