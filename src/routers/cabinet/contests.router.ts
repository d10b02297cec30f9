import { countOpenContests, listContests, playContest, readGame } from '../../domain/engagement/daily-contests/play-contest.ts';
import { alreadyPlayed, notEligible, roundOver } from '../../domain/engagement/daily-contests/rounds.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  ContestAnswerInput,
  ContestGameData,
  ContestInfo,
  ContestResult,
  ContestRoundPath,
  ContestsCountResponse,
} from './contests.schemas.ts';

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
      refuses: [alreadyPlayed, notEligible, roundOver],
    })
    .input(fromWire(ContestRoundPath))
    .output(toWire(ContestGameData))
    .query(({ ctx, input }) => readGame(ctx.app, ctx.actor, input.roundId)),

  answer: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/contests/{round_id}/answer', tags, summary: 'Play a round' },
      description:
        'Plays a round: a user has one attempt. A prize in money is credited and days extend the subscription at once. Accepts `Idempotency-Key`.',
      refuses: [alreadyPlayed, notEligible, roundOver],
      wire: { pathKeys: { round_id: 'played_round_id' } },
      idempotent: true,
    })
    .input(fromWire(ContestAnswerInput))
    .output(toWire(ContestResult))
    .mutation(({ ctx, input }) =>
      playContest(ctx.app, ctx.actor, { roundId: input.playedRoundId, answer: input.answer }, ctx.idempotencyKey),
    ),
});
