import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `contests`, daily games (spec 04 section 10.4). */

export const TemplatePath = z.object({ template_id: z.int() });
export const RoundPath = z.object({ round_id: z.int() });

export const page = {
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
};

export const TemplateListQuery = z.object({ enabled_only: z.boolean().default(false) });

export const ContestTemplateResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullish(),
    prize_type: z.string(),
    prize_value: z.string(),
    max_winners: z.int(),
    attempts_per_user: z.int(),
    times_per_day: z.int(),
    schedule_times: z.string().nullish(),
    cooldown_hours: z.int(),
    payload: FreeForm.default({}),
    is_enabled: z.boolean(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'ContestTemplateResponse' });

export const ContestTemplateListResponse = z
  .object({ items: ContestTemplateResponse.array() })
  .meta({ id: 'ContestTemplateListResponse' });

export const ContestTemplateUpdateRequest = z
  .object({
    name: z.string().nullish(),
    description: z.string().nullish(),
    prize_type: z.string().nullish(),
    prize_value: z.string().nullish(),
    max_winners: z.int().min(1).nullish(),
    attempts_per_user: z.int().min(1).nullish(),
    times_per_day: z.int().min(1).nullish(),
    schedule_times: z.string().nullish(),
    cooldown_hours: z.int().min(1).nullish(),
    payload: FreeForm.nullish(),
    is_enabled: z.boolean().nullish(),
  })
  .meta({
    id: 'ContestTemplateUpdateRequest',
    example: { prize_type: 'days', prize_value: '3', schedule_times: '10:00,18:00', times_per_day: 2, is_enabled: true },
  });

export const StartRoundRequest = z
  .object({
    starts_at: MomentInput.nullish(),
    ends_at: MomentInput.nullish(),
    cooldown_hours: z.int().min(1).nullish(),
    payload: FreeForm.nullish(),
    force: z.boolean().default(false),
  })
  .meta({ id: 'StartRoundRequest', example: { cooldown_hours: 12, force: true } });

export const RoundListQuery = z.object({
  status_filter: z
    .string()
    .regex(/^(active|finished|any)$/)
    .default('active'),
  template_id: z.int().nullish(),
  ...page,
});

export const ContestRoundResponse = z
  .object({
    id: z.int(),
    template_id: z.int(),
    template_slug: z.string(),
    template_name: z.string().nullish(),
    starts_at: Moment,
    ends_at: Moment,
    status: z.string(),
    payload: FreeForm.default({}),
    winners_count: z.int(),
    max_winners: z.int(),
    attempts_per_user: z.int(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'ContestRoundResponse' });

export const ContestRoundListResponse = z
  .object({ items: ContestRoundResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ContestRoundListResponse' });

export const AttemptListQuery = z.object({ winners_only: z.boolean().default(false), ...page });

const listedUser = {
  id: z.int(),
  messenger_id: z.int().nullish(),
  username: z.string().nullish(),
  full_name: z.string().nullish(),
};

export const ContestAttemptUser = z.object(listedUser).meta({ id: 'ContestAttemptUser' });

export const ContestAttemptResponse = z
  .object({
    id: z.int(),
    round_id: z.int(),
    user: ContestAttemptUser,
    answer: z.string().nullish(),
    is_winner: z.boolean(),
    created_at: Moment,
  })
  .meta({ id: 'ContestAttemptResponse' });

export const ContestAttemptListResponse = z
  .object({ items: ContestAttemptResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ContestAttemptListResponse' });

/** A user of an event, as of an attempt. */
export const ReferralContestEventUser = z.object(listedUser).meta({ id: 'ReferralContestEventUser' });
