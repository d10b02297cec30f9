import { rublesOf } from '../../core/money.ts';
import {
  alreadyCompleted,
  answerQuestion,
  countMyPolls,
  invalidOption,
  listMyPolls,
  pollNotFound,
  questionNotFound,
  readMyPoll,
  startPoll,
} from '../../domain/engagement/polls/polls.ts';
import type { MyPoll } from '../../domain/engagement/polls/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  AnswerInput,
  AnswerResponse,
  PollInfo,
  PollResponsePath,
  PollStartResponse,
  PollsCountResponse,
} from './polls.schemas.ts';

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
      refuses: [alreadyCompleted, pollNotFound],
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
