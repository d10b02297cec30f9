import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { formatPrice } from '../../../core/money.ts';
import { findUserById } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { serviceTextIn, type TextKey, text } from '../../messaging/texts.ts';
import { applyManualChange, readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { openSale } from '../../subscriptions/purchase/complete-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import {
  deleteLostAttempts,
  findPlayedRound,
  hasPlayed,
  insertAttempt,
  listPlayable,
  markWinner,
  takeWinnersPlace,
} from './attempt-repo.ts';
import { type Game, openGame, pick } from './games.ts';
import { alreadyPlayed, contestDisabled, notEligible, roundOver, unknownGame } from './rounds.ts';
import { isLive, readPrize } from './rules.ts';
import type { GameView, PlayableContest, PlayedRound, PlayResult } from './types.ts';

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

const MAX_ANSWER = 200;

/** Who may play, by the stored status of the subscription. */
const ELIGIBLE: ReadonlySet<string> = new Set(['active', 'trial', 'limited']);

const isEligible = (subscription: Subscription | null): subscription is Subscription =>
  subscription !== null && ELIGIBLE.has(subscription.status);

async function requireEligible(app: App, userId: number): Promise<void> {
  const found = await readUserSubscription(app, userId);
  if (!isEligible(found?.subscription ?? null)) throw notEligible();
}

/** Contests that the user has not played yet; 0 for users who may not play. */
export async function countOpenContests(app: App, { userId }: UserActor): Promise<number> {
  const found = await readUserSubscription(app, userId);
  if (!isEligible(found?.subscription ?? null)) return 0;
  const playable = await listPlayable(app.db, userId, app.clock.now());
  return playable.filter(({ alreadyPlayed: isPlayed }) => !isPlayed).length;
}

/** The running contests, the earliest first. @throws AppError 403 */
export async function listContests(app: App, { userId }: UserActor): Promise<PlayableContest[]> {
  await requireEligible(app, userId);
  const [user, contests] = await Promise.all([findUserById(app, userId), listPlayable(app.db, userId, app.clock.now())]);
  return contests.map((contest) => gameIn(user?.language ?? null, contest));
}

/**
 * A game as the player sees it; the solution is in no answer (spec 04 section 10.6, hazard 1).
 * @throws AppError 403 | 404 | 400 for a disabled contest, one that was played, and an unknown game
 */
export async function readGame(app: App, { userId }: UserActor, roundId: number): Promise<GameView> {
  await requireEligible(app, userId);
  const { round, game } = await openRound(app, roundId, userId);
  const language = (await findUserById(app, userId))?.language ?? app.settings.get('DEFAULT_LANGUAGE');
  return {
    roundId: round.id,
    gameType: round.slug,
    gameData: game.show(app.random, language),
    instructions: text(language, game.instructions),
  };
}

/** Checks in the documented order. */
async function openRound(app: App, roundId: number, userId: number): Promise<{ round: PlayedRound; game: Game }> {
  const round = await findPlayedRound(app.db, roundId);
  if (!round || !isLive(round, app.clock.now())) throw roundOver();
  if (!round.isEnabled) throw contestDisabled();
  if (await hasPlayed(app.db, round.id, userId)) throw alreadyPlayed();
  const game = openGame(round.slug, round.payload);
  if (!game) throw unknownGame();
  return { round, game };
}

/**
 * Plays a round: one attempt for each user, decided here alone. Attempt, place among the winners and prize are one transaction under the
 * locks of the user and, for a right answer, of the round (spec 04 section 10.6).
 * @param idempotencyKey a repeat gets the first answer
 * @throws AppError 403 | 404 | 400, also for the second of two attempts at once; ValidationError 422
 */
export async function playContest(
  app: App,
  actor: UserActor,
  input: { roundId: number; answer: string },
  idempotencyKey: string | null = null,
): Promise<PlayResult> {
  checkBounds([{ name: 'answer', value: input.answer, maxLength: MAX_ANSWER }]);
  return runOnceFrom(
    app,
    actor,
    { key: idempotencyKey, operation: 'contest.play', input },
    (t, claim) => openSale(t, actor.userId, {}, claim),
    (t, start) => play(t, start, input),
  );
}

async function play(
  t: App,
  start: SaleStart | null,
  { roundId, answer }: { roundId: number; answer: string },
): Promise<PlayResult> {
  if (!start || !isEligible(start.subscription)) throw notEligible();
  const winner: Winner = { userId: start.buyer.id, language: start.buyer.language, subscription: start.subscription };
  const { round, game } = await openRound(t, roundId, winner.userId);
  const now = t.clock.now();
  const attemptId = await insertAttempt(t.db, { roundId: round.id, userId: winner.userId, answer, now });
  if (attemptId === null) throw alreadyPlayed();
  if (!game.isCorrect(answer) || !(await takeWinnersPlace(t.db, round.id, now))) {
    return { isWinner: false, message: text(winner.language, pick(game.losses, t.random)), prizeType: null, prizeValue: null };
  }
  const { sentence, transactionId } = await givePrize(t, winner, round);
  await markWinner(t.db, attemptId, transactionId);
  const message = [text(winner.language, 'contests.won'), sentence].filter((part) => part !== null).join(' ');
  return { isWinner: true, message, prizeType: round.prizeType, prizeValue: round.prizeValue };
}

/** A game with the name and the description that this service gave it in the reader's language; what somebody wrote stays. */
function gameIn<T extends { name: string; description: string | null }>(language: string | null, game: T): T {
  const { name, description } = game;
  return {
    ...game,
    name: serviceTextIn(language, name, NAMES),
    description: description && serviceTextIn(language, description, DESCRIPTIONS),
  };
}

/** The winner: locked user with a locked subscription. */
interface Winner {
  userId: number;
  language: string;
  subscription: Subscription;
}

/** What was given, as a part of the sentence to the winner; null for a prize that people hand over. */
interface GivenPrize {
  sentence: string | null;
  transactionId: number | null;
}

/** Grants the prize, in the transaction of the attempt (spec 04 section 10.6, hazards 2 and 3). */
async function givePrize(t: App, winner: Winner, round: PlayedRound): Promise<GivenPrize> {
  const prize = readPrize(round);
  switch (prize?.kind) {
    case 'days':
      return giveDays(t, winner, prize.days);
    case 'balance':
      return credit(t, winner, prize.kopeks, round.name);
    case 'custom':
      return { sentence: null, transactionId: null };
    default:
      // Written before values were checked, by another system: people have to decide.
      t.log.error(
        { roundId: round.id, userId: winner.userId },
        'the prize of a contest cannot be given: its value is not readable',
      );
      return { sentence: null, transactionId: null };
  }
}

/** A deposit without payment method is a bonus. */
async function credit(t: App, { userId, language }: Winner, kopeks: number, name: string): Promise<GivenPrize> {
  const posting = await postMovement(t, {
    userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'contest' },
    paymentMethod: null,
    description: text(language, 'contests.transaction_prize', { name }),
  });
  if (posting.outcome !== 'posted') throw new Error(`the prize of a contest was ${posting.outcome}`);
  const sentence = text(language, 'contests.won_balance', { amount: formatPrice(kopeks, false) });
  return { sentence, transactionId: posting.transactionId };
}

/** From now or from the end, whichever is later; a job updates the panel. */
async function giveDays(t: App, { language, subscription }: Winner, days: number): Promise<GivenPrize> {
  const now = t.clock.now();
  const from = subscription.endDate.getTime() > now.getTime() ? subscription.endDate : now;
  await applyManualChange(t, subscription.id, { changes: { endDate: addDays(from, days) }, forgetsNotices: true });
  return { sentence: text(language, 'contests.won_days', { days }), transactionId: null };
}

/**
 * Before the attempts of two accounts become those of one: of a round that both have played the winning attempt stays, by which people hand
 * over a prize of the type `custom`. In the transaction of the merge.
 */
export function keepContestWins(t: App, secondaryId: number, primaryId: number): Promise<void> {
  return deleteLostAttempts(t.db, primaryId, secondaryId);
}
