import { z } from 'zod';
import { FreeForm, Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `contests`, daily games. */

export const TemplatePath = z.object({ template_id: z.int().describe('Id of the game.') });
export const RoundPath = z.object({ round_id: z.int().describe('Id of the round.') });

export const page = {
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
};

export const TemplateListQuery = z.object({
  enabled_only: z.boolean().default(false).describe('Whether to leave out games that are not enabled.'),
});

export const ContestTemplateResponse = z
  .object({
    id: z.int().describe('Id of the daily game.'),
    name: z.string().describe('Name of the daily game, shown to users.'),
    slug: z
      .string()
      .describe(
        'The game: `quest_buttons`, `lock_hack`, `server_lottery`, `blitz_reaction`, `letter_cipher`, `emoji_guess` or `anagram`.',
      ),
    description: z.string().nullish().describe('Text about the daily game; null for none.'),
    prize_type: z.string().describe('`days` of subscription, `balance` or `custom`.'),
    prize_value: z.string().describe('Days, kopeks or a text, by `prize_type`.'),
    max_winners: z.int().describe('How many users can win a round.'),
    attempts_per_user: z.int().describe('Stored without effect: a user has one attempt in a round.'),
    times_per_day: z.int().describe('How many of `schedule_times` start a round each day: the first ones.'),
    schedule_times: z
      .string()
      .nullish()
      .describe('Times `HH:MM` separated by commas, in the time zone of the setting `TIMEZONE`; null or empty for no schedule.'),
    cooldown_hours: z.int().describe('Hours that a round lasts.'),
    payload: FreeForm.default({}).describe('What rounds are drawn from; its fields depend on the game.'),
    is_enabled: z.boolean().describe('Whether the game is offered and its schedule starts rounds.'),
    created_at: Timestamp.describe('When the daily game was created (UTC).'),
    updated_at: Timestamp.describe('When the settings of the daily game were last changed (UTC).'),
  })
  .meta({ id: 'ContestTemplateResponse' });

export const ContestTemplateListResponse = z
  .object({ items: ContestTemplateResponse.array().describe('Daily games by id, with prizes and schedules.') })
  .meta({ id: 'ContestTemplateListResponse' });

export const ContestTemplateUpdateRequest = z
  .object({
    name: z.string().nullish().describe('New name of the daily game, 1 to 255 characters; absent or null leaves it unchanged.'),
    description: z.string().nullish().describe('Free text for players. Absent or null leaves it unchanged.'),
    prize_type: z
      .string()
      .nullish()
      .describe('`days` of subscription, `balance` or `custom`. Absent or null leaves it unchanged.'),
    prize_value: z
      .string()
      .nullish()
      .describe(
        'Days, kopeks or a text, by `prize_type`. Days and kopeks are whole numbers above 0. Absent or null leaves it unchanged.',
      ),
    max_winners: z.int().min(1).nullish().describe('How many users can win a round. Absent or null leaves it unchanged.'),
    attempts_per_user: z
      .int()
      .min(1)
      .nullish()
      .describe('Stored without effect: a user has one attempt in a round. Absent or null leaves it unchanged.'),
    times_per_day: z
      .int()
      .min(1)
      .nullish()
      .describe('How many of `schedule_times` start a round each day: the first ones. Absent or null leaves it unchanged.'),
    schedule_times: z
      .string()
      .nullish()
      .describe(
        'Times `HH:MM` separated by commas, in the time zone of the setting `TIMEZONE`; empty for no schedule. Absent or null leaves it unchanged.',
      ),
    cooldown_hours: z
      .int()
      .min(1)
      .nullish()
      .describe('Hours that a round lasts, up to 87600. Absent or null leaves it unchanged.'),
    payload: FreeForm.nullish().describe(
      'What rounds are drawn from; its fields depend on the game. Absent or null leaves it unchanged.',
    ),
    is_enabled: z
      .boolean()
      .nullish()
      .describe('Whether the game is offered and its schedule starts rounds. Absent or null leaves it unchanged.'),
  })
  .meta({
    id: 'ContestTemplateUpdateRequest',
    example: { prize_type: 'days', prize_value: '3', schedule_times: '10:00,18:00', times_per_day: 2, is_enabled: true },
  });

export const StartRoundRequest = z
  .object({
    starts_at: TimestampInput.nullish().describe(
      'When the round begins; without a zone in the time zone of the setting `TIMEZONE`. Absent or null: now.',
    ),
    ends_at: TimestampInput.nullish().describe(
      'When the round ends, likewise; takes precedence over `cooldown_hours`. Absent or null: by the hours.',
    ),
    cooldown_hours: z
      .int()
      .min(1)
      .nullish()
      .describe('Hours that the round lasts, up to 87600. Absent or null: those of the game.'),
    payload: FreeForm.nullish().describe('The game of this round with its solution. Absent, null or empty: it is drawn.'),
    force: z.boolean().default(false).describe('Whether a round that is played now is finished first.'),
  })
  .meta({ id: 'StartRoundRequest', example: { cooldown_hours: 12, force: true } });

export const RoundListQuery = z.object({
  status_filter: z
    .string()
    .regex(/^(active|finished|any)$/)
    .default('active')
    .describe('`active` lists rounds that are played now, `finished` those that are closed, `any` all.'),
  template_id: z.int().nullish().describe('Only rounds of this game; 0 for all.'),
  ...page,
});

export const ContestRoundResponse = z
  .object({
    id: z.int().describe('Id of the round.'),
    template_id: z.int().describe('Id of the game.'),
    template_slug: z.string().describe('Name of the game for programs.'),
    template_name: z.string().nullish().describe('Display name of the game.'),
    starts_at: Timestamp.describe('When the round begins (UTC).'),
    ends_at: Timestamp.describe('When the round ends (UTC).'),
    status: z
      .string()
      .describe(
        'State of the round: `active` or `finished`; a round that is over or has all its winners is finished within a minute.',
      ),
    payload: FreeForm.default({}).describe(
      'The game of the round, its solution (`secret_idx` or `answer`) included; the fields depend on the game.',
    ),
    winners_count: z.int().describe('How many users have won.'),
    max_winners: z.int().describe('How many users can win a round.'),
    attempts_per_user: z.int().describe('Stored without effect: a user has one attempt in a round.'),
    created_at: Timestamp.describe('When the round was created (UTC).'),
    updated_at: Timestamp.describe('When the round was created, last won or finished (UTC), whichever came last.'),
  })
  .meta({ id: 'ContestRoundResponse' });

export const ContestRoundListResponse = z
  .object({
    items: ContestRoundResponse.array().describe(
      'A page of rounds of daily games, newest first, or by start when only running rounds are listed.',
    ),
    total: z.int().describe('Number of rounds of daily games that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ContestRoundListResponse' });

export const AttemptListQuery = z.object({
  winners_only: z.boolean().default(false).describe('Whether to list only attempts that have won.'),
  ...page,
});

const listedUser = {
  id: z.int().describe('Internal id of the user.'),
  messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
  username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
  full_name: z
    .string()
    .nullish()
    .describe('First and last name, else username, else `ID` and the messenger id, else the name of the e-mail address.'),
};

const ContestAttemptUser = z.object(listedUser).meta({ id: 'ContestAttemptUser' });

const ContestAttemptResponse = z
  .object({
    id: z.int().describe('Id of the attempt.'),
    round_id: z.int().describe('Id of the round.'),
    user: ContestAttemptUser.describe('Who played.'),
    answer: z.string().nullish().describe('The answer as it was sent; null when none is stored.'),
    is_winner: z.boolean().describe('Whether the attempt has won.'),
    created_at: Timestamp.describe('When the user made the attempt (UTC).'),
  })
  .meta({ id: 'ContestAttemptResponse' });

export const ContestAttemptListResponse = z
  .object({
    items: ContestAttemptResponse.array().describe('A page of attempts in the round, oldest first.'),
    total: z.int().describe('Number of attempts in the round that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ContestAttemptListResponse' });

/** A user of an event, as of an attempt. */
export const ReferralContestEventUser = z
  .object({
    ...listedUser,
    full_name: listedUser.full_name.describe('First and last name, else the user name, else a text with the id.'),
  })
  .meta({ id: 'ReferralContestEventUser' });
