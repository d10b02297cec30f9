import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import {
  alreadyCompleted,
  answerQuestion,
  countMyPolls,
  invalidOption,
  listMyPolls,
  noQuestions,
  pollNotFound,
  questionNotFound,
  readMyPoll,
  startPoll,
} from '../../domain/engagement/polls/polls.ts';
import type { MyPoll } from '../../domain/engagement/polls/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Polls`. */

const PollResponsePath = z.object({
  response_id: z.int().describe('Id of the own participation, from the list of polls.'),
});

const PollsCountResponse = z
  .object({ count: z.int().describe('Number of polls that wait for answers.') })
  .meta({ id: 'PollsCountResponse' });

const PollInfo = z
  .object({
    id: z.int().describe('Id of the poll.'),
    response_id: z.int().describe('Id of the own participation in a poll.'),
    title: z.string().describe('Title of the poll.'),
    description: z.string().nullish().describe('Text above the questions of the poll; null for none.'),
    total_questions: z.int().describe('Number of questions.'),
    answered_questions: z.int().describe('Number of questions that are answered.'),
    is_completed: z.boolean().describe('Whether all questions are answered.'),
    reward_amount: z.int().nullish().describe('Reward in whole rubles; null for none.'),
  })
  .meta({ id: 'PollInfo' });

const PollOptionResponse = z
  .object({
    id: z.int().describe('Id of the answer that can be chosen.'),
    text: z.string().describe('Text of the answer.'),
    order: z.int().describe('Place in the list, from 1.'),
  })
  .meta({ id: 'PollOptionResponse' });

const CabinetPollsPollQuestionResponse = z
  .object({
    id: z.int().describe('Id of the question of the poll.'),
    text: z.string().describe('Text of the question.'),
    order: z.int().describe('Place in the list, from 1.'),
    options: PollOptionResponse.array().describe('Answers to choose from, in their order.'),
  })
  .meta({ id: 'CabinetPollsPollQuestionResponse' });

const PollStartResponse = z
  .object({
    response_id: z.int().describe('Id of the own participation in a poll.'),
    current_question_index: z.int().describe('Number of the next question, from 1.'),
    total_questions: z.int().describe('Number of questions.'),
    question: CabinetPollsPollQuestionResponse.describe('Next question.'),
  })
  .meta({ id: 'PollStartResponse' });

const AnswerRequest = z.object({ option_id: z.int().describe('Id of the chosen answer.') }).meta({ id: 'AnswerRequest' });

const AnswerInput = withBody(PollResponsePath.extend({ question_id: z.int().describe('Id of the question.') }), AnswerRequest);

const AnswerResponse = z
  .object({
    success: z.boolean().describe('Always true: a refused answer to a question is answered with an error status.'),
    is_completed: z.boolean().describe('Whether this was the last open question.'),
    next_question: CabinetPollsPollQuestionResponse.nullish().describe('Next question; null when none is left.'),
    current_question_index: z.int().nullish().describe('Number of the next question, from 1; null when none is left.'),
    total_questions: z.int().describe('Number of questions.'),
    reward_granted: z
      .int()
      .nullish()
      .describe('Reward in kopeks that was credited; 0 for none, null while the poll is not completed.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'AnswerResponse' });

const tags: [string] = ['Cabinet Polls'];

function pollInfo({ pollId: id, rewardAmountKopeks, ...poll }: MyPoll) {
  // Whole rubles; a smaller reward is not shown.
  return { ...poll, id, rewardAmount: Math.floor(rublesOf(rewardAmountKopeks)) || null };
}

export const cabinetPollsRouter = router({
  count: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/polls/count', tags, summary: 'Count polls that are not completed' },
      description: 'Returns the number of own polls that are not completed.',
    })
    .output(toWire(PollsCountResponse))
    .query(async ({ ctx }) => ({ count: await countMyPolls(ctx.app, ctx.actor) })),

  list: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/polls', tags, summary: 'List own polls' },
      description: 'Lists own polls, newest first.',
    })
    .output(toWire(PollInfo.array()))
    .query(async ({ ctx }) => (await listMyPolls(ctx.app, ctx.actor)).map(pollInfo)),

  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/polls/{response_id}', tags, summary: 'Read an own poll' },
      description: 'Returns an own poll and the progress of its answers.',
      refuses: [pollNotFound],
    })
    .input(fromWire(PollResponsePath))
    .output(toWire(PollInfo))
    .query(async ({ ctx, input }) => pollInfo(await readMyPoll(ctx.app, ctx.actor, input.responseId))),

  start: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/polls/{response_id}/start', tags, summary: 'Start or resume a poll' },
      description: 'Begins or resumes a poll and returns the first question without answer.',
      refuses: [alreadyCompleted, noQuestions, pollNotFound],
    })
    .input(fromWire(PollResponsePath))
    .output(toWire(PollStartResponse))
    .mutation(async ({ ctx, input }) => {
      const { index: currentQuestionIndex, ...started } = await startPoll(ctx.app, ctx.actor, input.responseId);
      return { ...started, currentQuestionIndex };
    }),

  answer: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/polls/{response_id}/questions/{question_id}/answer',
        tags,
        summary: 'Answer a question',
      },
      description:
        'Answers a question, or replaces the answer. The last answer completes the poll and credits its reward, once. Accepts `Idempotency-Key`.',
      refuses: [invalidOption, alreadyCompleted, pollNotFound, questionNotFound],
      idempotent: true,
    })
    .input(fromWire(AnswerInput))
    .output(toWire(AnswerResponse))
    .mutation(async ({ ctx, input }) => {
      const { next, ...answered } = await answerQuestion(ctx.app, ctx.actor, input, ctx.idempotencyKey);
      return {
        ...answered,
        success: true,
        nextQuestion: next?.question ?? null,
        currentQuestionIndex: next?.index ?? null,
        rewardGranted: answered.rewardGrantedKopeks,
      };
    }),
});
