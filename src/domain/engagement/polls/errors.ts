import { refusal } from '../../../core/errors.ts';

/** Refusals of polls; the sentences are literal (spec 04 section 12). */

export const pollNotFound = refusal('poll_not_found', 404, 'Poll not found');
export const questionNotFound = refusal('question_not_found', 404, 'Question not found');
export const targetEmpty = refusal('target_empty', 400, 'Target must not be empty');
export const alreadyCompleted = refusal('poll_completed', 400, 'This poll has already been completed');
export const noQuestions = refusal('no_questions', 400, 'No questions available');
export const invalidOption = refusal('invalid_option', 400, 'Invalid answer option');
