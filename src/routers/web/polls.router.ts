import { z } from 'zod';
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
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `polls`. */

const PollPath = z.object({ poll_id: z.int().describe('Id of the poll.') });

const PollPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

/** The bounds apply to the text as sent; it is trimmed and must not be blank. */
const written = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .trim()
    .refine((text) => text !== '', 'text must not be blank');

const PollOptionCreate = z
  .object({ text: written(500).describe('Text of the answer; unique within the question.') })
  .meta({ id: 'PollOptionCreate' });

const hasDuplicates = (options: readonly { text: string }[]) =>
  new Set(options.map((option) => option.text.toLowerCase())).size < options.length;

const PollQuestionCreate = z
  .object({
    text: written(1000).describe('Text of the question.'),
    options: PollOptionCreate.array()
      .min(2)
      .refine((options) => !hasDuplicates(options), 'option texts must be unique within a question')
      .describe('Answers to choose from, in their order.'),
  })
  .meta({ id: 'PollQuestionCreate' });

const PollCreateRequest = z
  .object({
    title: written(255).describe('Title of the poll, 1 to 255 characters.'),
    description: z
      .string()
      .max(4000)
      .nullish()
      .transform((text) => text?.trim() || null)
      .describe('Text above the questions of the poll; null for none.'),
    reward_enabled: z.boolean().default(false).describe('Whether completing the poll is rewarded.'),
    reward_amount_kopeks: z.int().min(0).max(1_000_000_000).default(0).describe('Reward in kopeks; 0 for none.'),
    questions: PollQuestionCreate.array().min(1).describe('Questions in their order.'),
  })
  .refine((poll) => !poll.reward_enabled || poll.reward_amount_kopeks > 0, {
    message: 'reward_amount_kopeks must be positive when the reward is enabled',
    path: ['reward_amount_kopeks'],
  })
  .meta({
    id: 'PollCreateRequest',
    example: {
      title: 'How do you like it?',
      description: 'Two minutes of your time',
      reward_enabled: true,
      reward_amount_kopeks: 5000,
      questions: [{ text: 'Speed', options: [{ text: 'Good' }, { text: 'Bad' }] }],
    },
  });

const PollSendRequest = z
  .object({
    target: z
      .string()
      .max(100)
      .describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`.'),
  })
  .meta({ id: 'PollSendRequest', example: { target: 'all' } });

const head = {
  id: z.int().describe('Id of the poll.'),
  title: z.string().describe('Title of the poll.'),
  description: z.string().nullable().describe('Text above the questions of the poll; null for none.'),
  reward_enabled: z.boolean().describe('Whether completing the poll is rewarded.'),
  reward_amount_kopeks: z.int().describe('Reward in kopeks; 0 for none.'),
  reward_amount_rubles: z.number().describe('Reward in rubles: kopeks / 100.'),
};
const dates = {
  created_at: Timestamp.describe('When the poll was created (UTC).'),
  updated_at: Timestamp.describe('The same as `created_at`: a poll cannot be changed.'),
};

const PollSummaryResponse = z
  .object({
    ...head,
    questions_count: z.int().describe('Number of questions.'),
    responses_count: z.int().describe('Number of users who got the poll.'),
    ...dates,
  })
  .meta({ id: 'PollSummaryResponse' });

const PollListResponse = z
  .object({
    items: PollSummaryResponse.array().describe('A page of polls, newest first.'),
    total: z.int().describe('Number of polls, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PollListResponse' });

const PollQuestionOptionResponse = z
  .object({
    id: z.int().describe('Id of the answer that can be chosen.'),
    text: z.string().describe('Text of the answer.'),
    order: z.int().describe('Place in the list, from 1.'),
  })
  .meta({ id: 'PollQuestionOptionResponse' });

const PollQuestionResponse = z
  .object({
    id: z.int().describe('Id of the question of the poll.'),
    text: z.string().describe('Text of the question.'),
    order: z.int().describe('Place in the list, from 1.'),
    options: PollQuestionOptionResponse.array().describe('Answers to choose from, in their order.'),
  })
  .meta({ id: 'PollQuestionResponse' });

const PollDetailResponse = z
  .object({ ...head, questions: PollQuestionResponse.array().describe('Questions in their order.'), ...dates })
  .meta({ id: 'PollDetailResponse' });

const PollOptionStats = z
  .object({
    id: z.int().describe('Id of the answer that can be chosen.'),
    text: z.string().describe('Text of the answer.'),
    count: z.int().describe('Number of users who chose the answer.'),
  })
  .meta({ id: 'PollOptionStats' });

const PollQuestionStats = z
  .object({
    id: z.int().describe('Id of the question of the poll.'),
    text: z.string().describe('Text of the question.'),
    order: z.int().describe('Place in the list, from 1.'),
    options: PollOptionStats.array().describe('Answers to choose from, in their order.'),
  })
  .meta({ id: 'PollQuestionStats' });

const PollStatisticsResponse = z
  .object({
    poll_id: z.int().describe('Id of the poll.'),
    poll_title: z.string().describe('Title of the poll.'),
    total_responses: z.int().describe('Number of users who got the poll.'),
    completed_responses: z.int().describe('Number of users who answered all questions.'),
    reward_sum_kopeks: z.int().describe('Rewards paid in kopeks.'),
    reward_sum_rubles: z.number().describe('Rewards paid in rubles.'),
    questions: PollQuestionStats.array().describe('Questions in their order.'),
  })
  .meta({ id: 'PollStatisticsResponse' });

const PollAnswerResponse = z
  .object({
    question_id: z.int().nullable().describe('Id of the question; null when it no longer exists.'),
    question_text: z.string().nullable().describe('Text of the question; null when it no longer exists.'),
    option_id: z.int().nullable().describe('Id of the chosen answer; null when it no longer exists.'),
    option_text: z.string().nullable().describe('Text of the chosen answer; null when it no longer exists.'),
    created_at: Timestamp.describe('When the question was answered (UTC).'),
  })
  .meta({ id: 'PollAnswerResponse' });

const PollUserResponse = z
  .object({
    id: z.int().describe('Id of the response to the poll.'),
    user_id: z.int().nullable().describe('Internal id of the user; null where no user is known.'),
    user_messenger_id: z.int().nullable().describe('Id of the user in the messenger; null for an account without messenger.'),
    user_username: z.string().nullable().describe('User name in the messenger; null when the user has none.'),
    sent_at: Timestamp.describe('When the user got the poll (UTC).'),
    started_at: Timestamp.nullable().describe('When the user began (UTC); null while they have not.'),
    completed_at: Timestamp.nullable().describe('When it was finished (UTC); null while it is not.'),
    reward_given: z.boolean().describe('Whether the reward was credited.'),
    reward_amount_kopeks: z.int().describe('Reward in kopeks; 0 for none.'),
    reward_amount_rubles: z.number().describe('Reward in rubles: kopeks / 100.'),
    answers: PollAnswerResponse.array().describe('Answers of the user in the order in which they were given.'),
  })
  .meta({ id: 'PollUserResponse' });

const PollResponsesListResponse = z
  .object({
    items: PollUserResponse.array().describe(
      'A page of users who got the poll, with their answers, in the order in which they got it.',
    ),
    total: z.int().describe('Number of users who got the poll, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PollResponsesListResponse' });

const PollSendResponse = z
  .object({
    poll_id: z.int().describe('Id of the poll.'),
    target: z.string().describe('Segment of the audience, for example `all`, `active`, `trial`, `expired` or `tariff_{id}`.'),
    sent: z.int().describe('Number of messages that were sent.'),
    failed: z.int().describe('Number of failures.'),
    skipped: z.int().describe('Number of users left out: they already had the poll or cannot get a message.'),
    total: z.int().describe('Number of users of the audience.'),
  })
  .meta({ id: 'PollSendResponse' });

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
