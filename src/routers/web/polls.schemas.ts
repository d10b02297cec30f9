import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `polls` (spec 04 section 12.2). */

export const PollPath = z.object({ poll_id: z.int() });

export const PollPageQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

/** The bounds apply to the text as sent; it is trimmed and must not be blank. */
const written = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .trim()
    .refine((text) => text !== '', 'text must not be blank');

export const PollOptionCreate = z.object({ text: written(500) }).meta({ id: 'PollOptionCreate' });

const hasDuplicates = (options: readonly { text: string }[]) =>
  new Set(options.map((option) => option.text.toLowerCase())).size < options.length;

export const PollQuestionCreate = z
  .object({
    text: written(1000),
    options: PollOptionCreate.array()
      .min(2)
      .refine((options) => !hasDuplicates(options), 'option texts must be unique within a question'),
  })
  .meta({ id: 'PollQuestionCreate' });

export const PollCreateRequest = z
  .object({
    title: written(255),
    description: z
      .string()
      .max(4000)
      .nullish()
      .transform((text) => text?.trim() || null),
    reward_enabled: z.boolean().default(false),
    reward_amount_kopeks: z.int().min(0).max(1_000_000_000).default(0),
    questions: PollQuestionCreate.array().min(1),
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

export const PollSendRequest = z
  .object({ target: z.string().max(100) })
  .meta({ id: 'PollSendRequest', example: { target: 'all' } });

const head = {
  id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  reward_enabled: z.boolean(),
  reward_amount_kopeks: z.int(),
  reward_amount_rubles: z.number(),
};
const dates = { created_at: Moment, updated_at: Moment };

export const PollSummaryResponse = z
  .object({ ...head, questions_count: z.int(), responses_count: z.int(), ...dates })
  .meta({ id: 'PollSummaryResponse' });

export const PollListResponse = z
  .object({ items: PollSummaryResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PollListResponse' });

export const PollQuestionOptionResponse = z
  .object({ id: z.int(), text: z.string(), order: z.int() })
  .meta({ id: 'PollQuestionOptionResponse' });

export const PollQuestionResponse = z
  .object({ id: z.int(), text: z.string(), order: z.int(), options: PollQuestionOptionResponse.array() })
  .meta({ id: 'PollQuestionResponse' });

export const PollDetailResponse = z
  .object({ ...head, questions: PollQuestionResponse.array(), ...dates })
  .meta({ id: 'PollDetailResponse' });

export const PollOptionStats = z.object({ id: z.int(), text: z.string(), count: z.int() }).meta({ id: 'PollOptionStats' });

export const PollQuestionStats = z
  .object({ id: z.int(), text: z.string(), order: z.int(), options: PollOptionStats.array() })
  .meta({ id: 'PollQuestionStats' });

export const PollStatisticsResponse = z
  .object({
    poll_id: z.int(),
    poll_title: z.string(),
    total_responses: z.int(),
    completed_responses: z.int(),
    reward_sum_kopeks: z.int(),
    reward_sum_rubles: z.number(),
    questions: PollQuestionStats.array(),
  })
  .meta({ id: 'PollStatisticsResponse' });

export const PollAnswerResponse = z
  .object({
    question_id: z.int().nullable(),
    question_text: z.string().nullable(),
    option_id: z.int().nullable(),
    option_text: z.string().nullable(),
    created_at: Moment,
  })
  .meta({ id: 'PollAnswerResponse' });

export const PollUserResponse = z
  .object({
    id: z.int(),
    user_id: z.int().nullable(),
    user_messenger_id: z.int().nullable(),
    user_username: z.string().nullable(),
    sent_at: Moment,
    started_at: Moment.nullable(),
    completed_at: Moment.nullable(),
    reward_given: z.boolean(),
    reward_amount_kopeks: z.int(),
    reward_amount_rubles: z.number(),
    answers: PollAnswerResponse.array(),
  })
  .meta({ id: 'PollUserResponse' });

export const PollResponsesListResponse = z
  .object({ items: PollUserResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PollResponsesListResponse' });

export const PollSendResponse = z
  .object({ poll_id: z.int(), target: z.string(), sent: z.int(), failed: z.int(), skipped: z.int(), total: z.int() })
  .meta({ id: 'PollSendResponse' });
