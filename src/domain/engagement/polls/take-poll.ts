import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { alreadyCompleted, invalidOption, noQuestions, pollNotFound, questionNotFound } from './errors.ts';
import {
  countOpen,
  findPollOfUser,
  type LockedResponse,
  listPollsOfUser,
  lockResponseOfUser,
  markCompleted,
  markStarted,
  saveAnswer,
} from './response-repo.ts';
import { isComplete, nextQuestion } from './rules.ts';
import type { AnsweredQuestion, MyPoll, StartedPoll } from './types.ts';

/** Number of polls that the user has not completed (spec 04 section 12.3). */
export function countMyPolls(app: App, actor: UserActor): Promise<number> {
  return countOpen(app.db, actor.userId);
}

/** The user's polls, newest sent first. */
export function listMyPolls(app: App, actor: UserActor): Promise<MyPoll[]> {
  return listPollsOfUser(app.db, actor.userId);
}

/** @throws AppError 404 also for the poll of another user */
export async function readMyPoll(app: App, actor: UserActor, responseId: number): Promise<MyPoll> {
  const found = await findPollOfUser(app.db, actor.userId, responseId);
  if (!found) throw pollNotFound();
  return found;
}

/** Begins or resumes a poll at the first question without an answer. @throws AppError 400 | 404 */
export async function startPoll(app: App, actor: UserActor, responseId: number): Promise<StartedPoll> {
  return inTransaction(app, async (t) => {
    const response = await lockOpen(t, actor.userId, responseId);
    const next = nextQuestion(response.questions, response.answered) ?? firstOf(response);
    if (!next) throw noQuestions();
    await markStarted(t.db, response.id, t.clock.now());
    return { ...next, responseId: response.id, totalQuestions: response.questions.length };
  });
}

/** All questions answered but not completed (a question was deleted): it starts again, and its next answer completes it. */
function firstOf({ questions }: LockedResponse) {
  return questions[0] ? { question: questions[0], index: 1 } : null;
}

/**
 * Stores one answer. The last one completes the poll and pays the reward in the same transaction, under the locks of user and
 * response: once per user and poll, also with repeated or parallel calls (spec 04 section 12.4).
 * @param idempotencyKey a repeat gets the first answer, the reward in it included
 * @throws AppError 400 | 404; 422 of the key
 */
export async function answerQuestion(
  app: App,
  actor: UserActor,
  input: { responseId: number; questionId: number; optionId: number },
  idempotencyKey: string | null = null,
): Promise<AnsweredQuestion> {
  return runOnce(app, actor, { key: idempotencyKey, operation: 'poll.answer', input }, async (t) => {
    const response = await lockOpen(t, actor.userId, input.responseId);
    const question = response.questions.find(({ id }) => id === input.questionId);
    if (!question) throw questionNotFound();
    const option = question.options.find(({ id }) => id === input.optionId);
    if (!option) throw invalidOption();
    const now = t.clock.now();
    await markStarted(t.db, response.id, now);
    await saveAnswer(t.db, { responseId: response.id, questionId: question.id, optionId: option.id, now });
    response.answered.add(question.id);
    const totalQuestions = response.questions.length;
    if (!isComplete(response.questions, response.answered)) {
      const next = nextQuestion(response.questions, response.answered);
      return { isCompleted: false, totalQuestions, next, rewardGrantedKopeks: null, message: null };
    }
    const kopeks = await complete(t, actor.userId, response);
    const message =
      kopeks > 0
        ? text(response.language, 'games.poll_thanks_reward', { amount: formatPrice(kopeks, false) })
        : text(response.language, 'games.poll_thanks');
    return { isCompleted: true, totalQuestions, next: null, rewardGrantedKopeks: kopeks, message };
  });
}

async function lockOpen(t: App, userId: number, responseId: number): Promise<LockedResponse> {
  const response = await lockResponseOfUser(t.db, userId, responseId);
  if (!response) throw pollNotFound();
  if (response.isCompleted) throw alreadyCompleted();
  return response;
}

/** @returns kopeks paid */
async function complete(t: App, userId: number, response: LockedResponse): Promise<number> {
  const kopeks = response.rewardKopeks;
  const now = t.clock.now();
  if (kopeks === 0) {
    await markCompleted(t.db, response.id, null, now);
    return 0;
  }
  const posting = await postMovement(t, {
    userId,
    type: 'poll_reward',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'poll' },
    paymentMethod: null,
    description: text(response.language, 'games.transaction_poll_reward'),
  });
  if (posting.outcome !== 'posted') throw new Error(`a poll reward was ${posting.outcome}`);
  await markCompleted(t.db, response.id, { transactionId: posting.transactionId, kopeks }, now);
  return kopeks;
}
