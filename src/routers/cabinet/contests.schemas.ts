import { z } from 'zod';
import { FreeForm } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Contests` (spec 04 section 10.5). */

export const ContestRoundPath = z.object({ round_id: z.int().describe('Id of the round.') });

export const ContestsCountResponse = z
  .object({ count: z.int().describe('Number of running contests that the user has not played; 0 for users who may not play.') })
  .meta({ id: 'ContestsCountResponse' });

export const ContestInfo = z
  .object({
    id: z.int().describe('Id of the round.'),
    slug: z.string().describe('Name of the game for programs.'),
    name: z.string().describe('Name of the daily game, shown to users.'),
    description: z.string().nullish().describe('Text about the daily game; null for none.'),
    prize_type: z.string().describe('`days` of subscription, `balance` or `custom`.'),
    prize_value: z.string().describe('Days, kopeks or a text, by `prize_type`.'),
    is_available: z.boolean().describe('Always true: only running rounds are listed.'),
    already_played: z.boolean().default(false).describe('Whether the user has used the attempt.'),
  })
  .meta({ id: 'ContestInfo' });

export const ContestGameData = z
  .object({
    round_id: z.int().describe('Id of the round.'),
    game_type: z.string().describe('Name of the game for programs.'),
    game_data: FreeForm.describe('What the player is shown; its fields depend on the game. The solution is not in it.'),
    instructions: z.string().describe('Sentence that says what to do.'),
  })
  .meta({ id: 'ContestGameData' });

const ContestAnswerRequest = z
  .object({
    round_id: z.int().describe('Id of the round. That of the path decides.'),
    answer: z
      .string()
      .describe(
        'The place from 0, the flag, the word, or `blitz`, by the game. At most 200 characters; surrounding blanks do not count.',
      ),
  })
  .meta({ id: 'ContestAnswerRequest', example: { round_id: 1, answer: '4' } });

/** The round of the path is played; that of the body is not read (spec 04 section 10.6, hazard 4). */
export const ContestAnswerInput = withBody(
  z.object({ played_round_id: z.int().describe('Id of the round.') }),
  ContestAnswerRequest,
);

export const ContestResult = z
  .object({
    is_winner: z.boolean().describe('Whether the attempt has won.'),
    message: z.string().describe('Sentence for the player.'),
    prize_type: z.string().nullish().describe('`days` of subscription, `balance` or `custom`. Null unless won.'),
    prize_value: z.string().nullish().describe('Days, kopeks or a text, by `prize_type`. Null unless won.'),
  })
  .meta({ id: 'ContestResult' });
