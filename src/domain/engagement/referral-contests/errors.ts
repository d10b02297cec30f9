import { refusal } from '../../../core/errors.ts';
import { text } from '../../messaging/texts.ts';

/** Refusals of contests of referrers; the sentences are literal (spec 04 section 11.4). */

export const contestNotFound = refusal('contest_not_found', 404, 'Contest not found');
export const periodEmpty = refusal('contest_period', 400, 'end_at must be after start_at');
export const notFinished = refusal('contest_not_finished', 400, 'Удалять можно только завершённые конкурсы', () => ({
  detail: text(null, 'contests.delete_unfinished'),
}));
