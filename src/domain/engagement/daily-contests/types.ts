import type { Changes } from '../../../core/changes.ts';
import type { Rows } from '../../../core/db/columns.ts';
import type { ListedUser } from '../listed-user.ts';

/** Daily games. Times are UTC, amounts kopeks. */

export type ContestTemplate = Rows['ContestTemplate'];

export type TemplateChanges = Changes<Omit<ContestTemplate, 'id' | 'slug' | 'createdAt' | 'updatedAt'>>;

export type ContestRound = Rows['ContestRound'];

/** A round with the game that it is of. */
export type NamedRound = ContestRound & { templateSlug: string; templateName: string };

/** A round as it is played, with what its template says now. */
export type PlayedRound = ContestRound & {
  slug: string;
  name: string;
  description: string | null;
  prizeType: ContestTemplate['prizeType'];
  prizeValue: string;
  isEnabled: boolean;
};

export interface AttemptView {
  id: number;
  roundId: number;
  user: ListedUser;
  answer: string | null;
  isWinner: boolean;
  createdAt: Date;
}

export interface PlayableContest {
  /** Of the round. */
  id: number;
  slug: string;
  name: string;
  description: string | null;
  prizeType: ContestTemplate['prizeType'];
  prizeValue: string;
  isAvailable: true;
  alreadyPlayed: boolean;
}

/** What the player is shown: never what the answer is. */
export interface GameView {
  roundId: number;
  gameType: string;
  gameData: Record<string, unknown>;
  instructions: string;
}

/** A plain value: it is stored with the idempotency key. */
export interface PlayResult {
  isWinner: boolean;
  message: string;
  /** Null unless won. */
  prizeType: string | null;
  prizeValue: string | null;
}
