import { z } from 'zod';
import type { Random } from '../../../../core/random.ts';
import { game, pick, shuffled } from './game.ts';

/** Games of one word (spec 04 section 10.2). */

const INITIAL_WORDS = ['VPN', 'SERVER', 'PROXY', 'XRAY'];
const INITIAL_PAIRS = [
  { question: '🔐 📡 🌐', answer: 'VPN' },
  { question: '🗄 ☁ ⚙', answer: 'SERVER' },
  { question: '🎭 ↔ 🌐', answer: 'PROXY' },
];
const MAX_WORDS = 500;
const CODE_BEFORE_A = 'A'.charCodeAt(0) - 1;

const text = z.string().trim().min(1).max(200);
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
const losses = ['Incorrect', 'Try again next round'] as const;
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

export const letterCipher = game({
  template: z.object({ words: latinWord.array().min(1).max(MAX_WORDS).default(INITIAL_WORDS) }),
  round: z.object({ question: text, answer: text }),
  draw({ words }, random) {
    const answer = pick(words, random).toUpperCase();
    return { question: encoded(answer), answer };
  },
  show: ({ question }) => ({ question, input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'Decrypt the cipher and enter the answer!',
  losses,
});

const pair = z.object({ question: text, answer: text });

export const emojiGuess = game({
  template: z.object({ pairs: pair.array().min(1).max(MAX_WORDS).default(INITIAL_PAIRS) }),
  round: pair,
  draw: ({ pairs }, random) => pick(pairs, random),
  show: ({ question }, random) => ({ question: shuffledEmoji(question, random), input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'Guess the service by emojis!',
  losses,
});

/** Parts are separated by blanks, else each character is one. */
function shuffledEmoji(question: string, random: Random): string {
  const parts = question.split(/\s+/);
  return parts.length > 1 ? shuffled(parts, random).join(' ') : shuffled(lettersOf(question), random).join('');
}

export const anagram = game({
  template: z.object({ words: shufflableWord.array().min(1).max(MAX_WORDS).default(INITIAL_WORDS) }),
  round: z.object({ letters: text, answer: text }),
  draw({ words }, random) {
    const answer = pick(words, random).toUpperCase();
    return { letters: mixed(answer, random), answer };
  },
  show: ({ letters }) => ({ letters, input_type: 'text' }),
  isCorrect: (round, answer) => isSame(answer, round.answer),
  instructions: 'Make a word from the given letters!',
  losses,
});

/** The letters in another order than that of the word. */
function mixed(word: string, random: Random): string {
  const letters = shuffled(lettersOf(word), random);
  const result = letters.join('');
  return result === word ? [...letters.slice(1), letters[0]!].join('') : result;
}
