import { z } from 'zod';
import { countOpenContests, listContests, playContest, readGame } from '../../domain/engagement/daily-contests/play-contest.ts';
import {
  alreadyPlayed,
  contestDisabled,
  notEligible,
  roundOver,
  unknownGame,
} from '../../domain/engagement/daily-contests/rounds.ts';
import { FreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Contests`. */

const ContestRoundPath = z.object({ round_id: z.int().describe('Id of the round.') });

const ContestsCountResponse = z
  .object({ count: z.int().describe('Number of running contests that the user has not played; 0 for users who may not play.') })
  .meta({ id: 'ContestsCountResponse' });

const ContestInfo = z
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

const ContestGameData = z
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
const ContestAnswerInput = withBody(z.object({ played_round_id: z.int().describe('Id of the round.') }), ContestAnswerRequest);

const ContestResult = z
  .object({
    is_winner: z.boolean().describe('Whether the attempt has won.'),
    message: z.string().describe('Sentence for the player.'),
    prize_type: z.string().nullish().describe('`days` of subscription, `balance` or `custom`. Null unless won.'),
    prize_value: z.string().nullish().describe('Days, kopeks or a text, by `prize_type`. Null unless won.'),
  })
  .meta({ id: 'ContestResult' });

const tags: [string] = ['Cabinet Contests'];

export const cabinetContestsRouter = router({
  count: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/contests/count', tags, summary: 'Count contests that are not played yet' },
      description: 'Returns the number of running contests that the user has not played.',
    })
    .output(toWire(ContestsCountResponse))
    .query(async ({ ctx }) => ({ count: await countOpenContests(ctx.app, ctx.actor) })),

  list: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/contests', tags, summary: 'List running contests' },
      description: 'Lists running contests, one of each game, the earliest first.',
      refuses: [notEligible],
    })
    .output(toWire(ContestInfo.array()))
    .query(({ ctx }) => listContests(ctx.app, ctx.actor)),

  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/contests/{round_id}', tags, summary: 'Show the game of a round' },
      description: 'Returns what the player of a round is shown.',
      refuses: [alreadyPlayed, contestDisabled, notEligible, roundOver, unknownGame],
    })
    .input(fromWire(ContestRoundPath))
    .output(toWire(ContestGameData))
    .query(({ ctx, input }) => readGame(ctx.app, ctx.actor, input.roundId)),

  answer: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/contests/{round_id}/answer', tags, summary: 'Play a round' },
      description:
        'Plays a round: a user has one attempt. A prize in money is credited and days extend the subscription at once. Accepts `Idempotency-Key`.',
      refuses: [alreadyPlayed, contestDisabled, notEligible, roundOver, unknownGame],
      wire: { pathKeys: { round_id: 'played_round_id' } },
      idempotent: true,
    })
    .input(fromWire(ContestAnswerInput))
    .output(toWire(ContestResult))
    .mutation(({ ctx, input }) =>
      playContest(ctx.app, ctx.actor, { roundId: input.playedRoundId, answer: input.answer }, ctx.idempotencyKey),
    ),
});
