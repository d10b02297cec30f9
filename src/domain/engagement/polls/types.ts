import type { PollHead, ResponseHead } from './repo.ts';

/** Polls. Amounts are kopeks, times UTC. */

export interface NewPoll {
  title: string;
  description: string | null;
  rewardEnabled: boolean;
  /** 0 when the reward is off. */
  rewardAmountKopeks: number;
  /** In the order in which they are asked. */
  questions: readonly { text: string; options: readonly { text: string }[] }[];
}

interface PollOption {
  id: number;
  text: string;
  /** From 1. */
  order: number;
}

export interface PollQuestion extends PollOption {
  options: PollOption[];
}

export type { PollHead } from './repo.ts';

export interface PollSummary extends PollHead {
  questionsCount: number;
  /** Users the poll was sent to. */
  responsesCount: number;
}

export interface Poll extends PollHead {
  questions: PollQuestion[];
}

export interface PollStatistics {
  pollId: number;
  pollTitle: string;
  totalResponses: number;
  completedResponses: number;
  rewardSumKopeks: number;
  questions: { id: number; text: string; order: number; options: { id: number; text: string; count: number }[] }[];
}

export interface PollAnswerView {
  questionId: number;
  questionText: string;
  optionId: number;
  optionText: string;
  createdAt: Date;
}

/** A response with its answers; the user is null once deleted. */
export interface PollResponseView extends ResponseHead {
  answers: PollAnswerView[];
}

/** Result of one call of "send". */
export interface PollSendResult {
  sent: number;
  failed: number;
  skipped: number;
  total: number;
}

/** A poll as a user who received it sees it. */
export interface MyPoll {
  pollId: number;
  responseId: number;
  title: string;
  description: string | null;
  totalQuestions: number;
  answeredQuestions: number;
  isCompleted: boolean;
  /** Kopeks; 0 = no reward. */
  rewardAmountKopeks: number;
}

/** The question to ask now. */
export interface NextQuestion {
  question: PollQuestion;
  /** From 1. */
  index: number;
}

export interface StartedPoll extends NextQuestion {
  responseId: number;
  totalQuestions: number;
}

export interface AnsweredQuestion {
  isCompleted: boolean;
  totalQuestions: number;
  next: NextQuestion | null;
  /** Kopeks credited by this answer; null while the poll is not completed. */
  rewardGrantedKopeks: number | null;
  message: string | null;
}
