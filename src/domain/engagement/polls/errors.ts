import { refuse } from '../../../core/errors.ts';

/** Refusals of polls; the sentences are literal (spec 04 section 12). */

export const pollNotFound = () => refuse('poll_not_found', 404, 'Poll not found');
export const questionNotFound = () => refuse('question_not_found', 404, 'Question not found');
export const targetEmpty = () => refuse('target_empty', 400, 'Target must not be empty');
export const alreadyCompleted = () => refuse('poll_completed', 400, 'This poll has already been completed');
export const noQuestions = () => refuse('no_questions', 400, 'No questions available');
export const invalidOption = () => refuse('invalid_option', 400, 'Invalid answer option');
