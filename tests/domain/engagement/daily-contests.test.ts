import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import {
  changeContestTemplate,
  contestRoundKind,
  finishRound,
  listContestTemplates,
  readRound,
  rotateRounds,
  startRound,
} from '../../../src/domain/engagement/daily-contests/rounds.ts';
import { readSends } from '../../../src/domain/mass-sends/control-sends.ts';
import { runSend } from '../../../src/domain/mass-sends/run-send.ts';
import { withMessenger } from '../../support/audience-samples.ts';
import { FAST, KINDS } from '../../support/broadcast-samples.ts';
import { aUser } from '../../support/builders.ts';
import { aRound, jobsOf, templateOf } from '../../support/contest-samples.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: { ...FAST, CONTESTS_ENABLED: 'true', TIMEZONE: 'Europe/Berlin' } });
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM contest_templates');
  await t.app.db.sql('SELECT seed_contest_templates()');
});

const roundsOf = (templateId: number) =>
  t.app.db.sql<{ startsAt: Date; endsAt: Date; status: string; isScheduled: boolean }>(
    'SELECT starts_at, ends_at, status, is_scheduled FROM contest_rounds WHERE template_id = $1::int ORDER BY starts_at, id',
    [templateId],
  );

describe('templates (04 10.2 and 10.3)', () => {
  it('every installation has the seven games, disabled', async () => {
    const templates = await listContestTemplates(t.app, false);
    expect(
      templates.map(({ slug, maxWinners, prizeType, prizeValue, scheduleTimes }) =>
        [slug, maxWinners, prizeType, prizeValue, scheduleTimes].join(' '),
      ),
    ).toEqual([
      'quest_buttons 3 days 1 10:00,18:00',
      'lock_hack 1 days 5 09:00,19:00',
      'server_lottery 1 days 7 15:00',
      'blitz_reaction 1 days 1 11:00,21:00',
      'letter_cipher 1 days 1 12:00,20:00',
      'emoji_guess 1 days 1 13:00',
      'anagram 1 days 1 17:00',
    ]);
    expect(await listContestTemplates(t.app, true)).toEqual([]);
  });

  it('seeding again adds what is missing and overwrites nothing', async () => {
    const id = await templateOf(t.app, 'anagram');
    await changeContestTemplate(t.app, id, { isEnabled: true, prizeValue: '9', name: 'Mine' });
    await t.app.db.sql("DELETE FROM contest_templates WHERE slug = 'lock_hack'");
    expect(await rowOf(t.app, 'SELECT seed_contest_templates() AS added')).toEqual({ added: 1 });
    const templates = await listContestTemplates(t.app, false);
    expect(templates.find(({ slug }) => slug === 'anagram')).toMatchObject({ isEnabled: true, prizeValue: '9', name: 'Mine' });
    expect(templates.find(({ slug }) => slug === 'lock_hack')).toMatchObject({ isEnabled: false });
  });

  it('null changes nothing, and so does an empty request', async () => {
    const id = await templateOf(t.app, 'anagram');
    const before = await changeContestTemplate(t.app, id, {});
    expect(await changeContestTemplate(t.app, id, { name: null, prizeType: null, payload: null })).toEqual(before);
  });

  it.each([
    [{ prizeType: 'money' }, 'prize_type'],
    [{ prizeType: 'days', prizeValue: 'many' }, 'prize_value'],
    [{ prizeType: 'balance', prizeValue: '0' }, 'prize_value'],
    [{ scheduleTimes: '10:00,25:00' }, 'schedule_times'],
    [{ payload: { words: [] } }, 'payload'],
    [{ payload: { words: ['AAA'] } }, 'payload'],
    [{ cooldownHours: 1_000_000 }, 'cooldown_hours'],
    [{ maxWinners: 3_000_000_000 }, 'max_winners'],
  ])('%o is refused (10.4)', async (changes, field) => {
    const id = await templateOf(t.app, 'anagram');
    const refused = await changeContestTemplate(t.app, id, changes).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 422 });
    expect((refused as { issues: { loc: string[] }[] }).issues[0]!.loc.slice(0, 2)).toEqual(['body', field]);
  });

  it('a prize whose type does not fit the stored value is refused', async () => {
    const id = await templateOf(t.app, 'emoji_guess');
    await changeContestTemplate(t.app, id, { prizeType: 'custom', prizeValue: 'A mug' });
    await expect(changeContestTemplate(t.app, id, { prizeType: 'days' })).rejects.toMatchObject({ status: 422 });
    expect(await changeContestTemplate(t.app, id, { prizeType: 'days', prizeValue: '1', scheduleTimes: '' })).toMatchObject({
      prizeType: 'days',
      scheduleTimes: '',
    });
  });
});

describe('rounds by administrators (04 10.4)', () => {
  it('starting enables the template, draws the game and copies the numbers', async () => {
    const id = await templateOf(t.app, 'lock_hack');
    const round = await startRound(t.app, id, { force: false });
    expect(round).toMatchObject({
      templateSlug: 'lock_hack',
      status: 'active',
      winnersCount: 0,
      maxWinners: 1,
      isScheduled: false,
    });
    expect(round.payload).toEqual({ total: 20, secret_idx: expect.any(Number) });
    expect(round.endsAt.getTime() - round.startsAt.getTime()).toBe(24 * HOUR_MS);
    expect((await listContestTemplates(t.app, true)).map(({ slug }) => slug)).toEqual(['lock_hack']);
  });

  it('a second one is refused, and with force the first is finished', async () => {
    const first = await aRound(t.app);
    await expect(startRound(t.app, first.templateId, { force: false })).rejects.toMatchObject({
      status: 409,
      detail: 'Active round already exists for this template. Set force=true to start a new one.',
    });
    const second = await startRound(t.app, first.templateId, { force: true });
    expect((await readRound(t.app, first.id)).status).toBe('finished');
    expect((await readRound(t.app, second.id)).status).toBe('active');
  });

  it('times without a zone are of TIMEZONE, and ends_at precedes cooldown_hours', async () => {
    const id = await templateOf(t.app, 'anagram');
    const request = { startsAt: '2030-07-01T10:00:00', endsAt: '2030-07-01T12:00:00Z', cooldownHours: 5, force: false };
    const round = await startRound(t.app, id, request);
    expect(round.startsAt.toISOString()).toBe('2030-07-01T08:00:00.000Z');
    expect(round.endsAt.toISOString()).toBe('2030-07-01T12:00:00.000Z');
    const { endsAt, startsAt } = await startRound(t.app, id, { ...request, endsAt: null });
    expect(endsAt.getTime() - startsAt.getTime()).toBe(5 * HOUR_MS);
  });

  it('an end that is not after the start is refused', async () => {
    const id = await templateOf(t.app, 'anagram');
    const request = { startsAt: '2030-07-01T10:00:00', endsAt: '2030-07-01T10:00:00', force: false };
    await expect(startRound(t.app, id, request)).rejects.toMatchObject({ status: 400 });
    expect(await roundsOf(id)).toEqual([]);
  });

  it('an empty payload is none', async () => {
    const id = await templateOf(t.app, 'quest_buttons');
    expect((await startRound(t.app, id, { payload: {}, force: true })).payload).toMatchObject({ rows: 3, cols: 3 });
  });

  it('a payload that cannot be played is refused', async () => {
    const id = await templateOf(t.app, 'quest_buttons');
    await expect(startRound(t.app, id, { payload: { rows: 3, cols: 3 }, force: true })).rejects.toMatchObject({ status: 422 });
  });

  it('finishing again changes nothing', async () => {
    const round = await aRound(t.app);
    const finished = await finishRound(t.app, round.id);
    expect(finished.status).toBe('finished');
    expect(await finishRound(t.app, round.id)).toEqual(finished);
  });
});

describe('the schedule (04 10.3)', () => {
  const day = (text: string) => t.clock.set(new Date(text));
  const scheduled = async (slug: string, changes = {}) => {
    const id = await templateOf(t.app, slug);
    await changeContestTemplate(t.app, id, {
      scheduleTimes: '10:00,18:00',
      timesPerDay: 2,
      cooldownHours: 4,
      isEnabled: true,
      ...changes,
    });
    return id;
  };

  it('starts a round in each slot, once', async () => {
    const id = await scheduled('anagram');
    day('2031-07-01T09:00:00Z');
    await rotateRounds(t.app);
    await rotateRounds(t.app);
    day('2031-07-01T14:00:00Z');
    await rotateRounds(t.app);
    day('2031-07-01T17:00:00Z');
    await rotateRounds(t.app);
    expect((await roundsOf(id)).map(({ startsAt, status }) => [startsAt.toISOString(), status])).toEqual([
      ['2031-07-01T08:00:00.000Z', 'finished'],
      ['2031-07-01T16:00:00.000Z', 'active'],
    ]);
  });

  it('what an administrator has finished is not opened again in its slot', async () => {
    const id = await scheduled('anagram');
    day('2031-07-02T09:00:00Z');
    await rotateRounds(t.app);
    const [round] = await t.app.db.sql<{ id: number }>('SELECT id FROM contest_rounds WHERE template_id = $1::int', [id]);
    await finishRound(t.app, round!.id);
    t.clock.advance(MINUTE_MS);
    await rotateRounds(t.app);
    expect(await roundsOf(id)).toHaveLength(1);
  });

  it('with a long cooldown the second slot opens once the first round has all its winners', async () => {
    const id = await scheduled('anagram', { cooldownHours: 24 });
    day('2031-07-03T09:00:00Z');
    await rotateRounds(t.app);
    day('2031-07-03T17:00:00Z');
    await rotateRounds(t.app);
    expect(await roundsOf(id)).toHaveLength(1);
    await t.app.db.sql('UPDATE contest_rounds SET winners_count = max_winners WHERE template_id = $1::int', [id]);
    await rotateRounds(t.app);
    expect((await roundsOf(id)).map(({ status }) => status)).toEqual(['finished', 'active']);
  });

  it('on days of 23 and of 25 hours the slot is at the time of the clocks', async () => {
    const id = await scheduled('anagram');
    for (const now of ['2031-03-30T08:30:00Z', '2031-10-26T09:30:00Z']) {
      day(now);
      await rotateRounds(t.app);
    }
    expect((await roundsOf(id)).map(({ startsAt }) => startsAt.toISOString())).toEqual([
      '2031-03-30T08:00:00.000Z',
      '2031-10-26T09:00:00.000Z',
    ]);
  });

  it('one template whose payload cannot be played does not hold up the others', async () => {
    const broken = await scheduled('lock_hack');
    await t.app.db.sql(`UPDATE contest_templates SET payload = '{"buttons": "many"}' WHERE id = $1::int`, [broken]);
    const id = await scheduled('anagram');
    day('2031-07-05T09:00:00Z');
    await rotateRounds(t.app);
    expect(await roundsOf(broken)).toEqual([]);
    expect(await roundsOf(id)).toHaveLength(1);
  });

  it('while contests are disabled nothing starts, but what is over is closed (10.1)', async () => {
    const off = await testApp({ clock: t.clock });
    const id = await scheduled('anagram');
    day('2031-07-06T09:00:00Z');
    await startRound(t.app, id, { cooldownHours: 1, force: false });
    day('2031-07-06T17:00:00Z');
    await rotateRounds(off.app);
    expect((await roundsOf(id)).map(({ status }) => status)).toEqual(['finished']);
    const legacy = await testApp({
      clock: t.clock,
      environment: { REFERRAL_CONTESTS_ENABLED: 'true', TIMEZONE: 'Europe/Berlin' },
    });
    await rotateRounds(legacy.app);
    expect(await roundsOf(id)).toHaveLength(2);
  });
});

describe('announcements (04 10.3)', () => {
  beforeAll(() => t.clock.set(new Date()));

  it('after the commit, to holders of a running subscription in their language and to the first required channel', async () => {
    await storeRows(t.app, 'RequiredChannel', [
      { channelId: '-1001234567890', sortOrder: 1 },
      { channelId: '-1009999999999', sortOrder: 2 },
    ]);
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
    await t.app.db.sql('UPDATE users SET messenger_id = NULL');
    const now = t.app.clock.now();
    const english = await aUser(t.app, { language: 'en' });
    const trial = await aUser(t.app, { language: 'ru' });
    const ended = await aUser(t.app);
    const without = await aUser(t.app);
    await aStoredSubscription(t.app, english.id);
    await aStoredSubscription(t.app, trial.id, { is_trial: true });
    await aStoredSubscription(t.app, ended.id, { end_date: addDays(now, -1) });
    const { app, sent } = withMessenger(t.app);
    const round = await aRound(app, { name: '<b>Quest</b>', prizeType: 'days', prizeValue: '3', maxWinners: 7 });
    expect(sent).toEqual([]);
    const [send] = await readSends(app, 'contest_round', [round.id]);
    expect(await runSend(app, KINDS, send!.id, { signal: new AbortController().signal })).toEqual({ isOver: true });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual([english.messengerId, trial.messengerId].sort());
    expect(sent.map(({ chatId }) => chatId)).not.toContain(without.messengerId);
    const message = sent.find(({ chatId }) => chatId === english.messengerId)!;
    expect(message.html).toContain('&lt;b&gt;Quest&lt;/b&gt;');
    expect(message.html).toContain('3 d. of subscription');
    expect(message.html).toContain('7');
    expect(message.buttons).toEqual([[{ text: '🎮 Play', callbackData: 'contests_menu' }]]);
    expect(sent.find(({ chatId }) => chatId === trial.messengerId)!.html).toContain('Победителей: 7');
    const [channel, ...others] = await jobsOf<{ messengerId: number; html: string }>(t.app, 'messenger.send');
    expect(others).toEqual([]);
    expect(channel).toMatchObject({ messengerId: -1_001_234_567_890, html: expect.stringContaining('Победителей: 7') });
    await t.app.db.sql('DELETE FROM required_channels');
  });

  it('a round that is over is not announced any more', async () => {
    const { app } = withMessenger(t.app);
    const round = await aRound(app);
    const [send] = await readSends(app, 'contest_round', [round.id]);
    expect(await contestRoundKind.open(app, send!)).not.toBeNull();
    await finishRound(app, round.id);
    expect(await contestRoundKind.open(app, send!)).toBeNull();
  });

  it('a start that is refused announces nothing', async () => {
    const { app } = withMessenger(t.app);
    const round = await aRound(app);
    const count = () => rowOf(t.app, "SELECT count(*)::int AS n FROM mass_sends WHERE kind = 'contest_round'");
    const before = await count();
    await expect(startRound(app, round.templateId, { force: false })).rejects.toMatchObject({ status: 409 });
    expect(await count()).toEqual(before);
  });
});
