import { rublesOf } from '../../core/money.ts';
import {
  createPoll,
  deletePoll,
  listPollResponses,
  listPolls,
  pollNotFound,
  readPoll,
  readPollStatistics,
  targetEmpty,
} from '../../domain/engagement/polls/polls.ts';
import { sendPoll } from '../../domain/engagement/polls/send-poll.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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

function withRubles<T extends { rewardAmountKopeks: number }>(value: T) {
  return { ...value, rewardAmountRubles: rublesOf(value.rewardAmountKopeks) };
}

export const pollsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/polls', tags, summary: 'List polls' },
      description: 'Lists polls, newest first, with the number of users who got each.',
    })
    .input(fromWire(PollPageQuery))
    .output(toWire(PollListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listPolls(ctx.app, input);
      return { items: items.map(withRubles), total, ...input };
    }),

  create: auditedWebProcedure('polls:create')
    .meta({
      openapi: { method: 'POST', path: '/polls', tags, summary: 'Create a poll' },
      description: 'Creates a poll with its questions and answers. Users get it only when it is sent.',
    })
    .input(fromWire(PollCreateRequest))
    .output(toWire(PollDetailResponse))
    .mutation(async ({ ctx, input }) => withRubles(await createPoll(ctx.app, input))),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/polls/{poll_id}', tags, summary: 'Read a poll' },
      description: 'Returns a poll with its questions and answers.',
      refuses: [pollNotFound],
    })
    .input(fromWire(PollPath))
    .output(toWire(PollDetailResponse))
    .query(async ({ ctx, input }) => withRubles(await readPoll(ctx.app, input.pollId))),

  delete: auditedWebProcedure('polls:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/polls/{poll_id}', tags, summary: 'Delete a poll with its answers' },
      description: 'Deletes a poll with all answers. Rewards that were paid stay.',
      refuses: [pollNotFound],
    })
    .input(fromWire(PollPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePoll(ctx.app, input.pollId);
      return { success: true as const };
    }),

  stats: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/polls/{poll_id}/stats', tags, summary: 'Count the answers of a poll' },
      description: 'Counts how often each answer was chosen, and sums up the rewards.',
      refuses: [pollNotFound],
    })
    .input(fromWire(PollPath))
    .output(toWire(PollStatisticsResponse))
    .query(async ({ ctx, input }) => {
      const stats = await readPollStatistics(ctx.app, input.pollId);
      return { ...stats, rewardSumRubles: rublesOf(stats.rewardSumKopeks) };
    }),

  responses: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/polls/{poll_id}/responses',
        tags,
        summary: 'List the responses to a poll with their answers',
      },
      description: 'Lists users who got the poll, with their answers, in the order in which they got it.',
      refuses: [pollNotFound],
    })
    .input(fromWire(PollPath.extend(PollPageQuery.shape)))
    .output(toWire(PollResponsesListResponse))
    .query(async ({ ctx, input: { pollId, ...page } }) => {
      const { items, total } = await listPollResponses(ctx.app, pollId, page);
      return { items: items.map(withRubles), total, ...page };
    }),

  send: auditedWebProcedure('polls:send')
    .meta({
      openapi: { method: 'POST', path: '/polls/{poll_id}/send', tags, summary: 'Send a poll to an audience' },
      description:
        'Assigns the poll to every user of a segment who does not have it yet, and sends an invitation through the messenger. The answer counts what was sent so far; the rest is sent in the background. Repeating the call sends nothing twice.',
      refuses: [targetEmpty, pollNotFound],
    })
    .input(fromWire(withBody(PollPath, PollSendRequest)))
    .output(toWire(PollSendResponse))
    .mutation(async ({ ctx, input }) => {
      const result = await sendPoll(ctx.app, input.pollId, input.target);
      return { pollId: input.pollId, target: input.target.trim(), ...result };
    }),
});
