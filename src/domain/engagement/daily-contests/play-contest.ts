import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { findUserById } from '../../identity/find-user.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { serviceTextIn, type TextKey } from '../../messaging/texts.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { openSale } from '../../subscriptions/purchase/open-sale.ts';
import type { SaleStart } from '../../subscriptions/purchase/types.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { findPlayedRound, hasPlayed, insertAttempt, listPlayable, markWinner, takeWinnersPlace } from './attempt-repo.ts';
import { alreadyPlayed, contestDisabled, notEligible, roundOver, unknownGame } from './errors.ts';
import { type Game, pick } from './games/game.ts';
import { openGame } from './games/known-games.ts';
import { givePrize, type Winner } from './give-prize.ts';
import { isLive } from './rules.ts';
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

/** Who may play, by the stored status of the subscription (spec 04 section 10.5). */
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
  return { roundId: round.id, gameType: round.slug, gameData: game.show(app.random), instructions: game.instructions };
}

/** Checks in the documented order (spec 04 section 10.5). */
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
    return { isWinner: false, message: pick(game.losses, t.random), prizeType: null, prizeValue: null };
  }
  const { sentence, transactionId } = await givePrize(t, winner, round);
  await markWinner(t.db, attemptId, transactionId);
  const message = ['🎉 Congratulations! You won!', sentence].filter((part) => part !== null).join(' ');
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
