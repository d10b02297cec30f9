import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/core/random.ts';
import { drawRound, gameBySlug, openGame, pickedPlace } from '../../../src/domain/engagement/daily-contests/games.ts';
import { isLive, openSlots, readPrize } from '../../../src/domain/engagement/daily-contests/rules.ts';

const SLUGS = ['quest_buttons', 'lock_hack', 'server_lottery', 'blitz_reaction', 'letter_cipher', 'emoji_guess', 'anagram'];
const drawn = (slug: string, payload: Record<string, unknown> = {}) => drawRound(slug, payload, systemRandom);
const opened = (slug: string, payload: unknown) => {
  const game = openGame(slug, payload);
  if (!game) throw new Error(`${slug} cannot be played with ${JSON.stringify(payload)}`);
  return game;
};

describe('games (04 10.2)', () => {
  it.each(SLUGS)('%s: an empty template is a game, and each round of it can be played', (slug) => {
    for (let round = 0; round < 50; round++) expect(openGame(slug, drawn(slug))).not.toBeNull();
  });

  it.each(['quest_buttons', 'lock_hack', 'server_lottery'])('%s: the place is drawn, not fixed', (slug) => {
    const places = new Set(Array.from({ length: 200 }, () => drawn(slug).secret_idx));
    expect(places.size).toBeGreaterThan(5);
  });

  it('quest and locks: only the place decides, in every spelling of clients', () => {
    const game = opened('quest_buttons', { rows: 3, cols: 3, secret_idx: 4 });
    for (const answer of ['4', ' 4 ', 'quest_4', '4_17', '4_undefined', 'quest_4_x'])
      expect(game.isCorrect(answer), answer).toBe(true);
    for (const answer of ['5', '', 'x', '-4', '4.0', '5_4', '17_4', 'quest_', '44', '0x4'])
      expect(game.isCorrect(answer), answer).toBe(false);
    expect(opened('lock_hack', { total: 20, secret_idx: 0 }).isCorrect('locks_0')).toBe(true);
    expect(pickedPlace('1'.repeat(200))).toBeNull();
  });

  it('a secret sent by the client decides nothing (spec 04 section 10.6, hazard 1)', () => {
    const game = opened('quest_buttons', { rows: 3, cols: 3, secret_idx: 4 });
    for (let place = 0; place < 9; place++) expect(game.isCorrect(`${place}_${place}`)).toBe(place === 4);
  });

  it('server: the flag of the place wins', () => {
    const game = opened('server_lottery', { flags: ['🇸🇪', '🇸🇬', '🇺🇸'], secret_idx: 1 });
    expect(['🇸🇪', ' 🇸🇬 ', '🇺🇸', '1'].map((answer) => game.isCorrect(answer))).toEqual([false, true, false, false]);
  });

  it('words: trimmed, in any case (spec 04 section 10.6, hazard 4)', () => {
    const game = opened('anagram', { letters: 'NPV', answer: 'VPN' });
    expect([' vpn ', 'VPN', 'NPV', ''].map((answer) => game.isCorrect(answer))).toEqual([true, true, false, false]);
    const emoji = opened('emoji_guess', { question: '🔐 🌐', answer: 'Vpn' });
    expect(emoji.isCorrect('vPN')).toBe(true);
  });

  it('blitz: the word, without a time that nobody measures (spec 04 section 10.6, hazard 4)', () => {
    const game = opened('blitz_reaction', { timeout_seconds: 10 });
    expect([' BLITZ', 'blitz', 'blitzes'].map((answer) => game.isCorrect(answer))).toEqual([true, true, false]);
    expect(game.show(systemRandom, 'en')).toEqual({ button_text: "I'm here!" });
    expect(game.show(systemRandom, 'ru')).toEqual({ button_text: 'Я здесь!' });
  });

  it('cipher: the numbers of the letters, A is 1', () => {
    expect(drawn('letter_cipher', { words: ['Vpn'] })).toEqual({ question: '22-16-14', answer: 'VPN' });
    expect(drawn('letter_cipher', { words: ['AZ'] })).toEqual({ question: '1-26', answer: 'AZ' });
  });

  it('anagram: the letters of the word in another order', () => {
    for (let round = 0; round < 100; round++) {
      const { letters, answer } = drawn('anagram', { words: ['AB', 'PROXY'] }) as { letters: string; answer: string };
      expect(letters).not.toBe(answer);
      expect([...letters].sort()).toEqual([...answer].sort());
    }
  });

  it.each(SLUGS)('%s: what the player sees does not contain the solution', (slug) => {
    const payload = drawn(slug);
    const shown = opened(slug, payload).show(systemRandom, 'en');
    for (const name of ['secret', 'secret_idx', 'answer']) expect(Object.keys(shown)).not.toContain(name);
    const { answer } = payload as { answer?: string };
    if (answer !== undefined) expect(JSON.stringify(shown)).not.toContain(answer);
  });

  it('the flags are shown in another order each time, so that their places say nothing', () => {
    const game = opened('server_lottery', drawn('server_lottery'));
    expect(new Set(Array.from({ length: 50 }, () => JSON.stringify(game.show(systemRandom, 'en')))).size).toBeGreaterThan(10);
  });

  it('fields shown to players', () => {
    const shown = (slug: string, payload: unknown) => opened(slug, payload).show(systemRandom, 'en');
    expect(shown('quest_buttons', { rows: 2, cols: 4, secret_idx: 7 })).toEqual({ rows: 2, cols: 4, grid_size: 8 });
    expect(shown('lock_hack', { total: 20, secret_idx: 7 })).toEqual({ total: 20 });
    expect(shown('letter_cipher', { question: '1-2', answer: 'AB' })).toEqual({ question: '1-2', input_type: 'text' });
    expect(shown('anagram', { letters: 'BA', answer: 'AB' })).toEqual({ letters: 'BA', input_type: 'text' });
    const { question } = shown('emoji_guess', { question: '🔐 📡 👨‍👩‍👧', answer: 'X' }) as { question: string };
    expect(question.split(' ').sort()).toEqual(['🔐', '📡', '👨‍👩‍👧'].sort());
  });

  it('a game that is not known is none, and its payload is copied', () => {
    expect(gameBySlug('chess')).toBeNull();
    expect(gameBySlug('constructor')).toBeNull();
    expect(drawn('chess', { board: 8 })).toEqual({ board: 8 });
  });

  it.each([
    ['quest_buttons', { rows: 3, cols: 3 }],
    ['quest_buttons', { rows: 3, cols: 3, secret_idx: 9 }],
    ['lock_hack', { total: 2, secret_idx: 2 }],
    ['server_lottery', { flags: ['🇸🇪', '🇸🇪'], secret_idx: 0 }],
    ['anagram', { letters: 'NPV' }],
  ])('%s cannot be played with %o', (slug, payload) => expect(openGame(slug, payload)).toBeNull());
});

describe('prizes (04 10.4)', () => {
  it.each([
    ['days', '3', { kind: 'days', days: 3 }],
    ['balance', ' 1500 ', { kind: 'balance', kopeks: 1_500 }],
    ['custom', 'A mug', { kind: 'custom' }],
    ['days', '0', null],
    ['days', '36501', null],
    ['days', '1.5', null],
    ['balance', '-5', null],
    ['balance', '1e3', null],
    ['balance', '1000000001', null],
  ] as const)('%s of %s', (prizeType, prizeValue, expected) => expect(readPrize({ prizeType, prizeValue })).toEqual(expected));
});

describe('live rounds (04 10.1)', () => {
  const round = { status: 'active' as const, startsAt: new Date(1_000), endsAt: new Date(2_000) };
  it('both ends belong to the round', () => {
    expect([999, 1_000, 2_000, 2_001].map((ms) => isLive(round, new Date(ms)))).toEqual([false, true, true, false]);
    expect(isLive({ ...round, status: 'finished' }, new Date(1_500))).toBe(false);
  });
});

describe('slots of a schedule (04 10.3)', () => {
  const slots = (
    now: string,
    scheduleTimes: string | null,
    more: { timesPerDay?: number; cooldownHours?: number; zone?: string } = {},
  ) =>
    openSlots(
      { scheduleTimes, timesPerDay: more.timesPerDay ?? 5, cooldownHours: more.cooldownHours ?? 24 },
      new Date(now),
      more.zone ?? 'UTC',
    ).map(({ startsAt, endsAt }) => `${startsAt.toISOString().slice(0, 16)} ${endsAt.toISOString().slice(0, 16)}`);

  it("today's time, or yesterday's while today's is ahead", () => {
    expect(slots('2026-05-02T12:00:00Z', '10:00,18:00')).toEqual([
      '2026-05-02T10:00 2026-05-03T10:00',
      '2026-05-01T18:00 2026-05-02T18:00',
    ]);
  });

  it('only while the slot lasts, its end included', () => {
    expect(slots('2026-05-02T12:00:00Z', '10:00', { cooldownHours: 2 })).toEqual(['2026-05-02T10:00 2026-05-02T12:00']);
    expect(slots('2026-05-02T12:00:01Z', '10:00', { cooldownHours: 2 })).toEqual([]);
    expect(slots('2026-05-02T10:00:00Z', '10:00', { cooldownHours: 2 })).toEqual(['2026-05-02T10:00 2026-05-02T12:00']);
  });

  it('the first times of the day as many as there are to be', () => {
    expect(slots('2026-05-02T23:00:00Z', '10:00,18:00', { timesPerDay: 1 })).toEqual(['2026-05-02T10:00 2026-05-03T10:00']);
  });

  it('none without a schedule', () => {
    expect(slots('2026-05-02T23:00:00Z', null)).toEqual([]);
  });

  it('in the time zone, on days of 23 and of 25 hours', () => {
    const zone = 'Europe/Berlin';
    expect(slots('2026-03-29T12:00:00Z', '10:00', { zone })).toEqual(['2026-03-29T08:00 2026-03-30T08:00']);
    expect(slots('2026-03-29T07:00:00Z', '10:00', { zone })).toEqual(['2026-03-28T09:00 2026-03-29T09:00']);
    expect(slots('2026-10-25T12:00:00Z', '10:00', { zone })).toEqual(['2026-10-25T09:00 2026-10-26T09:00']);
    // 24 hours after the start of yesterday's slot the clocks show 09:00, and today's is still an hour away.
    expect(slots('2026-10-25T08:30:00Z', '10:00', { zone })).toEqual([]);
    // 02:30 does not exist on that day: the slot is at 03:30.
    expect(slots('2026-03-29T02:00:00Z', '02:30', { zone, cooldownHours: 1 })).toEqual(['2026-03-29T01:30 2026-03-29T02:30']);
    // 02:30 exists twice: the slot is the first.
    expect(slots('2026-10-25T01:40:00Z', '02:30', { zone, cooldownHours: 2 })).toEqual(['2026-10-25T00:30 2026-10-25T02:30']);
  });
});
