import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { runOnce } from '../../ledger/run-once.ts';
import type { MessengerButton, MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, htmlText, text } from '../../messaging/texts.ts';
import {
  countOpen,
  findById,
  findPollOfUser,
  findStatistics,
  insert,
  type LockedResponse,
  list,
  listPollsOfUser,
  listResponses,
  lockResponseOfUser,
  markCompleted,
  markStarted,
  remove,
  saveAnswer,
} from './repo.ts';
import type {
  AnsweredQuestion,
  MyPoll,
  NewPoll,
  NextQuestion,
  Poll,
  PollHead,
  PollQuestion,
  PollResponseView,
  PollStatistics,
  PollSummary,
  StartedPoll,
} from './types.ts';

interface Page {
  limit: number;
  offset: number;
}

/** Creates a poll with its questions in one statement; a disabled reward is 0 kopeks (spec 04 section 12.2). */
export async function createPoll(app: App, input: NewPoll): Promise<Poll> {
  const rewardAmountKopeks = input.rewardEnabled ? input.rewardAmountKopeks : 0;
  const id = await insert(app.db, { ...input, rewardAmountKopeks }, app.clock.now());
  const poll = await readPoll(app, id);
  app.audit?.record({ resourceId: id, before: null, after: poll });
  return poll;
}

/** All polls, newest first. */
export function listPolls(app: App, page: Page): Promise<{ items: PollSummary[]; total: number }> {
  return list(app.db, page);
}

/** @throws AppError 404 */
export async function readPoll(app: App, id: number): Promise<Poll> {
  return (await findById(app.db, id)) ?? refuseUnknown();
}

/** Deletes a poll with its answers; rewards that were paid stay paid. @throws AppError 404 */
export async function deletePoll(app: App, id: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await readPoll(t, id);
    if (!(await remove(t.db, id))) throw pollNotFound();
    t.audit?.record({ before, after: null });
  });
}

/** Counts of each option, and the sum of rewards. @throws AppError 404 */
export async function readPollStatistics(app: App, id: number): Promise<PollStatistics> {
  return (await findStatistics(app.db, id)) ?? refuseUnknown();
}

/** Responses with their answers, oldest first. @throws AppError 404 */
export async function listPollResponses(app: App, id: number, page: Page): Promise<{ items: PollResponseView[]; total: number }> {
  return (await listResponses(app.db, id, page)) ?? refuseUnknown();
}

function refuseUnknown(): never {
  throw pollNotFound();
}

// Refusals of polls; the sentences are literal (spec 04 section 12).

export const pollNotFound = refusal('poll_not_found', 404, 'Poll not found');
export const questionNotFound = refusal('question_not_found', 404, 'Question not found');
export const targetEmpty = refusal('target_empty', 400, 'Target must not be empty');
export const alreadyCompleted = refusal('poll_completed', 400, 'This poll has already been completed');
export const noQuestions = refusal('no_questions', 400, 'No questions available');
export const invalidOption = refusal('invalid_option', 400, 'Invalid answer option');

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

/** The first question without an answer, in the order of the poll; null when all are answered. */
function nextQuestion(questions: readonly PollQuestion[], answered: ReadonlySet<number>): NextQuestion | null {
  const at = questions.findIndex((question) => !answered.has(question.id));
  const question = questions[at];
  return question ? { question, index: at + 1 } : null;
}

/** Whether all questions have an answer. */
function isComplete(questions: readonly PollQuestion[], answered: ReadonlySet<number>): boolean {
  return questions.every((question) => answered.has(question.id));
}

/** Reward of a completed poll, kopeks. */
function rewardOf(poll: Pick<PollHead, 'rewardEnabled' | 'rewardAmountKopeks'>): number {
  return poll.rewardEnabled ? poll.rewardAmountKopeks : 0;
}

/** The messenger allows 4096 characters, title and reward included. */
const MAX_DESCRIPTION = 3_500;

/** A text of at most `length` characters; a longer one ends in an ellipsis. */
function cut(value: string, length: number): string {
  return value.length <= length ? value : `${value.slice(0, length - 1).trimEnd()}…`;
}

interface Invitation {
  html: string;
  buttons: readonly (readonly MessengerButton[])[];
}

/** The invitation message. The texts of the administrator are escaped, so that they contain no markup. */
export function invitationOf(poll: PollHead, responseId: number, language: string | null): Invitation {
  const reward = rewardOf(poll);
  const parts = [
    `📋 <b>${escapeHtml(poll.title)}</b>`,
    ...(poll.description ? [escapeHtml(cut(poll.description, MAX_DESCRIPTION))] : []),
    ...(reward > 0 ? [htmlText(language, 'games.poll_reward', { amount: formatPrice(reward, false) })] : []),
  ];
  const start = { text: text(language, 'games.poll_start'), callbackData: `poll_start:${responseId}` };
  return { html: parts.join('\n\n'), buttons: [[start]] };
}

/** A pressed button of a poll. */
export interface PollPress {
  queryId: string;
  messengerId: number;
  data: string;
}

const START = /^poll_start:(\d{1,10})$/;
const ANSWER = /^poll_answer:(\d{1,10}):(\d{1,10}):(\d{1,10})$/;
const MAX_BUTTON = 100;

/** Queues a pressed button of a poll; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receivePollUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind !== 'callback' || !(START.test(update.data) || ANSWER.test(update.data))) return;
  const { queryId, fromMessengerId, data } = update;
  await app.jobs.send('games.poll-press', { queryId, messengerId: fromMessengerId, data });
}

/**
 * Handles a queued press (job `games.poll-press`): begins the poll or stores the answer, by the rules of the cabinet, and sends the
 * next question (spec 04 sections 12.1 to 12.3). May run any number of times.
 */
export async function handlePollPress(app: App, { queryId, messengerId, data }: PollPress): Promise<void> {
  // Only ends the button's progress indicator. The messenger refuses a query that is too old, which changes nothing else.
  await app.ports.messenger.answerCallback(queryId).catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  const user = await findUserByMessengerId(app, messengerId);
  if (user?.status !== 'active') return;
  try {
    await sendMessage(app, { messengerId, ...(await reactTo(app, user.id, data)) });
  } catch (error) {
    if (!isAppError(error)) throw error;
    await sendMessage(app, { messengerId, html: text(user.language, 'games.poll_closed') });
  }
}

interface Reply {
  html: string;
  buttons?: readonly (readonly MessengerButton[])[];
}

async function reactTo(app: App, userId: number, data: string): Promise<Reply> {
  const actor = { kind: 'user', userId } as const;
  const [, response, question, option] = (START.exec(data) ?? ANSWER.exec(data) ?? []).map(Number);
  const responseId = response!;
  if (question === undefined || option === undefined) {
    const started = await startPoll(app, actor, responseId);
    return ask(responseId, started, started.totalQuestions);
  }
  const taken = await answerQuestion(app, actor, { responseId, questionId: question, optionId: option });
  return taken.next ? ask(responseId, taken.next, taken.totalQuestions) : { html: escapeHtml(taken.message ?? '') };
}

function ask(responseId: number, { question, index }: NextQuestion, total: number): Reply {
  const buttons = question.options.map((option) => [
    { text: cut(option.text, MAX_BUTTON), callbackData: `poll_answer:${responseId}:${question.id}:${option.id}` },
  ]);
  return { html: `<b>${index}/${total}</b> ${escapeHtml(question.text)}`, buttons };
}
