import type { App } from '../../../core/app.ts';
import { isAppError } from '../../../core/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import type { MessengerButton, MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, text } from '../../messaging/texts.ts';
import { cut } from './rules.ts';
import { answerQuestion, startPoll } from './take-poll.ts';
import type { NextQuestion } from './types.ts';

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
