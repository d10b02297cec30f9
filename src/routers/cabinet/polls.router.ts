import { answerQuestion, countOwnPolls, listOwnPolls, readOwnPoll, startPoll } from '../../domain/engagement/polls/take-poll.ts';
import type { OwnPoll } from '../../domain/engagement/polls/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  AnswerInput,
  AnswerResponse,
  PollInfo,
  PollResponsePath,
  PollStartResponse,
  PollsCountResponse,
} from './polls.schemas.ts';

const tags: [string] = ['Cabinet Polls'];
const KOPEKS_IN_RUBLE = 100;

function toInfo(poll: OwnPoll) {
  return {
    id: poll.pollId,
    response_id: poll.responseId,
    title: poll.title,
    description: poll.description,
    total_questions: poll.totalQuestions,
    answered_questions: poll.answeredQuestions,
    is_completed: poll.isCompleted,
    // Whole rubles; nothing below one is shown.
    reward_amount: Math.floor(poll.rewardAmountKopeks / KOPEKS_IN_RUBLE) || null,
  };
}

export const cabinetPollsRouter = router({
  count: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/polls/count', tags, summary: 'Count polls that wait for answers' } })
    .output(PollsCountResponse)
    .query(async ({ ctx }) => ({ count: await countOwnPolls(ctx.app, ctx.actor) })),

  list: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/polls', tags, summary: 'List own polls' } })
    .output(PollInfo.array())
    .query(async ({ ctx }) => (await listOwnPolls(ctx.app, ctx.actor)).map(toInfo)),

  get: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/polls/{response_id}', tags, summary: 'Read an own poll' } })
    .input(PollResponsePath)
    .output(PollInfo)
    .query(async ({ ctx, input }) => toInfo(await readOwnPoll(ctx.app, ctx.actor, input.response_id))),

  start: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: '/cabinet/polls/{response_id}/start', tags, summary: 'Begin or resume a poll' } })
    .input(PollResponsePath)
    .output(PollStartResponse)
    .mutation(async ({ ctx, input }) => {
      const started = await startPoll(ctx.app, ctx.actor, input.response_id);
      return {
        response_id: started.responseId,
        current_question_index: started.index,
        total_questions: started.totalQuestions,
        question: started.question,
      };
    }),

  answer: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/polls/{response_id}/questions/{question_id}/answer',
        tags,
        summary: 'Answer a question',
      },
      idempotent: true,
    })
    .input(AnswerInput)
    .output(AnswerResponse)
    .mutation(async ({ ctx, input }) => {
      const answer = { responseId: input.response_id, questionId: input.question_id, optionId: input.option_id };
      const taken = await answerQuestion(ctx.app, ctx.actor, answer, ctx.idempotencyKey);
      return {
        success: true,
        is_completed: taken.isCompleted,
        next_question: taken.next?.question ?? null,
        current_question_index: taken.next?.index ?? null,
        total_questions: taken.totalQuestions,
        reward_granted: taken.rewardGrantedKopeks,
        message: taken.message,
      };
    }),
});
