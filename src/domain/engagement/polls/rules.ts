import { formatPrice } from '../../../core/money.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { escapeHtml, htmlText, text } from '../../messaging/texts.ts';
import type { NextQuestion, PollHead, PollQuestion } from './types.ts';

/** The first question without an answer, in the order of the poll; null when all are answered. */
export function nextQuestion(questions: readonly PollQuestion[], answered: ReadonlySet<number>): NextQuestion | null {
  const at = questions.findIndex((question) => !answered.has(question.id));
  const question = questions[at];
  return question ? { question, index: at + 1 } : null;
}

/** Whether all questions have an answer. */
export function isComplete(questions: readonly PollQuestion[], answered: ReadonlySet<number>): boolean {
  return questions.every((question) => answered.has(question.id));
}

/** Reward of a completed poll, kopeks. */
export function rewardOf(poll: Pick<PollHead, 'rewardEnabled' | 'rewardAmountKopeks'>): number {
  return poll.rewardEnabled ? poll.rewardAmountKopeks : 0;
}

/** The messenger allows 4096 characters, title and reward included. */
const MAX_DESCRIPTION = 3_500;

/** A text of at most `length` characters; a longer one ends in an ellipsis. */
export function cut(value: string, length: number): string {
  return value.length <= length ? value : `${value.slice(0, length - 1).trimEnd()}…`;
}

export interface Invitation {
  html: string;
  buttons: readonly (readonly MessengerButton[])[];
}

/** The invitation message. The texts of the administrator are escaped, so that they contain no markup (spec 04 section 12.4). */
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
