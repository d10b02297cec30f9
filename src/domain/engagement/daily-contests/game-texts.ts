import { serviceTextIn, type TextKey } from '../../messaging/texts.ts';

/** Of the templates that every installation has (prisma/sql/contests.sql). */
const SLUGS = [
  'quest_buttons',
  'lock_hack',
  'server_lottery',
  'blitz_reaction',
  'letter_cipher',
  'emoji_guess',
  'anagram',
] as const;
const NAMES = SLUGS.map((slug): TextKey => `contests.game_${slug}_name`);
const DESCRIPTIONS = SLUGS.map((slug): TextKey => `contests.game_${slug}_description`);

/** A game with the name and the description that this service gave it in the reader's language; what somebody wrote stays. */
export function gameIn<T extends { name: string; description: string | null }>(language: string | null, game: T): T {
  const { name, description } = game;
  return {
    ...game,
    name: serviceTextIn(language, name, NAMES),
    description: description && serviceTextIn(language, description, DESCRIPTIONS),
  };
}
