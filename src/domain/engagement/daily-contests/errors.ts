import { refusal } from '../../../core/errors.ts';

/** Refusals of daily games; the sentences are literal (spec 04 sections 10.4 and 10.5). */

export const templateNotFound = refusal('template_not_found', 404, 'Template not found');
export const roundNotFound = refusal('round_not_found', 404, 'Round not found');
export const roundIsActive = refusal(
  'round_active',
  409,
  'Active round already exists for this template. Set force=true to start a new one.',
);
export const periodEmpty = refusal('round_period', 400, 'ends_at must be after starts_at');

export const notEligible = refusal(
  'contest_not_eligible',
  403,
  'Contests are only available for users with active or trial subscriptions',
);
export const roundOver = refusal('contest_round_over', 404, 'Contest round not found or already finished');
export const contestDisabled = refusal('contest_disabled', 400, 'This contest is disabled');
export const alreadyPlayed = refusal('contest_played', 400, 'You have already played this round');
export const unknownGame = refusal('contest_unknown', 400, 'Unknown contest type');
