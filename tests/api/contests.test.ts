import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { scoreSubscriptionPayment } from '../../src/domain/engagement/referral-contests/scores.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aPurchase, aRound, templateOf } from '../support/contest-samples.ts';
import { aReferralPair } from '../support/referral-samples.ts';
import { aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let client: ApiClient;

beforeAll(async () => {
  t = await testApp({ environment: { CONTESTS_ENABLED: 'true', TIMEZONE: 'Europe/Berlin' } });
  server = await testServer(t.app);
  client = await tokenClient(t.app, server);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM contest_templates');
  await t.app.db.sql('SELECT seed_contest_templates()');
  await t.app.db.sql('DELETE FROM referral_contests');
});

async function aPlayer(): Promise<ActorClient> {
  const player = await userClient(t.app, server, { language: 'en' });
  await aStoredSubscription(t.app, player.user.id);
  return player;
}

describe('daily games (Web API, 04 10.4)', () => {
  it('lists, reads and changes templates', async () => {
    const { status, body } = await client.get('/contests/daily/templates');
    expect([status, body.items.length]).toEqual([200, 7]);
    const [quest] = body.items;
    expect(quest).toEqual({
      id: expect.any(Number),
      name: 'Квест с кнопками',
      slug: 'quest_buttons',
      description: expect.any(String),
      prize_type: 'days',
      prize_value: '1',
      max_winners: 3,
      attempts_per_user: 1,
      times_per_day: 2,
      schedule_times: '10:00,18:00',
      cooldown_hours: 24,
      payload: { rows: 3, cols: 3 },
      is_enabled: false,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const path = `/contests/daily/templates/${quest.id}`;
    expect((await client.get(path)).body).toEqual(quest);
    expect((await client.patch(path, {})).body).toEqual(quest);
    const changed = await client.patch(path, { is_enabled: true, name: null, payload: { rows: 2, cols: 2 } });
    expect(changed.body).toMatchObject({ is_enabled: true, name: quest.name, payload: { rows: 2, cols: 2 } });
    expect((await client.get('/contests/daily/templates', { query: { enabled_only: true } })).body.items).toHaveLength(1);
    expect(await client.patch(path, { payload: { rows: 'many' } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'payload', 'rows'] }] },
    });
    expect(await client.get('/contests/daily/templates/2147483648')).toMatchObject({
      status: 404,
      body: { detail: 'Template not found' },
    });
    expect(await client.patch('/contests/daily/templates/999999', { name: 'x' })).toMatchObject({ status: 404 });
  });

  it('starts, lists and finishes rounds', async () => {
    const id = await templateOf(t.app, 'anagram');
    const path = `/contests/daily/templates/${id}/start-round`;
    const started = await client.post(path, { starts_at: '2020-07-01T10:00:00', ends_at: '2090-07-01T10:00:00+02:00' });
    expect(started.body).toEqual({
      id: expect.any(Number),
      template_id: id,
      template_slug: 'anagram',
      template_name: 'Анаграмма',
      starts_at: '2020-07-01T08:00:00.000Z',
      ends_at: '2090-07-01T08:00:00.000Z',
      status: 'active',
      payload: { letters: expect.any(String), answer: expect.any(String) },
      winners_count: 0,
      max_winners: 1,
      attempts_per_user: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await client.post(path, {})).toMatchObject({ status: 409 });
    expect(await client.post(path, { ends_at: '2020-01-01', force: true })).toMatchObject({ status: 400 });
    const endless = { starts_at: '9999-12-31T12:00:00Z', force: true };
    expect(await client.post(path, endless)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'starts_at'] }] } });
    const rounds = async (query: Record<string, string | number>) => (await client.get('/contests/daily/rounds', { query })).body;
    expect(await rounds({})).toMatchObject({ items: [{ id: started.body.id }], total: 1, limit: 50, offset: 0 });
    expect(await rounds({ template_id: 0 })).toMatchObject({ total: 1 });
    expect(await rounds({ template_id: 999_999 })).toMatchObject({ items: [], total: 0 });
    expect(await rounds({ status_filter: 'finished' })).toMatchObject({ items: [], total: 0 });
    const one = `/contests/daily/rounds/${started.body.id}`;
    expect((await client.get(one)).body).toEqual(started.body);
    for (let turn = 0; turn < 2; turn++) expect((await client.post(`${one}/finish`)).body).toMatchObject({ status: 'finished' });
    expect(await rounds({ status_filter: 'finished' })).toMatchObject({ total: 1 });
    expect(await rounds({ status_filter: 'any', limit: 1, offset: 1 })).toMatchObject({ items: [], total: 1 });
    expect(await rounds({})).toMatchObject({ total: 0 });
    for (const unknown of ['/contests/daily/rounds/999999', '/contests/daily/rounds/2147483648']) {
      expect(await client.get(unknown)).toMatchObject({ status: 404, body: { detail: 'Round not found' } });
      expect(await client.post(`${unknown}/finish`)).toMatchObject({ status: 404 });
      expect((await client.get(`${unknown}/attempts`)).body).toEqual({ items: [], total: 0, limit: 50, offset: 0 });
    }
  });

  it('lists attempts with their players, or winners only', async () => {
    const round = await aRound(t.app);
    const [first, second] = [await aPlayer(), await aPlayer()];
    await first.post(`/cabinet/contests/${round.id}/answer`, { round_id: 0, answer: ' 5 ' });
    await second.post(`/cabinet/contests/${round.id}/answer`, { round_id: 0, answer: '4' });
    const path = `/contests/daily/rounds/${round.id}/attempts`;
    const { body } = await client.get(path);
    expect(body).toMatchObject({
      total: 2,
      items: [
        { is_winner: false, answer: ' 5 ' },
        { is_winner: true, answer: '4' },
      ],
    });
    expect(body.items[0]).toMatchObject({
      round_id: round.id,
      user: { id: first.user.id, messenger_id: first.user.messengerId },
    });
    expect(body.items[0].user.full_name).toMatch(/^User \d+$/);
    const winners = await client.get(path, { query: { winners_only: true } });
    expect(winners.body).toMatchObject({ total: 1, items: [{ user: { id: second.user.id } }] });
  });
});

describe('playing (cabinet, 04 10.5 and 10.6)', () => {
  it('shows the game without its solution, takes one answer and pays', async () => {
    const round = await aRound(t.app, { prizeType: 'balance', prizeValue: '12345', maxWinners: 2 });
    const player = await aPlayer();
    expect((await player.get('/cabinet/contests/count')).body).toEqual({ count: 1 });
    expect((await player.get('/cabinet/contests')).body).toEqual([
      {
        id: round.id,
        slug: 'quest_buttons',
        name: 'Button quest',
        description: expect.any(String),
        prize_type: 'balance',
        prize_value: '12345',
        is_available: true,
        already_played: false,
      },
    ]);
    const game = await player.get(`/cabinet/contests/${round.id}`);
    expect(game.body).toEqual({
      round_id: round.id,
      game_type: 'quest_buttons',
      game_data: { rows: 3, cols: 3, grid_size: 9 },
      instructions: 'Select one of the nodes in the grid. Find the hidden server!',
    });
    const won = await player.post(`/cabinet/contests/${round.id}/answer`, { round_id: 999, answer: '4_undefined' });
    expect(won).toMatchObject({ status: 200 });
    expect(won.body).toEqual({
      is_winner: true,
      message: '🎉 Congratulations! You won! Balance increased by 123.45 ₽',
      prize_type: 'balance',
      prize_value: '12345',
    });
    expect((await player.get('/cabinet/balance')).body).toMatchObject({ balance_kopeks: 12_345 });
    expect((await player.get('/cabinet/contests/count')).body).toEqual({ count: 0 });
    expect((await player.get('/cabinet/contests')).body).toMatchObject([{ already_played: true }]);
    const played = { status: 400, body: { detail: 'You have already played this round' } };
    expect(await player.post(`/cabinet/contests/${round.id}/answer`, { round_id: round.id, answer: '4' })).toMatchObject(played);
    expect(await player.get(`/cabinet/contests/${round.id}`)).toMatchObject(played);
  });

  it.each([
    ['of a template that is off', 'is_enabled = false', 'This contest is disabled'],
    ['of a game that the service does not know', "slug = 'chess'", 'Unknown contest type'],
  ])('a round %s is neither shown nor played', async (_name, change, detail) => {
    const [round, player] = [await aRound(t.app, { isEnabled: true }), await aPlayer()];
    await t.app.db.sql(`UPDATE contest_templates SET ${change} WHERE slug = 'quest_buttons' RETURNING id`);
    const path = `/cabinet/contests/${round.id}`;
    const replies = [await player.get(path), await player.post(`${path}/answer`, { round_id: round.id, answer: '4' })];
    expect(replies.map(({ status, body }) => [status, body.detail])).toEqual([
      [400, detail],
      [400, detail],
    ]);
  });

  it('a client that has invented a secret does not win by it (spec 04 section 10.6, hazard 1)', async () => {
    const round = await aRound(t.app);
    const player = await aPlayer();
    expect((await player.post(`/cabinet/contests/${round.id}/answer`, { round_id: round.id, answer: '5_5' })).body).toMatchObject(
      {
        is_winner: false,
        prize_type: null,
        prize_value: null,
      },
    );
  });

  it('a repeat with the key of the first request gets its answer', async () => {
    const round = await aRound(t.app);
    const player = (await aPlayer()).with({ 'idempotency-key': 'play-once' });
    const answer = { round_id: round.id, answer: '4' };
    const first = await player.post(`/cabinet/contests/${round.id}/answer`, answer);
    expect((await player.post(`/cabinet/contests/${round.id}/answer`, answer)).body).toEqual(first.body);
  });

  it('refuses others, unknown rounds and bodies that do not fit', async () => {
    const round = await aRound(t.app);
    const stranger = await userClient(t.app, server, { language: 'en' });
    expect(await stranger.get('/cabinet/contests')).toMatchObject({ status: 403 });
    expect((await stranger.get('/cabinet/contests/count')).body).toEqual({ count: 0 });
    const player = await aPlayer();
    expect(await player.get('/cabinet/contests/999999')).toMatchObject({ status: 404 });
    const answer = (body: unknown) => player.post(`/cabinet/contests/${round.id}/answer`, body);
    expect(await answer({ answer: '4' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'round_id'], type: 'missing' }] },
    });
    expect(await answer({ round_id: 1 })).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'answer'] }] } });
    expect(await answer({ round_id: 1, answer: 'x'.repeat(201) })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'answer'], type: 'string_too_long' }] },
    });
  });
});

describe('contests of referrers (Web API, 04 11.4)', () => {
  const body = {
    title: 'Spring',
    start_at: '2030-03-01T00:00:00',
    end_at: '2030-04-01T00:00:00',
    timezone: 'Europe/Berlin',
    daily_summary_times: '18:30,12:00',
  };

  it.each(['/contests/contests/referral', '/contests/referral'])('POST %s creates one', async (path) => {
    const made = await client.post(path, body);
    expect(made.status, made.text).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(Number),
      title: 'Spring',
      description: null,
      prize_text: null,
      contest_type: 'referral_paid',
      start_at: '2030-02-28T23:00:00.000Z',
      end_at: '2030-03-31T22:00:00.000Z',
      daily_summary_time: '18:30:00',
      daily_summary_times: '18:30,12:00',
      timezone: 'Europe/Berlin',
      is_active: true,
      last_daily_summary_date: null,
      last_daily_summary_at: null,
      final_summary_sent: false,
      created_by: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const listed = await client.get('/contests/referral', { query: { contest_type: 'referral_paid' } });
    expect(listed.body).toEqual({ items: [made.body], total: 1, limit: 50, offset: 0 });
    expect((await client.get('/contests/referral', { query: { contest_type: 'other' } })).body.total).toBe(0);
  });

  const aContestPath = async () => `/contests/referral/${(await client.post('/contests/referral', body)).body.id}`;
  const gone = { status: 404, body: { detail: 'Contest not found' } };

  it('changes what a request names', async () => {
    const change = { final_summary_sent: true, prize_text: 'A mug', title: null };
    expect((await client.patch(await aContestPath(), change)).body).toMatchObject({ ...change, title: 'Spring' });
  });

  it('refuses changes that would make no contest', async () => {
    const path = await aContestPath();
    expect(await client.patch(path, { end_at: '2029-01-01' })).toMatchObject({
      status: 400,
      body: { detail: 'end_at must be after start_at' },
    });
    expect(await client.patch(path, { daily_summary_times: '25:61' })).toMatchObject({ status: 422 });
    expect(await client.patch(path, { timezone: 'Mars/Base' })).toMatchObject({ status: 422 });
  });

  it('is switched by the state that a request names', async () => {
    const path = await aContestPath();
    expect(await client.post(`${path}/toggle`)).toMatchObject({ status: 422 });
    const off = await client.post(`${path}/toggle`, undefined, { query: { is_active: false } });
    expect(off.body).toMatchObject({ is_active: false });
  });

  it('is deleted only when it has ended', async () => {
    const path = await aContestPath();
    await client.post(`${path}/toggle`, undefined, { query: { is_active: false } });
    expect(await client.delete(path)).toMatchObject({ status: 400 });
    await client.patch(path, { start_at: '2020-01-01', end_at: '2020-02-01' });
    expect(await client.delete(path)).toMatchObject({ status: 200, body: { status: 'deleted' } });
  });

  it('is unknown to every operation when it has been deleted', async () => {
    const path = await aContestPath();
    await client.post(`${path}/toggle`, undefined, { query: { is_active: false } });
    await client.patch(path, { start_at: '2020-01-01', end_at: '2020-02-01' });
    await client.delete(path);
    expect(await client.delete(path)).toMatchObject(gone);
    expect(await client.get(path)).toMatchObject(gone);
    expect(await client.patch(path, {})).toMatchObject(gone);
    expect(await client.post(`${path}/toggle`, undefined, { query: { is_active: true } })).toMatchObject(gone);
    for (const part of ['events', 'detailed-stats']) expect(await client.get(`${path}/${part}`)).toMatchObject(gone);
  });

  it('reads leaderboard, events and statistics', async () => {
    const now = t.app.clock.now();
    const period = { start_at: addDays(now, -1).toISOString(), end_at: addDays(now, 1).toISOString() };
    const { id } = (await client.post('/contests/referral', { title: 'Now', ...period })).body;
    const { referrer, referral } = await aReferralPair(t.app);
    await topUp(t.app, referral.id, 50_000);
    await scoreSubscriptionPayment(t.app, { transactionId: await aPurchase(t.app, referral.id, 12_345) });
    const detail = await client.get(`/contests/referral/${id}`, { query: { leaderboard_limit: 1 } });
    const user = { messenger_id: referrer.messengerId, username: expect.any(String), full_name: expect.any(String) };
    expect(detail.body).toMatchObject({ id, total_events: 1 });
    expect(detail.body.leaderboard).toEqual([
      { user_id: referrer.id, ...user, referrals_count: 1, total_amount_kopeks: 12_345, total_amount_rubles: 123.45 },
    ]);
    expect((await client.get(`/contests/referral/${id}/events`)).body).toMatchObject({
      items: [
        {
          contest_id: id,
          referrer: { id: referrer.id },
          referral: { id: referral.id },
          event_type: 'subscription_purchase',
          amount_rubles: 123.45,
        },
      ],
      total: 1,
    });
    expect((await client.get(`/contests/referral/${id}/detailed-stats`)).body).toEqual({
      total_participants: 1,
      total_invited: 1,
      total_paid_amount: 12_345,
      total_unpaid: 0,
      participants: [
        {
          referrer_id: referrer.id,
          full_name: expect.any(String),
          total_referrals: 1,
          paid_referrals: 1,
          unpaid_referrals: 0,
          total_paid_amount: 12_345,
        },
      ],
    });
  });
});
