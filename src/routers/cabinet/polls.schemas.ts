import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Polls` (spec 04 section 12.3). */

export const PollResponsePath = z.object({ response_id: z.int() });

export const PollsCountResponse = z.object({ count: z.int() }).meta({ id: 'PollsCountResponse' });

export const PollInfo = z
  .object({
    id: z.int(),
    response_id: z.int(),
    title: z.string(),
    description: z.string().nullish(),
    total_questions: z.int(),
    answered_questions: z.int(),
    is_completed: z.boolean(),
    reward_amount: z.int().nullish(),
  })
  .meta({ id: 'PollInfo' });

export const PollOptionResponse = z.object({ id: z.int(), text: z.string(), order: z.int() }).meta({ id: 'PollOptionResponse' });

export const CabinetPollsPollQuestionResponse = z
  .object({ id: z.int(), text: z.string(), order: z.int(), options: PollOptionResponse.array() })
  .meta({ id: 'CabinetPollsPollQuestionResponse' });

export const PollStartResponse = z
  .object({
    response_id: z.int(),
    current_question_index: z.int(),
    total_questions: z.int(),
    question: CabinetPollsPollQuestionResponse,
  })
  .meta({ id: 'PollStartResponse' });

export const AnswerRequest = z.object({ option_id: z.int() }).meta({ id: 'AnswerRequest' });

export const AnswerInput = withBody(PollResponsePath.extend({ question_id: z.int() }), AnswerRequest);

export const AnswerResponse = z
  .object({
    success: z.boolean(),
    is_completed: z.boolean(),
    next_question: CabinetPollsPollQuestionResponse.nullish(),
    current_question_index: z.int().nullish(),
    total_questions: z.int(),
    reward_granted: z.int().nullish(),
    message: z.string().nullish(),
  })
  .meta({ id: 'AnswerResponse' });
