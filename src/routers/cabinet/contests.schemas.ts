import { z } from 'zod';
import { FreeForm } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Contests` (spec 04 section 10.5). */

export const ContestRoundPath = z.object({ round_id: z.int() });

export const ContestsCountResponse = z.object({ count: z.int() }).meta({ id: 'ContestsCountResponse' });

export const ContestInfo = z
  .object({
    id: z.int(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullish(),
    prize_type: z.string(),
    prize_value: z.string(),
    is_available: z.boolean(),
    already_played: z.boolean().default(false),
  })
  .meta({ id: 'ContestInfo' });

export const ContestGameData = z
  .object({ round_id: z.int(), game_type: z.string(), game_data: FreeForm, instructions: z.string() })
  .meta({ id: 'ContestGameData' });

export const ContestAnswerRequest = z
  .object({ round_id: z.int(), answer: z.string() })
  .meta({ id: 'ContestAnswerRequest', example: { round_id: 1, answer: '4' } });

/** The round of the path is played; that of the body is not read (spec 04 section 10.6, hazard 4). */
export const ContestAnswerInput = withBody(z.object({ played_round_id: z.int() }), ContestAnswerRequest);

export const ContestResult = z
  .object({ is_winner: z.boolean(), message: z.string(), prize_type: z.string().nullish(), prize_value: z.string().nullish() })
  .meta({ id: 'ContestResult' });
