import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, HOUR_MS } from '../../../src/core/clock.ts';
import {
  countOpenContests,
  listContests,
  playContest,
  readGame,
} from '../../../src/domain/engagement/daily-contests/play-contest.ts';
import {
  changeContestTemplate,
  finishRound,
  readRound,
  startRound,
} from '../../../src/domain/engagement/daily-contests/rounds.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { FAST } from '../../support/broadcast-samples.ts';
import { aRound, roundFacts, templateOf } from '../../support/contest-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aBuyer, aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: { ...FAST, CONTESTS_ENABLED: 'true', TIMEZONE: 'Europe/Berlin' } });
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM contest_templates');
  await t.app.db.sql('SELECT seed_contest_templates()');
});

async function aPlayer(columns: Record<string, unknown> = {}) {
  const buyer = await aBuyer(t.app);
  await aStoredSubscription(t.app, buyer.userId, columns);
  return buyer;
}
const play = async (roundId: number, answer: string, columns: Record<string, unknown> = {}) =>
  playContest(t.app, await aPlayer(columns), { roundId, answer });

describe('playing (04 10.5 and 10.6)', () => {
  beforeAll(() => t.clock.set(new Date()));

  it('a right answer wins: attempt, counter and prize, with one deposit without payment method', async () => {
    const round = await aRound(t.app);
    const player = await aPlayer();
    expect(await playContest(t.app, player, { roundId: round.id, answer: '4' })).toEqual({
      isWinner: true,
      message: '🎉 Congratulations! You won! Balance increased by 50 ₽',
      prizeType: 'balance',
      prizeValue: '5000',
    });
    expect(await roundFacts(t.app, round.id)).toEqual({ winners: 1, attempts: 1, won: 1, paid: 5_000 });
    expect(await rowOf(t.app, 'SELECT balance_kopeks AS balance FROM users WHERE id = $1::int', [player.userId])).toEqual({
      balance: 5_000,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  it('a wrong answer loses, and there is no second attempt', async () => {
    const round = await aRound(t.app, { attemptsPerUser: 5 });
    const player = await aPlayer();
    const lost = await playContest(t.app, player, { roundId: round.id, answer: '5' });
    expect(lost).toEqual({ isWinner: false, message: expect.any(String), prizeType: null, prizeValue: null });
    expect(['Empty node', 'Wrong server', 'Try another']).toContain(lost.message);
    const again = playContest(t.app, player, { roundId: round.id, answer: '4' });
    await expect(again).rejects.toMatchObject({ status: 400, detail: 'You have already played this round' });
    expect(await roundFacts(t.app, round.id)).toMatchObject({ winners: 0, attempts: 1, won: 0 });
  });

  it('a player reads instructions, losses and wins in his language', async () => {
    const round = await aRound(t.app, { maxWinners: 2, prizeType: 'days', prizeValue: '3' });
    const [loser, winner] = [await aPlayer(), await aPlayer()];
    for (const { userId } of [loser, winner])
      await t.app.db.sql('UPDATE users SET language = $2 WHERE id = $1::int', [userId, 'ru']);
    expect((await readGame(t.app, loser, round.id)).instructions).toBe('Выберите один из узлов сети. Найдите скрытый сервер!');
    const lost = await playContest(t.app, loser, { roundId: round.id, answer: '5' });
    expect(['Узел пуст', 'Не тот сервер', 'Попробуйте другой']).toContain(lost.message);
    const won = await playContest(t.app, winner, { roundId: round.id, answer: '4' });
    expect(won.message).toBe('🎉 Поздравляем, вы выиграли! Подписка продлена, дней: 3');
  });

  it('no more winners than there are places (spec 04 section 10.6, hazard 2)', async () => {
    const round = await aRound(t.app, { maxWinners: 2 });
    for (let player = 0; player < 2; player++) expect((await play(round.id, '4')).isWinner).toBe(true);
    await expect(play(round.id, '4')).rejects.toMatchObject({ status: 404 });
    expect(await roundFacts(t.app, round.id)).toEqual({ winners: 2, attempts: 2, won: 2, paid: 10_000 });
  });

  it('days extend from the end or from now, whichever is later, and the panel is updated (spec 04 section 10.6, hazard 3)', async () => {
    const now = t.app.clock.now();
    const round = await aRound(t.app, { prizeType: 'days', prizeValue: '3', maxWinners: 5 });
    const players = {
      later: await aPlayer({ end_date: addDays(now, 10) }),
      past: await aPlayer({ status: 'limited', end_date: addDays(now, -5) }),
    };
    const won = await playContest(t.app, players.later, { roundId: round.id, answer: '4' });
    expect(won.message).toBe('🎉 Congratulations! You won! Subscription extended by 3 days');
    await playContest(t.app, players.past, { roundId: round.id, answer: '4' });
    const of = ({ userId }: { userId: number }) =>
      rowOf<{ endDate: Date; provisionState: string }>(
        t.app,
        'SELECT end_date, provision_state FROM subscriptions WHERE user_id = $1::int',
        [userId],
      );
    expect(await of(players.later)).toEqual({ endDate: addDays(now, 13), provisionState: 'pending' });
    expect((await of(players.past)).endDate).toEqual(addDays(now, 3));
    expect(await roundFacts(t.app, round.id)).toMatchObject({ winners: 2, paid: 0 });
  });

  it('a prize of another kind is a message only (spec 04 section 10.6, hazard 3)', async () => {
    const round = await aRound(t.app, { prizeType: 'custom', prizeValue: 'A mug' });
    expect(await play(round.id, '4')).toEqual({
      isWinner: true,
      message: '🎉 Congratulations! You won!',
      prizeType: 'custom',
      prizeValue: 'A mug',
    });
  });

  it('a failure takes back attempt and place', async () => {
    const round = await aRound(t.app);
    const player = await aPlayer();
    const playing = () => playContest(t.app, player, { roundId: round.id, answer: '4' });
    const refused = () => expect(playing()).rejects.toThrow('refused row of transactions');
    await whileRefused(t.app, 'transactions', refused, `NEW.user_id = ${player.userId}`);
    expect(await roundFacts(t.app, round.id)).toEqual({ winners: 0, attempts: 0, won: 0, paid: 0 });
  });

  it('a repeat with one key gets the first answer', async () => {
    const round = await aRound(t.app);
    const player = await aPlayer();
    const first = await playContest(t.app, player, { roundId: round.id, answer: '4' }, 'key-1');
    expect(await playContest(t.app, player, { roundId: round.id, answer: '4' }, 'key-1')).toEqual(first);
    await expect(playContest(t.app, player, { roundId: round.id, answer: '5' }, 'key-1')).rejects.toMatchObject({ status: 422 });
  });

  it('an answer of more than 200 characters is refused', async () => {
    const round = await aRound(t.app);
    await expect(play(round.id, 'x'.repeat(201))).rejects.toMatchObject({ status: 422 });
    expect((await play(round.id, '🙂'.repeat(200))).isWinner).toBe(false);
  });

  it.each([
    ['active', true],
    ['trial', true],
    ['limited', true],
    ['expired', false],
    ['disabled', false],
    ['pending', false],
  ])('a subscription that is %s may play: %s', async (status, expected) => {
    const round = await aRound(t.app);
    const player = await aPlayer({ status });
    const reading = readGame(t.app, player, round.id);
    if (expected) {
      await expect(reading).resolves.toMatchObject({ roundId: round.id });
      expect(await countOpenContests(t.app, player)).toBe(1);
      return;
    }
    const refusal = { status: 403, detail: 'Contests are only available for users with active or trial subscriptions' };
    await expect(reading).rejects.toMatchObject(refusal);
    await expect(listContests(t.app, player)).rejects.toMatchObject(refusal);
    await expect(playContest(t.app, player, { roundId: round.id, answer: '4' })).rejects.toMatchObject(refusal);
    expect(await countOpenContests(t.app, player)).toBe(0);
  });

  it('without a subscription nobody plays', async () => {
    const round = await aRound(t.app);
    const player = await aBuyer(t.app);
    await expect(playContest(t.app, player, { roundId: round.id, answer: '4' })).rejects.toMatchObject({ status: 403 });
    expect(await countOpenContests(t.app, player)).toBe(0);
  });

  it('spec 10 O9: the last winner finishes the round, which is offered no longer', async () => {
    const round = await aRound(t.app, { maxWinners: 1 });
    const [first, second] = [await aPlayer(), await aPlayer()];
    expect(await countOpenContests(t.app, second)).toBe(1);
    expect((await playContest(t.app, first, { roundId: round.id, answer: '4' })).isWinner).toBe(true);
    expect((await readRound(t.app, round.id)).status).toBe('finished');
    expect(await countOpenContests(t.app, second)).toBe(0);
    await expect(playContest(t.app, second, { roundId: round.id, answer: '4' })).rejects.toMatchObject({ status: 404 });
  });

  it('spec 10 U7: a game of the service has its name in the language of the player, one of an administrator its own', async () => {
    const round = await aRound(t.app);
    const player = await aPlayer();
    const named = async (language: string) => {
      await t.app.db.sql('UPDATE users SET language = $2 WHERE id = $1::int RETURNING id', [player.userId, language]);
      return (await listContests(t.app, player))[0];
    };
    expect(await named('en')).toMatchObject({ name: 'Button quest', description: 'Find the hidden server among the nodes' });
    expect(await named('ru')).toMatchObject({ name: 'Квест с кнопками' });
    await changeContestTemplate(t.app, round.templateId, { name: 'Моя игра' });
    expect(await named('en')).toMatchObject({ name: 'Моя игра' });
  });

  it('refuses in the documented order: over, disabled, played, unknown', async () => {
    const player = await aPlayer();
    const round = await aRound(t.app);
    const both = async (expected: object) => {
      await expect(readGame(t.app, player, round.id)).rejects.toMatchObject(expected);
      await expect(playContest(t.app, player, { roundId: round.id, answer: '4' })).rejects.toMatchObject(expected);
    };
    await t.app.db.sql(`UPDATE contest_rounds SET payload = '{}' WHERE id = $1::int`, [round.id]);
    await both({ status: 400, detail: 'Unknown contest type' });
    await t.app.db.sql(`UPDATE contest_rounds SET payload = '{"rows": 3, "cols": 3, "secret_idx": 4}' WHERE id = $1::int`, [
      round.id,
    ]);
    await playContest(t.app, player, { roundId: round.id, answer: '0' });
    await both({ status: 400, detail: 'You have already played this round' });
    await changeContestTemplate(t.app, round.templateId, { isEnabled: false });
    await both({ status: 400, detail: 'This contest is disabled' });
    await finishRound(t.app, round.id);
    await both({ status: 404, detail: 'Contest round not found or already finished' });
    await expect(readGame(t.app, player, 2_147_483_648)).rejects.toMatchObject({ status: 404 });
  });

  it('lists one round of each game, the earliest first, and says which were played', async () => {
    const player = await aPlayer();
    const quest = await aRound(t.app);
    const now = t.app.clock.now();
    const startsAt = new Date(now.getTime() - HOUR_MS).toISOString();
    const earlier = await startRound(t.app, await templateOf(t.app, 'anagram'), { startsAt, force: false });
    await storeRow(t.app, 'ContestRound', {
      templateId: quest.templateId,
      startsAt: new Date(quest.startsAt.getTime() - 1_000),
      endsAt: addDays(now, 1),
      maxWinners: 1,
    });
    await playContest(t.app, player, { roundId: earlier.id, answer: 'x' });
    const listed = await listContests(t.app, player);
    expect(listed.map(({ slug, alreadyPlayed, isAvailable }) => [slug, alreadyPlayed, isAvailable])).toEqual([
      ['anagram', true, true],
      ['quest_buttons', false, true],
    ]);
    expect(listed[1]!.id).not.toBe(quest.id);
    expect(await countOpenContests(t.app, player)).toBe(1);
  });
});
