import { rublesOf } from '../../core/money.ts';
import {
  createPoll,
  deletePoll,
  listPollResponses,
  listPolls,
  readPoll,
  readPollStatistics,
} from '../../domain/engagement/polls/manage-polls.ts';
import { sendPoll } from '../../domain/engagement/polls/send-poll.ts';
import type { Poll, PollHead, PollResponseView } from '../../domain/engagement/polls/types.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  PollCreateRequest,
  PollDetailResponse,
  PollListResponse,
  PollPageQuery,
  PollPath,
  PollResponsesListResponse,
  PollSendRequest,
  PollSendResponse,
  PollStatisticsResponse,
} from './polls.schemas.ts';

const tags: [string] = ['polls'];

function toHead(poll: PollHead) {
  return {
    id: poll.id,
    title: poll.title,
    description: poll.description,
    reward_enabled: poll.rewardEnabled,
    reward_amount_kopeks: poll.rewardAmountKopeks,
    reward_amount_rubles: rublesOf(poll.rewardAmountKopeks),
    created_at: poll.createdAt,
    updated_at: poll.updatedAt,
  };
}

const toDetail = (poll: Poll) => ({ ...toHead(poll), questions: poll.questions });

function toResponse(response: PollResponseView) {
  return {
    id: response.id,
    user_id: response.userId,
    user_messenger_id: response.userMessengerId,
    user_username: response.userUsername,
    sent_at: response.sentAt,
    started_at: response.startedAt,
    completed_at: response.completedAt,
    reward_given: response.rewardGiven,
    reward_amount_kopeks: response.rewardAmountKopeks,
    reward_amount_rubles: rublesOf(response.rewardAmountKopeks),
    answers: response.answers.map((answer) => ({
      question_id: answer.questionId,
      question_text: answer.questionText,
      option_id: answer.optionId,
      option_text: answer.optionText,
      created_at: answer.createdAt,
    })),
  };
}

export const pollsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/polls', tags, summary: 'List polls' } })
    .input(PollPageQuery)
    .output(PollListResponse)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listPolls(ctx.app, input);
      const shown = items.map((poll) => ({
        ...toHead(poll),
        questions_count: poll.questionsCount,
        responses_count: poll.responsesCount,
      }));
      return { items: shown, total, ...input };
    }),

  create: auditedWebProcedure('polls:create')
    .meta({ openapi: { method: 'POST', path: '/polls', tags, summary: 'Create a poll' } })
    .input(PollCreateRequest)
    .output(PollDetailResponse)
    .mutation(async ({ ctx, input }) => {
      const poll = await createPoll(ctx.app, {
        title: input.title,
        description: input.description,
        rewardEnabled: input.reward_enabled,
        rewardAmountKopeks: input.reward_amount_kopeks,
        questions: input.questions,
      });
      return toDetail(poll);
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/polls/{poll_id}', tags, summary: 'Read a poll' } })
    .input(PollPath)
    .output(PollDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readPoll(ctx.app, input.poll_id))),

  delete: auditedWebProcedure('polls:delete')
    .meta({ openapi: { method: 'DELETE', path: '/polls/{poll_id}', tags, summary: 'Delete a poll with its answers' } })
    .input(PollPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePoll(ctx.app, input.poll_id);
      return { success: true as const };
    }),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/polls/{poll_id}/stats', tags, summary: 'Count the answers of a poll' } })
    .input(PollPath)
    .output(PollStatisticsResponse)
    .query(async ({ ctx, input }) => {
      const stats = await readPollStatistics(ctx.app, input.poll_id);
      return {
        poll_id: stats.pollId,
        poll_title: stats.pollTitle,
        total_responses: stats.totalResponses,
        completed_responses: stats.completedResponses,
        reward_sum_kopeks: stats.rewardSumKopeks,
        reward_sum_rubles: rublesOf(stats.rewardSumKopeks),
        questions: stats.questions,
      };
    }),

  responses: webProcedure
    .meta({ openapi: { method: 'GET', path: '/polls/{poll_id}/responses', tags, summary: 'List who got a poll, with answers' } })
    .input(PollPath.extend(PollPageQuery.shape))
    .output(PollResponsesListResponse)
    .query(async ({ ctx, input: { poll_id, ...page } }) => {
      const { items, total } = await listPollResponses(ctx.app, poll_id, page);
      return { items: items.map(toResponse), total, ...page };
    }),

  send: auditedWebProcedure('polls:send')
    .meta({ openapi: { method: 'POST', path: '/polls/{poll_id}/send', tags, summary: 'Send a poll to an audience' } })
    .input(PollPath.extend(PollSendRequest.shape))
    .output(PollSendResponse)
    .mutation(async ({ ctx, input }) => {
      const result = await sendPoll(ctx.app, input.poll_id, input.target);
      return { poll_id: input.poll_id, target: input.target.trim(), ...result };
    }),
});
