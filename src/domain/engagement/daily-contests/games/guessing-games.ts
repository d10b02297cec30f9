import { z } from 'zod';
import { game, shuffled } from './game.ts';

/** Games of one hidden place (spec 04 section 10.2). Places count from 0. */

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

export const questButtons = game({
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
  instructions: 'Select one of the nodes in the grid. Find the hidden server!',
  losses: ['Empty node', 'Wrong server', 'Try another'],
});

export const lockHack = game({
  template: z.object({ buttons: z.int().min(2).max(MAX_BUTTONS).default(20) }),
  round: z
    .object({ total: z.int().min(2).max(MAX_BUTTONS), secret_idx: z.int().min(0) })
    .refine(({ total, secret_idx }) => secret_idx < total, 'secret_idx must be one of the locks'),
  draw: ({ buttons }, random) => ({ total: buttons, secret_idx: random.int(0, buttons) }),
  show: ({ total }) => ({ total }),
  isCorrect: ({ secret_idx }, answer) => pickedPlace(answer) === secret_idx,
  instructions: 'Find the unlocked button among the locks!',
  losses: ['Locked', 'No access', 'Try again'],
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

export const serverLottery = game({
  template: z.object({ flags: flags.default(INITIAL_FLAGS) }),
  round: z
    .object({ flags, secret_idx: z.int().min(0) })
    .refine((round) => round.secret_idx < round.flags.length, 'secret_idx must be one of the flags'),
  draw: (template, random) => ({ flags: template.flags, secret_idx: random.int(0, template.flags.length) }),
  show: (round, random) => ({ flags: shuffled(round.flags, random) }),
  isCorrect: (round, answer) => answer === round.flags[round.secret_idx],
  instructions: 'Choose a server by clicking on a flag!',
  losses: ['Server overloaded', 'No response', 'Try tomorrow'],
});

/** The time limit is stored and not announced, because no answer could be measured by it (spec 04 section 10.6, hazard 4). */
export const blitzReaction = game({
  template: z.object({ timeout_seconds: z.int().min(1).max(3_600).default(10) }),
  round: z.object({ timeout_seconds: z.int().min(1).max(3_600) }),
  draw: ({ timeout_seconds }) => ({ timeout_seconds }),
  show: () => ({ button_text: "I'm here!" }),
  isCorrect: (_round, answer) => answer.toLowerCase() === 'blitz',
  instructions: 'Click the button as fast as you can!',
  losses: ['Incorrect', 'Try again next round'],
});
