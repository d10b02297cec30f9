import { z } from 'zod';
import type { Random } from '../../../core/random.ts';
import { type TextKey, text } from '../../messaging/texts.ts';

/** Games of one word. */

const INITIAL_WORDS = ['VPN', 'SERVER', 'PROXY', 'XRAY'];
const INITIAL_PAIRS = [
  { question: '🔐 📡 🌐', answer: 'VPN' },
  { question: '🗄 ☁ ⚙', answer: 'SERVER' },
  { question: '🎭 ↔ 🌐', answer: 'PROXY' },
];
const MAX_WORDS = 500;
const CODE_BEFORE_A = 'A'.charCodeAt(0) - 1;

const line = z.string().trim().min(1).max(200);
const latinWord = z
  .string()
  .trim()
  .max(50)
  .regex(/^[A-Za-z]+$/);
/** Letters that are all the same would be in their order whatever is done to them. */
const shufflableWord = z
  .string()
  .trim()
  .max(50)
  .regex(/^\S+$/)
  .refine((word) => new Set(lettersOf(word)).size >= 2, 'The word must have two different letters at least');

const isSame = (answer: string, solution: string) => answer.toUpperCase() === solution.trim().toUpperCase();
const WRONG = ['contests.loss_incorrect', 'contests.loss_next_round'] as const;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters as people count them: an emoji is one. */
function lettersOf(word: string): string[] {
  return [...graphemes.segment(word)].map(({ segment }) => segment);
}

/** The numbers of the letters, A is 1. */
function encoded(word: string): string {
  return lettersOf(word.toUpperCase())
    .map((letter) => letter.charCodeAt(0) - CODE_BEFORE_A)
    .join('-');
}

const letterCipher = game({
  template: z.object({ words: latinWord.array().min(1).max(MAX_WORDS).default(INITIAL_WORDS) }),
  round: z.object({ question: line, answer: line }),
  draw({ words }, random) {
    const answer = pick(words, random).toUpperCase();
    return { question: encoded(answer), answer };
  },
  show: ({ question }) => ({ question, input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'contests.game_letter_cipher_instructions',
  losses: WRONG,
});

const pair = z.object({ question: line, answer: line });

const emojiGuess = game({
  template: z.object({ pairs: pair.array().min(1).max(MAX_WORDS).default(INITIAL_PAIRS) }),
  round: pair,
  draw: ({ pairs }, random) => pick(pairs, random),
  show: ({ question }, random) => ({ question: shuffledEmoji(question, random), input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'contests.game_emoji_guess_instructions',
  losses: WRONG,
});

/** Parts are separated by blanks, else each character is one. */
function shuffledEmoji(question: string, random: Random): string {
  const parts = question.split(/\s+/);
  return parts.length > 1 ? shuffled(parts, random).join(' ') : shuffled(lettersOf(question), random).join('');
}

const anagram = game({
  template: z.object({ words: shufflableWord.array().min(1).max(MAX_WORDS).default(INITIAL_WORDS) }),
  round: z.object({ letters: line, answer: line }),
  draw({ words }, random) {
    const answer = pick(words, random).toUpperCase();
    return { letters: mixed(answer, random), answer };
  },
  show: ({ letters }) => ({ letters, input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'contests.game_anagram_instructions',
  losses: WRONG,
});

/** The letters in another order than that of the word. */
function mixed(word: string, random: Random): string {
  const letters = shuffled(lettersOf(word), random);
  const result = letters.join('');
  return result === word ? [...letters.slice(1), letters[0]!].join('') : result;
}

/** One game: its payloads, what the player sees, and which answer wins. */
interface GameRules<Template extends z.ZodObject, Round extends z.ZodObject> {
  /** Payload of the template. Every field has a default, so that an empty payload is a game. */
  template: Template;
  /** Payload of a round, with the solution. */
  round: Round;
  draw(template: z.output<Template>, random: Random): z.output<Round>;
  /** What the player sees. It must not contain or reveal the solution. @param language of the player */
  show(round: z.output<Round>, random: Random, language: string): Record<string, unknown>;
  /** @param answer trimmed */
  isCorrect(round: z.output<Round>, answer: string): boolean;
  instructions: TextKey;
  /** One of them is the answer to a wrong guess. */
  losses: readonly [TextKey, ...TextKey[]];
}

/** A round of a known game whose payload fits it. */
export interface Game {
  /** @param language of the player */
  show(random: Random, language: string): Record<string, unknown>;
  /** @param answer as the client sent it */
  isCorrect(answer: string): boolean;
  instructions: TextKey;
  losses: readonly [TextKey, ...TextKey[]];
}

/** A game by its name, whatever its payloads are. */
export interface AnyGame {
  template: z.ZodObject;
  round: z.ZodObject;
  /** @throws ZodError for a template payload that does not fit */
  draw(payload: unknown, random: Random): Record<string, unknown>;
  /** Null for a payload that does not fit. */
  open(payload: unknown): Game | null;
}

function game<Template extends z.ZodObject, Round extends z.ZodObject>(rules: GameRules<Template, Round>): AnyGame {
  const { template, round, instructions, losses } = rules;
  return {
    template,
    round,
    draw: (payload, random) => rules.draw(template.parse(payload), random),
    open(payload) {
      const read = round.safeParse(payload);
      if (!read.success) return null;
      return {
        show: (random, language) => rules.show(read.data, random, language),
        isCorrect: (answer) => rules.isCorrect(read.data, answer.trim()),
        instructions,
        losses,
      };
    },
  };
}

/** The parts in another order (Fisher and Yates). */
function shuffled<T>(parts: readonly T[], random: Random): T[] {
  const result = [...parts];
  for (let at = result.length - 1; at > 0; at--) {
    const other = random.int(0, at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}

export function pick<T>(choices: readonly [T, ...T[]] | readonly T[], random: Random): T {
  return choices[random.int(0, choices.length)]!;
}

// Games of one hidden place. Places count from 0.

const MAX_SIDE = 10;
const MAX_BUTTONS = 100;
const MAX_FLAGS = 50;
const INITIAL_FLAGS = ['🇸🇪', '🇸🇬', '🇺🇸', '🇷🇺', '🇩🇪', '🇯🇵', '🇧🇷', '🇦🇺', '🇨🇦', '🇫🇷'];

/**
 * The place that an answer names: `3`, `quest_3`, `locks_3`, and `3_…`, of which clients of the former interface send the rest. Only the
 * place counts (spec 04 section 10.6, hazard 1). Null for anything else.
 */
export function pickedPlace(answer: string): number | null {
  const place = /^(?:quest_|locks_)?(\d{1,6})(?:_.*)?$/s.exec(answer)?.[1];
  return place === undefined ? null : Number(place);
}

const side = z.int().min(1).max(MAX_SIDE);

/** A grid of one place would be no game. */
const hasPlaces = ({ rows, cols }: { rows: number; cols: number }) => rows * cols >= 2;

const questButtons = game({
  template: z
    .object({ rows: side.default(3), cols: side.default(3) })
    .refine(hasPlaces, 'The grid must have two places at least'),
  round: z
    .object({ rows: side, cols: side, secret_idx: z.int().min(0) })
    .refine(hasPlaces, 'The grid must have two places at least')
    .refine(({ rows, cols, secret_idx }) => secret_idx < rows * cols, 'secret_idx must be a place of the grid'),
  draw: ({ rows, cols }, random) => ({ rows, cols, secret_idx: random.int(0, rows * cols) }),
  show: ({ rows, cols }) => ({ rows, cols, grid_size: rows * cols }),
  isCorrect: ({ secret_idx }, answer) => pickedPlace(answer) === secret_idx,
  instructions: 'contests.game_quest_buttons_instructions',
  losses: ['contests.loss_empty_node', 'contests.loss_wrong_server', 'contests.loss_another'],
});

const lockHack = game({
  template: z.object({ buttons: z.int().min(2).max(MAX_BUTTONS).default(20) }),
  round: z
    .object({ total: z.int().min(2).max(MAX_BUTTONS), secret_idx: z.int().min(0) })
    .refine(({ total, secret_idx }) => secret_idx < total, 'secret_idx must be one of the locks'),
  draw: ({ buttons }, random) => ({ total: buttons, secret_idx: random.int(0, buttons) }),
  show: ({ total }) => ({ total }),
  isCorrect: ({ secret_idx }, answer) => pickedPlace(answer) === secret_idx,
  instructions: 'contests.game_lock_hack_instructions',
  losses: ['contests.loss_locked', 'contests.loss_no_access', 'contests.loss_again'],
});

/** Each once, or a flag would have better chances than the others. */
const flags = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .array()
  .min(2)
  .max(MAX_FLAGS)
  .refine((list) => new Set(list).size === list.length, 'Each flag must be given once');

const serverLottery = game({
  template: z.object({ flags: flags.default(INITIAL_FLAGS) }),
  round: z
    .object({ flags, secret_idx: z.int().min(0) })
    .refine((round) => round.secret_idx < round.flags.length, 'secret_idx must be one of the flags'),
  draw: (template, random) => ({ flags: template.flags, secret_idx: random.int(0, template.flags.length) }),
  show: (round, random) => ({ flags: shuffled(round.flags, random) }),
  isCorrect: (round, answer) => answer === round.flags[round.secret_idx],
  instructions: 'contests.game_server_lottery_instructions',
  losses: ['contests.loss_overloaded', 'contests.loss_no_response', 'contests.loss_tomorrow'],
});

/** The time limit is stored and not announced, because no answer could be measured by it (spec 04 section 10.6, hazard 4). */
const blitzReaction = game({
  template: z.object({ timeout_seconds: z.int().min(1).max(3_600).default(10) }),
  round: z.object({ timeout_seconds: z.int().min(1).max(3_600) }),
  draw: ({ timeout_seconds }) => ({ timeout_seconds }),
  show: (_round, _random, language) => ({ button_text: text(language, 'contests.game_blitz_reaction_button') }),
  isCorrect: (_round, answer) => answer.toLowerCase() === 'blitz',
  instructions: 'contests.game_blitz_reaction_instructions',
  losses: WRONG,
});

/** Games by the slug of their template. */
const GAMES: Readonly<Record<string, AnyGame>> = {
  quest_buttons: questButtons,
  lock_hack: lockHack,
  server_lottery: serverLottery,
  blitz_reaction: blitzReaction,
  letter_cipher: letterCipher,
  emoji_guess: emojiGuess,
  anagram,
};

/** Null for a slug that is no game of this service. */
export function gameBySlug(slug: string): AnyGame | null {
  return Object.hasOwn(GAMES, slug) ? GAMES[slug]! : null;
}

/** The round as a game. Null for an unknown one, and for a payload that cannot be played. */
export function openGame(slug: string, payload: unknown): Game | null {
  return gameBySlug(slug)?.open(payload) ?? null;
}

/**
 * Payload of a new round. The payload of a template of an unknown game is copied.
 * @throws ZodError for the payload of a template that does not fit its game
 */
export function drawRound(slug: string, payload: Record<string, unknown>, random: Random): Record<string, unknown> {
  return gameBySlug(slug)?.draw(payload, random) ?? payload;
}
