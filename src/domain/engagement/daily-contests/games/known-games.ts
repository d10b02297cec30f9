import type { Random } from '../../../../core/random.ts';
import type { AnyGame, Game } from './game.ts';
import { blitzReaction, lockHack, questButtons, serverLottery } from './guessing-games.ts';
import { anagram, emojiGuess, letterCipher } from './word-games.ts';

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
