import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Polls` (spec 04 section 12.3). */

export const PollResponsePath = z.object({
  response_id: z.int().describe('Id of the own participation, from the list of polls.'),
});

export const PollsCountResponse = z
  .object({ count: z.int().describe('Number of polls that wait for answers.') })
  .meta({ id: 'PollsCountResponse' });

export const PollInfo = z
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

export const PollStartResponse = z
  .object({
    response_id: z.int().describe('Id of the own participation in a poll.'),
    current_question_index: z.int().describe('Number of the next question, from 1.'),
    total_questions: z.int().describe('Number of questions.'),
    question: CabinetPollsPollQuestionResponse.describe('Next question.'),
  })
  .meta({ id: 'PollStartResponse' });

const AnswerRequest = z.object({ option_id: z.int().describe('Id of the chosen answer.') }).meta({ id: 'AnswerRequest' });

export const AnswerInput = withBody(
  PollResponsePath.extend({ question_id: z.int().describe('Id of the question.') }),
  AnswerRequest,
);

export const AnswerResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
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
